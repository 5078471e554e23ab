//! Makes the identities that the server hands out: uids, and the random ends of generated names.
//!
//! Takes a seed and gives the same sequence for it, so that a test can fix every byte of a run.

/// The letters of generated names: no vowels and no digits that look like letters, as kube-apiserver.
const NAME_LETTERS: &[u8; 27] = b"bcdfghjklmnpqrstvwxz2456789";

/// How many letters kube-apiserver adds to a `generateName`.
const NAME_LETTER_COUNT: usize = 5;

/// A `SplitMix64` generator (Steele, Lea, Flood 2014): one addition and two multiplications a number.
#[derive(Debug)]
pub(crate) struct Identity {
    state: u64,
}

impl Identity {
    pub(crate) const fn new(seed: u64) -> Self {
        Self { state: seed }
    }

    /// Makes a version-4 UUID.
    pub(crate) fn uid(&mut self) -> String {
        let high = (self.next() & !0xf000) | 0x4000;
        let low = (self.next() & !(0b11 << 62)) | (0b10 << 62);
        format!(
            "{:08x}-{:04x}-{:04x}-{:04x}-{:012x}",
            high >> 32,
            (high >> 16) & 0xffff,
            high & 0xffff,
            low >> 48,
            low & 0xffff_ffff_ffff
        )
    }

    /// Makes the random end of a generated name.
    pub(crate) fn name_end(&mut self) -> String {
        (0..NAME_LETTER_COUNT)
            .map(|_| {
                let at = (self.next() % NAME_LETTERS.len() as u64) as usize;
                char::from(NAME_LETTERS[at])
            })
            .collect()
    }

    pub(crate) fn next(&mut self) -> u64 {
        self.state = self.state.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.state;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_uid_is_a_version_4_uuid_and_never_comes_twice() {
        let mut identity = Identity::new(7);
        let (first, second) = (identity.uid(), identity.uid());
        assert_ne!(first, second);
        assert_eq!(first.len(), 36);
        assert_eq!(first.as_bytes()[14], b'4');
        assert!(matches!(first.as_bytes()[19], b'8' | b'9' | b'a' | b'b'));
    }

    #[test]
    fn the_same_seed_gives_the_same_identities() {
        let (mut one, mut two) = (Identity::new(7), Identity::new(7));
        assert_eq!(one.uid(), two.uid());
        assert_eq!(one.name_end(), two.name_end());
    }
}
