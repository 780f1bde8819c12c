//! How often the terminal is read. A program that paints writes a picture in many small pieces; read one by one, each costs a
//! wake-up. So as long as little is printed the first piece is followed by a short rest, in which the kernel gathers the next ones. Who
//! prints much is in a hurry and is read at once, and so is everything that somebody looks at. One who paints picture after picture is
//! read at a pace of our own, which is about one wake-up a picture.

use std::time::Duration;

use handoff_core::time::Nanos;

/// Less than a picture takes, more than a program takes from piece to piece.
const REST: Duration = Duration::from_millis(12);
/// For one who paints. Whatever a picture tells of an agent may be this much later.
const LONG_REST: Duration = Duration::from_millis(60);
/// So much in a window is more than a few words.
const PICTURE: usize = 4 * 1024;
/// What is counted together.
const WINDOW: Duration = Duration::from_millis(100);
/// Less than this in a window is little. The kernel holds more without letting the program wait.
const LITTLE: usize = 48 * 1024;
/// So much at once may be all that the kernel holds, and then the program waits for us.
const MUCH: usize = LITTLE / 2;

/// When the terminal may be read again.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) struct Rhythm {
    rests_until: Option<Nanos>,
    window: Option<Window>,
}

/// What was read within a span of time, and in the one before it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Window {
    since: Nanos,
    taken: usize,
    before: usize,
}

/// Whether somebody looks at what is printed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Audience {
    Nobody,
    Somebody,
}

impl Rhythm {
    /// So much was read.
    pub(super) fn took(&mut self, length: usize, audience: Audience, now: Nanos) {
        let mut window = self.window.map_or(Window::new(now, 0), |it| it.at(now));
        window.taken = window.taken.saturating_add(length);
        self.window = Some(window);
        self.rests_until = match (audience, window.pace()) {
            (Audience::Somebody, _) | (Audience::Nobody, Pace::Hurry) => None,
            (Audience::Nobody, Pace::Pictures | Pace::Words) if length >= MUCH => None,
            (Audience::Nobody, Pace::Pictures) => Some(now.after(LONG_REST)),
            (Audience::Nobody, Pace::Words) if self.has_just_rested(now) => None,
            (Audience::Nobody, Pace::Words) => Some(now.after(REST)),
        };
    }

    /// Whether what comes next may wait, so that nothing is lost by not looking for it.
    pub(super) fn is_slow(self) -> bool {
        self.window.is_some_and(|it| it.pace() != Pace::Hurry)
    }

    /// What came during a rest is most of the time the rest of a picture. Another rest after it would be a wake-up for nothing.
    fn has_just_rested(self, now: Nanos) -> bool {
        self.rests_until
            .is_some_and(|until| now < until.after(REST))
    }

    /// The end of the rest, if there is one now.
    pub(super) fn rest_until(self, now: Nanos) -> Option<Nanos> {
        self.rests_until.filter(|until| now < *until)
    }
}

/// How much is printed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Pace {
    Words,
    Pictures,
    Hurry,
}

impl Window {
    fn pace(self) -> Pace {
        match (self.taken.max(self.before), self.before) {
            (LITTLE.., _) => Pace::Hurry,
            (_, PICTURE..) => Pace::Pictures,
            (_, _) => Pace::Words,
        }
    }

    const fn new(since: Nanos, before: usize) -> Self {
        Self {
            since,
            taken: 0,
            before,
        }
    }

    /// The window that it is now.
    fn at(self, now: Nanos) -> Self {
        let age = now.since(self.since);
        if age < WINDOW {
            self
        } else if age < WINDOW * 2 {
            Self::new(now, self.taken)
        } else {
            Self::new(now, 0)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(millis: u64) -> Nanos {
        Nanos(0).after(Duration::from_millis(millis))
    }

    #[test]
    fn only_one_who_prints_little_is_kept_waiting() {
        let mut rhythm = Rhythm::default();
        assert_eq!(rhythm.rest_until(at(0)), None);
        rhythm.took(10, Audience::Nobody, at(0));
        assert_eq!(rhythm.rest_until(at(2)), Some(at(12)));
        assert_eq!(rhythm.rest_until(at(12)), None);
        rhythm.took(LITTLE, Audience::Nobody, at(12));
        assert_eq!(rhythm.rest_until(at(12)), None);
        rhythm.took(10, Audience::Nobody, at(99));
        assert_eq!(rhythm.rest_until(at(99)), None);
        // Much before is much for a while.
        rhythm.took(10, Audience::Nobody, at(100));
        assert_eq!(rhythm.rest_until(at(100)), None);
        rhythm.took(10, Audience::Nobody, at(200));
        assert_eq!(rhythm.rest_until(at(200)), Some(at(212)));
    }

    #[test]
    fn what_came_during_a_rest_is_not_followed_by_another() {
        let mut rhythm = Rhythm::default();
        rhythm.took(10, Audience::Nobody, at(0));
        rhythm.took(10, Audience::Nobody, at(12));
        assert_eq!(rhythm.rest_until(at(12)), None);
        rhythm.took(10, Audience::Nobody, at(66));
        assert_eq!(rhythm.rest_until(at(66)), Some(at(78)));
        // Nothing came during that rest.
        rhythm.took(10, Audience::Nobody, at(132));
        assert_eq!(rhythm.rest_until(at(132)), Some(at(144)));
    }

    #[test]
    fn one_who_paints_is_read_at_a_slower_pace_until_it_stops() {
        let mut rhythm = Rhythm::default();
        assert!(!rhythm.is_slow());
        rhythm.took(PICTURE, Audience::Nobody, at(0));
        assert_eq!(rhythm.rest_until(at(0)), Some(at(12)));
        rhythm.took(PICTURE, Audience::Nobody, at(100));
        assert_eq!(rhythm.rest_until(at(100)), Some(at(160)));
        rhythm.took(PICTURE, Audience::Nobody, at(160));
        assert_eq!(rhythm.rest_until(at(160)), Some(at(220)));
        assert!(rhythm.is_slow());
        rhythm.took(PICTURE, Audience::Somebody, at(220));
        assert_eq!(rhythm.rest_until(at(220)), None);
        rhythm.took(MUCH, Audience::Nobody, at(320));
        assert_eq!(rhythm.rest_until(at(320)), None, "it may be waiting");
        rhythm.took(10, Audience::Nobody, at(600));
        assert_eq!(rhythm.rest_until(at(600)), Some(at(612)));
        rhythm.took(LITTLE, Audience::Nobody, at(612));
        assert!(!rhythm.is_slow());
    }

    #[test]
    fn one_who_looks_on_waits_for_nothing() {
        let mut rhythm = Rhythm::default();
        rhythm.took(10, Audience::Somebody, at(0));
        assert_eq!(rhythm.rest_until(at(0)), None);
    }
}
