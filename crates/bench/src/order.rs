//! Orders that look random and come back with their seed.

use std::hash::{BuildHasher as _, RandomState};

/// Splitmix64: small, and good enough that no lane always runs after the same other.
#[derive(Debug)]
pub(crate) struct Order {
    state: u64,
}

impl Order {
    pub(crate) fn seeded(seed: u64) -> Self {
        Self { state: seed }
    }

    /// The numbers below `count`, each once.
    pub(crate) fn shuffle(&mut self, count: usize) -> Vec<usize> {
        let mut places: Vec<usize> = (0..count).collect();
        for last in (1..count).rev() {
            places.swap(last, self.below(last + 1));
        }
        places
    }

    fn below(&mut self, bound: usize) -> usize {
        usize::try_from(self.next() % bound as u64).expect("it is below a usize")
    }

    fn next(&mut self) -> u64 {
        self.state = self.state.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.state;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }
}

/// A seed that nobody chose; short, as people type it again.
pub(crate) fn fresh_seed() -> u64 {
    RandomState::new().hash_one(()) % 1_000_000
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_seed_brings_its_orders_back() {
        let orders = |seed| {
            let mut order = Order::seeded(seed);
            [order.shuffle(6), order.shuffle(6)]
        };
        assert_eq!(orders(7), orders(7));
        assert_ne!(orders(7), orders(8));
    }

    #[test]
    fn every_lane_runs_once_a_round() {
        let mut places = Order::seeded(1).shuffle(9);
        places.sort_unstable();
        assert_eq!(places, (0..9).collect::<Vec<_>>());
    }
}
