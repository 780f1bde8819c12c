//! Turns: from a message to the moment when the agent waits for the next.
//!
//! A turn that nobody here began counts too: a person may type. What an agent looks like right after a message is no sign that
//! it is done: a turn ends only after the agent was seen away from its prompt, or had time enough to be.

use std::time::Duration;

use handoff_agents::Block;
use handoff_core::MessageId;
use handoff_core::time::Nanos;
use serde::{Deserialize, Serialize};

use crate::state::State;

/// How long a turn that is on record is given to be seen, each time.
const LINGER: Duration = Duration::from_millis(500);
/// How often: a record that is never ended must not hold up everybody.
const LINGERS: u8 = 40;

/// The turns of a session.
#[derive(Debug, Clone, Default)]
pub struct Turns {
    number: u64,
    running: Option<Running>,
    /// At its prompt for the first time: what happens before is no turn.
    has_rested: bool,
}

#[derive(Debug, Clone)]
struct Running {
    /// The one that began it, if one did, and those that were taken meanwhile.
    messages: Vec<MessageId>,
    seen: Seen,
    /// How often it was given more time to be seen.
    lingers: u8,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Seen {
    /// Not at its prompt.
    Away,
    /// Still at its prompt; from this time on that means that it is done.
    Near { until: Nanos },
}

/// What has changed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Change {
    Started {
        turn: u64,
    },
    Ended {
        turn: u64,
        /// Those that belong to it, in the order that they were taken in.
        messages: Vec<MessageId>,
        outcome: Outcome,
    },
}

/// How a turn ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Outcome {
    /// The agent waits for a message again.
    Done,
    /// It says that it failed.
    Failed,
    /// The agent ended.
    Exited,
    /// A later version knows.
    #[serde(other)]
    Other,
}

impl Outcome {
    pub const fn word(self) -> &'static str {
        match self {
            Self::Done => "done",
            Self::Failed => "failed",
            Self::Exited => "exited",
            Self::Other => "other",
        }
    }
}

impl Turns {
    /// How many turns have begun.
    pub const fn number(&self) -> u64 {
        self.number
    }

    pub const fn is_resting(&self) -> bool {
        self.running.is_none()
    }

    /// A message was seen to be taken. It belongs to the turn that runs, or begins one; while that still looks like rest, it is
    /// given until `settled` to look like work.
    pub fn submitted(&mut self, message: MessageId, settled: Nanos) -> (u64, Option<Change>) {
        if let Some(running) = &mut self.running {
            running.messages.push(message);
            return (self.number, None);
        }
        let near = Seen::Near { until: settled };
        let change = self.begin(vec![message], near);
        (self.number, Some(change))
    }

    /// Hears what the agent is seen to do.
    pub fn hear(&mut self, state: State, now: Nanos) -> Option<Change> {
        let rests = is_at_rest(state);
        self.has_rested |= rests;
        let Some(running) = &mut self.running else {
            let begins = self.has_rested && state == State::Busy;
            return begins.then(|| self.begin(vec![], Seen::Away));
        };
        match running.seen {
            _ if state == State::Exited => Some(self.end(Outcome::Exited)),
            // Not to know what it does is not to see it work: a screen is empty for a while when its first message is taken.
            Seen::Near { .. } if state == State::Unknown => None,
            _ if !rests => {
                running.seen = Seen::Away;
                None
            }
            Seen::Near { until } if now < until => None,
            Seen::Near { .. } | Seen::Away => Some(self.end(outcome(state))),
        }
    }

    /// When to look again although nothing happens.
    pub fn look_again(&self) -> Option<Nanos> {
        match self.running.as_ref()?.seen {
            Seen::Near { until } => Some(until),
            Seen::Away => None,
        }
    }

    /// Whether a turn would end now only because nothing was seen of it.
    pub fn is_doubtful(&self, state: State, now: Nanos) -> bool {
        let near = self.look_again();
        is_at_rest(state) && near.is_some_and(|until| now >= until)
    }

    /// Gives it more time to be seen, because something else says that it runs; whether it had not had enough before.
    pub fn linger(&mut self, now: Nanos) -> bool {
        let Some(running) = self.running.as_mut().filter(|it| it.lingers < LINGERS) else {
            return false;
        };
        running.lingers += 1;
        running.seen = Seen::Near {
            until: now.after(LINGER),
        };
        true
    }

    fn begin(&mut self, messages: Vec<MessageId>, seen: Seen) -> Change {
        self.number += 1;
        self.running = Some(Running {
            messages,
            seen,
            lingers: 0,
        });
        Change::Started { turn: self.number }
    }

    fn end(&mut self, outcome: Outcome) -> Change {
        let running = self.running.take();
        Change::Ended {
            turn: self.number,
            messages: running.map_or_else(Vec::new, |running| running.messages),
            outcome,
        }
    }
}

/// Whether the agent takes a message. One that reports an error does: it says so until the next one.
pub const fn is_at_rest(state: State) -> bool {
    matches!(state, State::Prompt | State::Blocked(Block::Error))
}

const fn outcome(state: State) -> Outcome {
    match state {
        State::Blocked(_) => Outcome::Failed,
        State::Exited => Outcome::Exited,
        State::Prompt | State::Starting | State::Busy | State::Unknown => Outcome::Done,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn message() -> MessageId {
        "msg_0192f0c47d0a7c3e9f5b2a1c3d4e5f60".parse().unwrap()
    }

    fn resting() -> Turns {
        let mut turns = Turns::default();
        assert_eq!(turns.hear(State::Starting, Nanos(0)), None);
        assert_eq!(
            turns.hear(State::Busy, Nanos(0)),
            None,
            "a start is no turn"
        );
        assert_eq!(turns.hear(State::Prompt, Nanos(0)), None);
        turns
    }

    fn ended(turn: u64, messages: &[MessageId], outcome: Outcome) -> Option<Change> {
        Some(Change::Ended {
            turn,
            messages: messages.to_vec(),
            outcome,
        })
    }

    #[test]
    fn what_a_person_begins_is_a_turn_too() {
        let mut turns = resting();
        let started = turns.hear(State::Busy, Nanos(1));
        assert_eq!(started, Some(Change::Started { turn: 1 }));
        assert_eq!(
            turns.hear(State::Blocked(Block::Permission), Nanos(2)),
            None
        );
        assert_eq!(turns.hear(State::Unknown, Nanos(3)), None);
        let end = turns.hear(State::Prompt, Nanos(4));
        assert_eq!(end, ended(1, &[], Outcome::Done));
    }

    #[test]
    fn a_stale_prompt_does_not_end_the_turn_of_a_message() {
        let mut turns = resting();
        let begun = turns.submitted(message(), Nanos(10));
        assert_eq!(begun, (1, Some(Change::Started { turn: 1 })));
        assert_eq!(turns.hear(State::Prompt, Nanos(9)), None);
        assert_eq!(turns.look_again(), Some(Nanos(10)));
        assert_eq!(turns.hear(State::Busy, Nanos(9)), None);
        assert_eq!((turns.look_again(), turns.is_resting()), (None, false));
        let end = turns.hear(State::Prompt, Nanos(11));
        assert_eq!(end, ended(1, &[message()], Outcome::Done));
    }

    #[test]
    fn not_to_know_is_not_to_see_it_work() {
        let mut turns = resting();
        turns.submitted(message(), Nanos(10));
        assert_eq!(turns.hear(State::Unknown, Nanos(5)), None);
        assert_eq!(turns.hear(State::Prompt, Nanos(9)), None);
        assert!(turns.is_doubtful(State::Prompt, Nanos(10)));
    }

    #[test]
    fn a_turn_too_short_to_be_seen_ends_when_it_had_its_time() {
        let mut turns = resting();
        turns.submitted(message(), Nanos(10));
        let end = turns.hear(State::Prompt, Nanos(10));
        assert_eq!(end, ended(1, &[message()], Outcome::Done));
    }

    #[test]
    fn a_turn_that_is_on_record_is_given_more_time_and_not_for_ever() {
        let mut turns = resting();
        turns.submitted(message(), Nanos(10));
        assert!(!turns.is_doubtful(State::Prompt, Nanos(9)));
        assert!(!turns.is_doubtful(State::Busy, Nanos(10)));
        assert!(turns.is_doubtful(State::Prompt, Nanos(10)));
        let mut now = Nanos(10);
        for _ in 0..LINGERS {
            assert!(turns.linger(now));
            assert_eq!(turns.hear(State::Prompt, now), None);
            now = now.after(LINGER);
        }
        assert!(!turns.linger(now));
        let end = turns.hear(State::Prompt, now);
        assert_eq!(end, ended(1, &[message()], Outcome::Done));
    }

    #[test]
    fn a_message_whose_work_was_seen_first_belongs_to_that_turn() {
        let mut turns = resting();
        turns.hear(State::Busy, Nanos(1));
        assert_eq!(turns.submitted(message(), Nanos(10)), (1, None));
        assert_eq!(turns.submitted(message(), Nanos(10)), (1, None));
        let end = turns.hear(State::Blocked(Block::Error), Nanos(2));
        assert_eq!(end, ended(1, &[message(), message()], Outcome::Failed));
    }

    #[test]
    fn an_agent_that_ends_ends_its_turn() {
        let mut turns = resting();
        turns.hear(State::Busy, Nanos(1));
        let end = turns.hear(State::Exited, Nanos(2));
        assert_eq!(end, ended(1, &[], Outcome::Exited));
    }
}
