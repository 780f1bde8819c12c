//! Random choices that a seed repeats.

use std::hash::{BuildHasher as _, RandomState};

/// `SplitMix64`: small, and good enough to choose victims and moments.
#[derive(Clone, Debug)]
pub(super) struct Dice(u64);

impl Dice {
    pub(super) fn new(seed: u64) -> Self {
        Self(seed)
    }

    /// A seed to print, so that a run can be repeated; short, because people copy it.
    pub(super) fn fresh_seed() -> u64 {
        RandomState::new().hash_one("campaign") % 1_000_000_000
    }

    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mixed = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        mixed ^ (mixed >> 31)
    }

    /// A number below `end`.
    ///
    /// # Panics
    /// When there is none.
    pub(super) fn below(&mut self, end: u64) -> u64 {
        assert!(end > 0, "there is no number below zero");
        self.next() % end
    }

    pub(super) fn index(&mut self, length: usize) -> usize {
        usize::try_from(self.below(length as u64)).expect("an index below a length fits")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_seed_repeats_its_choices() {
        let draw = |seed| {
            let mut dice = Dice::new(seed);
            (0..20).map(|_| dice.below(100)).collect::<Vec<_>>()
        };
        assert_eq!(draw(7), draw(7));
        assert_ne!(draw(7), draw(8));
    }
}
