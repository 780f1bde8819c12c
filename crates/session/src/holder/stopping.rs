//! Ending a session, firmer with time: the words that a person would type, then TERM, then KILL.

use std::time::Duration;

use handoff_core::time::Nanos;

/// What TERM is given before KILL, at most.
const TERM_TAKES: Duration = Duration::from_secs(2);

/// How far the ending of a session is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Stopping {
    No,
    Typed {
        until: Nanos,
        grace: Duration,
    },
    /// To be asked now.
    Due {
        grace: Duration,
    },
    Asked {
        until: Nanos,
    },
    Killed {
        again: Nanos,
    },
}

/// What is to be done now.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Step {
    Wait,
    TypeKeys,
    Ask,
    Kill,
}

impl Stopping {
    /// Begins. Words are typed only where they are known and the agent reads them; asked again, nothing begins anew.
    pub(super) fn begin(&mut self, grace: Duration, keys: Option<&str>, now: Nanos) -> Step {
        if *self != Self::No {
            return Step::Wait;
        }
        match keys {
            Some(keys) if !keys.is_empty() => {
                let until = now.after(grace);
                *self = Self::Typed { until, grace };
                Step::TypeKeys
            }
            Some(_) | None => {
                *self = Self::Due { grace };
                Step::Wait
            }
        }
    }

    /// The holder itself was told to end: whoever does that gives it little time, so that no words are typed any more.
    pub(super) const fn hasten(&mut self) {
        match self {
            Self::No | Self::Typed { .. } => *self = Self::Due { grace: TERM_TAKES },
            Self::Due { .. } | Self::Asked { .. } | Self::Killed { .. } => {}
        }
    }

    /// Goes on if it is time.
    pub(super) fn step(&mut self, now: Nanos) -> Step {
        let (next, step) = match *self {
            Self::Typed { until, grace } if now >= until => (asked(now, grace), Step::Ask),
            Self::Due { grace } => (asked(now, grace), Step::Ask),
            Self::Asked { until } if now >= until => (killed(now), Step::Kill),
            // What was forked while we looked is killed with the next look.
            Self::Killed { again } if now >= again => (killed(now), Step::Kill),
            Self::No | Self::Typed { .. } | Self::Asked { .. } | Self::Killed { .. } => {
                (*self, Step::Wait)
            }
        };
        *self = next;
        step
    }

    /// Whether the session is being ended.
    pub(super) const fn is_under_way(&self) -> bool {
        !matches!(self, Self::No)
    }

    pub(super) const fn look_again(&self) -> Option<Nanos> {
        match *self {
            Self::No | Self::Due { .. } => None,
            Self::Typed { until, .. } | Self::Asked { until } => Some(until),
            Self::Killed { again } => Some(again),
        }
    }

    /// What it took.
    pub(super) const fn by(&self) -> Option<&'static str> {
        match self {
            Self::No => None,
            Self::Typed { .. } => Some("exit_keys"),
            Self::Due { .. } | Self::Asked { .. } => Some("term"),
            Self::Killed { .. } => Some("kill"),
        }
    }
}

/// One who has no time for words has none for asking either.
fn asked(now: Nanos, grace: Duration) -> Stopping {
    let until = now.after(grace.min(TERM_TAKES));
    Stopping::Asked { until }
}

fn killed(now: Nanos) -> Stopping {
    let again = now.after(Duration::from_millis(100));
    Stopping::Killed { again }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(seconds: u64) -> Nanos {
        Nanos(0).after(Duration::from_secs(seconds))
    }

    #[test]
    fn words_then_term_then_kill() {
        let mut stopping = Stopping::No;
        let grace = Duration::from_secs(5);
        assert_eq!(stopping.begin(grace, Some("exit\r"), at(0)), Step::TypeKeys);
        assert_eq!(stopping.begin(grace, Some("exit\r"), at(1)), Step::Wait);
        assert_eq!(
            (stopping.step(at(4)), stopping.by()),
            (Step::Wait, Some("exit_keys"))
        );
        assert_eq!(
            (stopping.step(at(5)), stopping.by()),
            (Step::Ask, Some("term"))
        );
        assert_eq!(
            (stopping.step(at(6)), stopping.look_again()),
            (Step::Wait, Some(at(7)))
        );
        assert_eq!(
            (stopping.step(at(7)), stopping.by()),
            (Step::Kill, Some("kill"))
        );
        assert_eq!(stopping.step(at(8)), Step::Kill);
    }

    #[test]
    fn a_holder_that_is_told_to_end_asks_at_once_and_only_once() {
        let mut stopping = Stopping::No;
        stopping.begin(Duration::from_secs(60), Some("exit\r"), at(0));
        stopping.hasten();
        assert_eq!(stopping.step(at(1)), Step::Ask);
        stopping.hasten();
        assert_eq!(stopping.step(at(2)), Step::Wait);
        assert_eq!(stopping.step(at(3)), Step::Kill);
    }

    #[test]
    fn an_agent_that_does_not_read_is_asked_at_once() {
        for keys in [None, Some("")] {
            let mut stopping = Stopping::No;
            assert_eq!(
                stopping.begin(Duration::from_secs(5), keys, at(0)),
                Step::Wait
            );
            assert_eq!(stopping.step(at(0)), Step::Ask);
        }
    }
}
