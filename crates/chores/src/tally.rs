//! Counts of a tier, as its last line shows them.

use std::fmt;
use std::ops::AddAssign;

use serde::{Deserialize, Serialize};

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Tally {
    pub passed: usize,
    pub failed: usize,
    pub skipped: usize,
}

impl AddAssign for Tally {
    fn add_assign(&mut self, other: Self) {
        self.passed += other.passed;
        self.failed += other.failed;
        self.skipped += other.skipped;
    }
}

impl fmt::Display for Tally {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} passed, {} failed", self.passed, self.failed)?;
        match self.skipped {
            0 => Ok(()),
            skipped => write!(f, ", {skipped} skipped"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn skips_are_shown_when_there_are_any() {
        let mut tally = Tally {
            passed: 2,
            failed: 1,
            skipped: 0,
        };
        assert_eq!(tally.to_string(), "2 passed, 1 failed");
        tally += Tally {
            passed: 1,
            failed: 0,
            skipped: 3,
        };
        assert_eq!(tally.to_string(), "3 passed, 1 failed, 3 skipped");
    }
}
