//! Repeatable draws of a test.

use serde_json::Value;

/// `SplitMix64` (Steele, Lea, Flood 2014).
pub(crate) struct Dice(u64);

impl Dice {
    pub(crate) fn new(seed: u64) -> Self {
        Self(seed)
    }

    /// A number below `bound`.
    pub(crate) fn below(&mut self, bound: usize) -> usize {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        ((u128::from(mixed ^ (mixed >> 31)) * bound as u128) >> 64) as usize
    }

    /// Yes in so many of a hundred cases.
    pub(crate) fn chance(&mut self, percent: usize) -> bool {
        self.below(100) < percent
    }

    pub(crate) fn pick<T: Copy>(&mut self, from: &[T]) -> T {
        from[self.below(from.len())]
    }

    /// A map in which each key is by this chance, with one of the values.
    pub(crate) fn labels(&mut self, percent: usize, keys: &[&str], values: &[&str]) -> Value {
        let mut labels = serde_json::Map::new();
        for key in keys {
            if self.chance(percent) {
                labels.insert((*key).to_owned(), self.pick(values).into());
            }
        }
        Value::Object(labels)
    }
}
