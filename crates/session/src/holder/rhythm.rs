//! How often the terminal is read. A program that paints writes a picture in many small pieces; read one by one, each costs a
//! wake-up. So a small piece is followed by a short rest, in which the kernel gathers the next ones. A large one is not: there
//! somebody is in a hurry.

use std::time::Duration;

use handoff_core::time::Nanos;

/// Shorter than anybody notices, longer than a program takes from piece to piece.
const REST: Duration = Duration::from_millis(3);
/// What the kernel holds of a program's output without letting it wait is larger than this.
const SMALL: usize = 16 * 1024;

/// When the terminal may be read again.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) struct Rhythm {
    rests_until: Option<Nanos>,
}

impl Rhythm {
    /// So much was read.
    pub(super) fn took(&mut self, length: usize, now: Nanos) {
        self.rests_until = (length < SMALL).then(|| now.after(REST));
    }

    /// The end of the rest, if there is one now.
    pub(super) fn rest_until(self, now: Nanos) -> Option<Nanos> {
        self.rests_until.filter(|until| now < *until)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(millis: u64) -> Nanos {
        Nanos(0).after(Duration::from_millis(millis))
    }

    #[test]
    fn only_a_small_piece_is_followed_by_a_rest() {
        let mut rhythm = Rhythm::default();
        assert_eq!(rhythm.rest_until(at(0)), None);
        rhythm.took(10, at(0));
        assert_eq!(rhythm.rest_until(at(2)), Some(at(3)));
        assert_eq!(rhythm.rest_until(at(3)), None);
        rhythm.took(SMALL, at(4));
        assert_eq!(rhythm.rest_until(at(4)), None);
    }
}
