//! Backoff: how long to wait before something that is out of order for a while is tried again.
//!
//! Each wait is twice as long as the one before, up to a limit. The second half of it is random, so that those who lost a server
//! in the same moment do not come back in the same moment. Pure: the random number is handed in, and nobody sleeps here.

use std::time::Duration;

/// How long and how often something is tried again.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Backoff {
    /// The first wait at most.
    pub first: Duration,
    /// Any wait at most.
    pub longest: Duration,
    /// All waits together at most.
    pub patience: Duration,
}

impl Backoff {
    /// The wait after so many failures in a row (from 1), when so much was waited already; `None` if that is enough. `dice` is any
    /// number, another one each time.
    #[must_use]
    pub fn wait(&self, failures: u32, waited: Duration, dice: u32) -> Option<Duration> {
        let left = self
            .patience
            .checked_sub(waited)
            .filter(|it| !it.is_zero())?;
        let doubled = 1_u32
            .checked_shl(failures.saturating_sub(1))
            .unwrap_or(u32::MAX);
        let span = self.first.saturating_mul(doubled).min(self.longest);
        let half = span / 2;
        let random = half.mul_f64(f64::from(dice) / f64::from(u32::MAX));
        Some((half + random).min(left))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MILLIS: fn(u64) -> Duration = Duration::from_millis;

    fn backoff() -> Backoff {
        Backoff {
            first: MILLIS(100),
            longest: MILLIS(2000),
            patience: MILLIS(30_000),
        }
    }

    #[test]
    fn waits_double_up_to_the_longest_and_half_of_each_is_random() {
        let none = Duration::ZERO;
        for (failures, dice, expected) in [
            (1, 0, 50),
            (1, u32::MAX, 100),
            (2, 0, 100),
            (2, u32::MAX, 200),
            (5, u32::MAX, 1600),
            (6, 0, 1000),
            (6, u32::MAX, 2000),
            (33, u32::MAX, 2000),
            (u32::MAX, u32::MAX, 2000),
            (0, u32::MAX, 100),
        ] {
            let wait = backoff().wait(failures, none, dice);
            assert_eq!(wait, Some(MILLIS(expected)), "{failures} {dice}");
        }
    }

    #[test]
    fn patience_ends_and_the_last_wait_is_cut_to_it() {
        let wait = |waited| backoff().wait(9, MILLIS(waited), u32::MAX);
        assert_eq!(wait(29_000), Some(MILLIS(1000)));
        assert_eq!(wait(30_000), None);
        assert_eq!(wait(31_000), None);
        let none = Backoff {
            patience: Duration::ZERO,
            ..backoff()
        };
        assert_eq!(none.wait(1, Duration::ZERO, 7), None);
    }

    /// Whatever the dice say, all waits together are the patience: nobody gives up early or waits longer.
    #[test]
    fn all_waits_together_are_the_patience() {
        for seed in 1..200_u32 {
            let (mut waited, mut failures, mut dice) = (Duration::ZERO, 1, seed);
            while let Some(wait) = backoff().wait(failures, waited, dice) {
                assert!(wait <= MILLIS(2000), "{seed}");
                waited += wait;
                failures += 1;
                dice = dice.wrapping_mul(0x9e37_79b9).rotate_left(7);
            }
            assert_eq!(waited, MILLIS(30_000), "{seed}");
        }
    }
}
