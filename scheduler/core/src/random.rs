//! The engine's one generator of random numbers: seeded, so that a run can be repeated.
//!
//! `SplitMix64` (Steele, Lea, Flood 2014): one 64-bit state, a full period, good enough to
//! draw among equals; nothing secret depends on it.

#[derive(Debug, Clone)]
pub(crate) struct Random(u64);

impl Random {
    pub(crate) fn new(seed: u64) -> Self {
        Self(seed)
    }

    /// A number below `bound`; 0 where `bound` is 0. The bias of the multiply-and-shift
    /// reduction is below `bound / 2^64`.
    pub(crate) fn below(&mut self, bound: usize) -> usize {
        ((u128::from(self.next()) * bound as u128) >> 64) as usize
    }

    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        mixed ^ (mixed >> 31)
    }
}

#[cfg(test)]
mod tests {
    use super::Random;

    #[test]
    fn the_sequence_is_that_of_the_reference_code() {
        // First outputs of the C reference for seed 1234567.
        let mut random = Random::new(1_234_567);
        assert_eq!(random.next(), 6_457_827_717_110_365_317);
        assert_eq!(random.next(), 3_203_168_211_198_807_973);
    }

    #[test]
    fn every_value_below_the_bound_is_drawn_about_equally_often() {
        let mut random = Random::new(7);
        let mut counts = [0_u32; 5];
        for _ in 0..5_000 {
            counts[random.below(5)] += 1;
        }
        assert!(
            counts.iter().all(|count| (850..1_150).contains(count)),
            "{counts:?}"
        );
        assert_eq!(random.below(1), 0);
        assert_eq!(random.below(0), 0);
    }
}
