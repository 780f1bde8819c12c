//! When the screen is read: at once if it has stood still, now and then if it changes all the time.

use std::time::Duration;

use handoff_core::time::Nanos;

/// Between two looks at a screen that keeps changing. What follows from it must hold longer than this anyway.
const INTERVAL: Duration = Duration::from_millis(100);

/// Whether the screen was read as it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) struct Glance {
    taken_at: Option<Nanos>,
    picture: Picture,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
enum Picture {
    #[default]
    Current,
    Outdated,
}

impl Glance {
    /// The screen has changed.
    pub(super) const fn outdate(&mut self) {
        self.picture = Picture::Outdated;
    }

    pub(super) fn is_outdated(self) -> bool {
        self.picture == Picture::Outdated
    }

    /// Whether it is time for the next look.
    pub(super) fn is_due(self, now: Nanos) -> bool {
        self.taken_at.is_none_or(|at| now >= at.after(INTERVAL))
    }

    pub(super) const fn taken(&mut self, now: Nanos) {
        self.taken_at = Some(now);
        self.picture = Picture::Current;
    }

    /// When to look although nothing happens.
    pub(super) fn look_again(self) -> Option<Nanos> {
        let due = self.taken_at.map(|at| at.after(INTERVAL));
        due.filter(|_| self.is_outdated())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(millis: u64) -> Nanos {
        Nanos(0).after(Duration::from_millis(millis))
    }

    #[test]
    fn a_screen_that_stood_still_is_read_at_once_and_the_last_change_is_not_missed() {
        let mut glance = Glance::default();
        glance.outdate();
        assert!(glance.is_outdated() && glance.is_due(at(0)));
        glance.taken(at(0));
        assert_eq!(glance.look_again(), None);
        glance.outdate();
        assert!(!glance.is_due(at(99)) && glance.is_due(at(100)));
        assert_eq!(glance.look_again(), Some(at(100)));
    }
}
