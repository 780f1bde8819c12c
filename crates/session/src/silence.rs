//! Whether an agent prints: said when it has stopped for a while, and when it begins again.

use std::time::Duration;

use handoff_core::time::Nanos;

/// How long an agent prints nothing before that is worth saying.
pub const WORTH_SAYING: Duration = Duration::from_secs(60);
/// A shorter silence is none: it would be told as lasting no second.
const SHORTEST: Duration = Duration::from_secs(1);

/// Whether an agent prints.
#[derive(Debug, Clone)]
pub struct Silence {
    worth_saying: Duration,
    printed_at: Nanos,
    spell: Spell,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Spell {
    Printing,
    /// It was said that it is silent.
    Silent,
}

/// What is to be said.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Change {
    Idle { silent: Duration },
    Active { silent: Duration },
}

impl Silence {
    pub fn new(worth_saying: Duration, now: Nanos) -> Self {
        Self {
            worth_saying: worth_saying.max(SHORTEST),
            printed_at: now,
            spell: Spell::Printing,
        }
    }

    /// It has printed.
    pub fn printed(&mut self, now: Nanos) -> Option<Change> {
        let silent = now.since(self.printed_at);
        self.printed_at = now;
        let was = std::mem::replace(&mut self.spell, Spell::Printing);
        (was == Spell::Silent).then_some(Change::Active { silent })
    }

    /// Time has passed.
    pub fn look(&mut self, now: Nanos) -> Option<Change> {
        let is_due = self.look_again().is_some_and(|due| now >= due);
        is_due.then(|| {
            self.spell = Spell::Silent;
            let silent = now.since(self.printed_at);
            Change::Idle { silent }
        })
    }

    /// When to look although nothing happens: once for each silence.
    pub fn look_again(&self) -> Option<Nanos> {
        match self.spell {
            Spell::Printing => Some(self.printed_at.after(self.worth_saying)),
            Spell::Silent => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(seconds: u64) -> Nanos {
        Nanos(0).after(Duration::from_secs(seconds))
    }

    #[test]
    fn each_silence_is_said_once_and_so_is_its_end() {
        let mut silence = Silence::new(WORTH_SAYING, at(0));
        assert_eq!(
            (silence.printed(at(10)), silence.look(at(69))),
            (None, None)
        );
        let silent = Duration::from_secs(60);
        assert_eq!(silence.look(at(70)), Some(Change::Idle { silent }));
        assert_eq!((silence.look(at(80)), silence.look_again()), (None, None));
        let silent = Duration::from_secs(90);
        assert_eq!(silence.printed(at(100)), Some(Change::Active { silent }));
        assert_eq!(silence.printed(at(101)), None);
        assert_eq!(silence.look_again(), Some(at(161)));
    }

    #[test]
    fn a_silence_of_less_than_a_second_is_not_said() {
        let mut silence = Silence::new(Duration::from_millis(500), at(0));
        assert_eq!(silence.look_again(), Some(at(1)));
        let silent = Duration::from_secs(1);
        assert_eq!(silence.look(at(1)), Some(Change::Idle { silent }));
    }
}
