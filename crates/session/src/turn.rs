//! Turns: from a message to the moment when the agent waits for the next.
//!
//! A turn that nobody here began counts too: a person may type. What an agent looks like right after a message is no sign that
//! it is done: a turn ends only after the agent was seen away from its prompt, or had time enough to be.

use std::time::Duration;

use handoff_agents::Block;
use handoff_core::MessageId;
use handoff_core::time::Nanos;

use crate::outcome::Stop;
use crate::state::State;

/// How long a turn that is on record is given to be seen, each time.
const LINGER: Duration = Duration::from_millis(500);
/// How often: a record that is never ended must not hold up everybody.
const LINGERS: u8 = 40;

/// How long an agent may look at work when what it asked for was refused.
const STOPPING_TAKES: Duration = Duration::from_millis(500);

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
    stop: Stop,
    asked: Asked,
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

/// Whether it waited for a permission.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Asked {
    Nothing,
    /// It does.
    Waits,
    /// It did, and does something else since.
    GotAnswer {
        at: Nanos,
    },
}

impl Asked {
    const fn hear(self, state: State, now: Nanos) -> Self {
        match (self, state) {
            (_, State::Blocked(Block::Permission)) => Self::Waits,
            (Self::Waits, _) => Self::GotAnswer { at: now },
            (asked, _) => asked,
        }
    }

    fn is_last(self, now: Nanos) -> bool {
        match self {
            Self::Nothing => false,
            Self::Waits => true,
            Self::GotAnswer { at } => now < at.after(STOPPING_TAKES),
        }
    }
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
        ending: TurnEnding,
    },
}

/// What was seen of the end of a turn.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TurnEnding {
    /// What the agent does since.
    pub state: State,
    /// Whether somebody pressed the keys that stop it.
    pub stop: Stop,
    /// Whether it waited for a permission last.
    pub asked: bool,
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
        let rests = is_over(state);
        self.has_rested |= rests;
        let Some(running) = &mut self.running else {
            let begins = self.has_rested && state == State::Busy;
            return begins.then(|| self.begin(vec![], Seen::Away));
        };
        running.asked = running.asked.hear(state, now);
        match running.seen {
            _ if state == State::Exited => Some(self.end(state, now)),
            // Not to know what it does is not to see it work: a screen is empty for a while when its first message is taken.
            Seen::Near { .. } if state == State::Unknown => None,
            _ if !rests => {
                running.seen = Seen::Away;
                None
            }
            Seen::Near { until } if now < until => None,
            Seen::Near { .. } | Seen::Away => Some(self.end(state, now)),
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
        is_over(state) && near.is_some_and(|until| now >= until)
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
            stop: Stop::Untouched,
            asked: Asked::Nothing,
            lingers: 0,
        });
        Change::Started { turn: self.number }
    }

    /// Whether a message began the turn that runs, or was taken in it.
    pub fn is_of_message(&self) -> bool {
        let running = self.running.as_ref();
        running.is_some_and(|running| !running.messages.is_empty())
    }

    /// Somebody presses the keys that stop it.
    pub const fn stopped(&mut self) {
        if let Some(running) = &mut self.running {
            running.stop = Stop::Pressed;
        }
    }

    fn end(&mut self, state: State, now: Nanos) -> Change {
        let running = self.running.take();
        let (stop, asked) = running.as_ref().map_or((Stop::Untouched, false), |it| {
            (it.stop, it.asked.is_last(now))
        });
        Change::Ended {
            turn: self.number,
            messages: running.map_or_else(Vec::new, |running| running.messages),
            ending: TurnEnding { state, stop, asked },
        }
    }
}

/// Whether nothing more comes of a turn. One at its limit goes on with none, though it takes no message either.
const fn is_over(state: State) -> bool {
    is_at_rest(state) || matches!(state, State::Blocked(Block::Limit))
}

/// Whether the agent takes a message. One that reports an error does: it says so until the next one.
pub const fn is_at_rest(state: State) -> bool {
    matches!(state, State::Prompt | State::Blocked(Block::Error))
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

    fn ended(turn: u64, messages: &[MessageId], state: State) -> Option<Change> {
        let ending = TurnEnding {
            state,
            stop: Stop::Untouched,
            asked: false,
        };
        Some(Change::Ended {
            turn,
            messages: messages.to_vec(),
            ending,
        })
    }

    /// How the turn ends in which these were seen.
    fn ending(states: &[(u64, State)], stopped_before: usize) -> TurnEnding {
        let mut turns = resting();
        turns.hear(State::Busy, Nanos(1));
        for (number, (at, state)) in states.iter().enumerate() {
            if number == stopped_before {
                turns.stopped();
            }
            let now = Nanos(0).after(Duration::from_millis(*at));
            if let Some(Change::Ended { ending, .. }) = turns.hear(*state, now) {
                return ending;
            }
        }
        panic!("it has not ended");
    }

    #[test]
    fn an_end_tells_what_was_open_and_pressed_last() {
        let asks = State::Blocked(Block::Permission);
        let (busy, prompt) = (State::Busy, State::Prompt);
        let table = [
            (vec![(1, prompt)], 9, Stop::Untouched, false),
            (vec![(1, prompt)], 0, Stop::Pressed, false),
            (vec![(1, asks), (9, prompt)], 9, Stop::Untouched, true),
            (
                vec![(1, asks), (5, State::Unknown), (9, prompt)],
                9,
                Stop::Untouched,
                true,
            ),
            // Codex says that it works before it says that it rests.
            (
                vec![(1, asks), (5, busy), (25, prompt)],
                9,
                Stop::Untouched,
                true,
            ),
            (
                vec![(1, asks), (5, busy), (900, prompt)],
                9,
                Stop::Untouched,
                false,
            ),
        ];
        for (states, stopped_before, stop, asked) in table {
            let found = ending(&states, stopped_before);
            assert_eq!((found.stop, found.asked), (stop, asked), "{states:?}");
        }
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
        assert!(
            matches!(end, Some(Change::Ended { turn: 1, .. })),
            "{end:?}"
        );
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
        assert_eq!(end, ended(1, &[message()], State::Prompt));
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
        assert_eq!(end, ended(1, &[message()], State::Prompt));
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
        assert_eq!(end, ended(1, &[message()], State::Prompt));
    }

    #[test]
    fn a_message_whose_work_was_seen_first_belongs_to_that_turn() {
        let mut turns = resting();
        turns.hear(State::Busy, Nanos(1));
        assert_eq!(turns.submitted(message(), Nanos(10)), (1, None));
        assert_eq!(turns.submitted(message(), Nanos(10)), (1, None));
        let end = turns.hear(State::Blocked(Block::Error), Nanos(2));
        assert_eq!(
            end,
            ended(1, &[message(), message()], State::Blocked(Block::Error))
        );
    }

    #[test]
    fn a_limit_ends_the_turn_and_takes_no_message() {
        let mut turns = resting();
        turns.hear(State::Busy, Nanos(1));
        let limit = State::Blocked(Block::Limit);
        let end = turns.hear(limit, Nanos(2));
        assert_eq!(end, ended(1, &[], limit));
        assert!(!is_at_rest(limit));
    }

    #[test]
    fn an_agent_that_ends_ends_its_turn() {
        let mut turns = resting();
        turns.hear(State::Busy, Nanos(1));
        let end = turns.hear(State::Exited, Nanos(2));
        assert_eq!(end, ended(1, &[], State::Exited));
    }
}
