//! How a turn ended, decided from everything that is known of it when its agent waits again.
//!
//! | its record says | what else is seen | outcome |
//! |---|---|---|
//! | done | | answered |
//! | its model did not answer | | failed, or limit reached where what may be used is used up |
//! | stopped | a permission was open last | refused, otherwise interrupted |
//! | nothing yet | the agent has ended | died |
//! | nothing yet | it waits because of a limit | limit reached |
//! | nothing yet | keys that stop it were pressed | interrupted, or refused |
//! | the turn is open | it says that it rests, and not that it is done | interrupted, or refused |
//! | the turn is open | it rests | unclear: nobody says how it ended |
//! | nothing, and it keeps none of this | it says that it failed | failed |
//! | nothing, and it keeps none of this | it rests | answered |

use handoff_agents::Block;
use handoff_agents::conversation::{ApiError, ApiErrorKind, End};
use serde::{Deserialize, Serialize};

use crate::message::Because;
use crate::state::State;

/// An error stands within this many lines from the end.
const LINES: usize = 15;

/// How a turn ended. Its words in the journal are the older ones where there were some.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "outcome", rename_all = "snake_case")]
pub enum Outcome {
    /// The agent said what it had to say.
    #[serde(rename = "done")]
    Answered,
    /// Its model did not answer.
    Failed(ApiError),
    /// It was stopped in the middle.
    Interrupted,
    /// A person refused what it asked for, or its model refused to answer.
    Refused,
    /// What may be used is used up.
    #[serde(rename = "limit")]
    LimitReached(ApiError),
    /// The agent ended in the middle.
    #[serde(rename = "exited")]
    Died,
    /// It rests, and its own record does not say how it came to that.
    Unclear,
    /// A later version knows.
    #[serde(other)]
    Other,
}

/// What is known of a turn when its agent waits again.
#[derive(Debug, Clone, Copy)]
pub struct TurnSigns<'a> {
    /// What the agent does now.
    pub state: State,
    pub record: Recorded<'a>,
    pub rest: Rest,
    pub stop: Stop,
    /// Whether it waited for a permission last.
    pub asked: bool,
}

/// What the agent's own record says of the turn.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Recorded<'a> {
    /// It keeps none, or none of this turn.
    Nothing,
    /// The turn has begun, and not ended.
    Open,
    Ended(&'a End),
}

/// What a program says of its rest.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Rest {
    /// That it has done what it was to do.
    Done,
    /// That it rests.
    Idle,
    #[default]
    Unsaid,
}

/// Whether somebody pressed the keys that stop it.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Stop {
    Pressed,
    #[default]
    Untouched,
}

/// Whether more may still be learnt.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Patience {
    /// The record may follow.
    Left,
    Over,
}

/// How the turn ended; none as long as its record may still tell.
pub fn outcome(signs: &TurnSigns<'_>, patience: Patience) -> Option<Outcome> {
    match signs.record {
        Recorded::Ended(end) => return Some(of_record(end, signs)),
        Recorded::Open | Recorded::Nothing if signs.state == State::Exited => {
            return Some(Outcome::Died);
        }
        Recorded::Open if patience == Patience::Left => return None,
        Recorded::Open | Recorded::Nothing => {}
    }
    let is_trouble = matches!(signs.state, State::Blocked(Block::Limit | Block::Error));
    if is_trouble && patience == Patience::Left {
        // Its words are still being painted.
        return None;
    }
    Some(match (signs.state, signs.stop) {
        (State::Blocked(Block::Limit), _) => Outcome::LimitReached(ApiError {
            kind: ApiErrorKind::Quota,
            said: None,
        }),
        (State::Blocked(Block::Error), _) => Outcome::Failed(ApiError::default()),
        (_, Stop::Pressed) => stopped(signs),
        (_, Stop::Untouched) => match (signs.record, signs.rest) {
            (Recorded::Open, Rest::Idle) => stopped(signs),
            (Recorded::Open, Rest::Unsaid) => Outcome::Unclear,
            (Recorded::Open, Rest::Done) | (Recorded::Nothing | Recorded::Ended(_), _) => {
                Outcome::Answered
            }
        },
    })
}

fn of_record(end: &End, signs: &TurnSigns<'_>) -> Outcome {
    match end {
        End::Done => Outcome::Answered,
        End::Interrupted => stopped(signs),
        End::Refused => Outcome::Refused,
        End::Failed(error) if is_limit(error, signs) => Outcome::LimitReached(error.clone()),
        End::Failed(error) => Outcome::Failed(error.clone()),
    }
}

fn is_limit(error: &ApiError, signs: &TurnSigns<'_>) -> bool {
    error.kind == ApiErrorKind::Quota || signs.state == State::Blocked(Block::Limit)
}

const fn stopped(signs: &TurnSigns<'_>) -> Outcome {
    match (signs.asked, signs.stop) {
        (true, Stop::Untouched) => Outcome::Refused,
        (true, Stop::Pressed) | (false, _) => Outcome::Interrupted,
    }
}

impl Outcome {
    /// The word for it in the journal.
    pub const fn word(&self) -> &'static str {
        match self {
            Self::Answered => "done",
            Self::Failed(_) => "failed",
            Self::Interrupted => "interrupted",
            Self::Refused => "refused",
            Self::LimitReached(_) => "limit",
            Self::Died => "exited",
            Self::Unclear => "unclear",
            Self::Other => "other",
        }
    }

    /// Why the messages of such a turn have no answer; none if they have one.
    pub const fn because(&self) -> Option<Because> {
        Some(match self {
            Self::Answered => return None,
            Self::Failed(_) => Because::TurnFailed,
            Self::Interrupted => Because::Interrupted,
            Self::Refused => Because::Refused,
            Self::LimitReached(_) => Because::Limit,
            Self::Died => Because::Died,
            Self::Unclear | Self::Other => Because::Unclear,
        })
    }

    /// The same with what the agent printed of its trouble, where its record has no words for it.
    pub fn with_words(self, printed: &str) -> Self {
        let Self::Failed(ApiError { said: None, .. }) = &self else {
            return self;
        };
        let is_about = |line: &&str| line.to_ascii_lowercase().contains("error");
        let line = printed.lines().rev().take(LINES).filter(is_about).last();
        line.map_or(self, |line| Self::Failed(ApiError::read(None, line)))
    }

    /// What the agent said about its trouble.
    pub const fn error(&self) -> Option<&ApiError> {
        match self {
            Self::Failed(error) | Self::LimitReached(error) => Some(error),
            Self::Answered
            | Self::Interrupted
            | Self::Refused
            | Self::Died
            | Self::Unclear
            | Self::Other => None,
        }
    }

    /// How the turn ended, after "its turn".
    pub fn meaning(&self) -> String {
        match self {
            Self::Answered => "was answered".to_owned(),
            Self::Failed(error) => format!("failed{}", details(error)),
            Self::Interrupted => "was interrupted".to_owned(),
            Self::Refused => "was ended by a refusal".to_owned(),
            Self::LimitReached(error) => format!("has met a limit{}", details(error)),
            Self::Died => "was cut off by the end of the agent".to_owned(),
            Self::Unclear => "has ended, and nothing shows how".to_owned(),
            Self::Other => "has ended in a way that a later version knows".to_owned(),
        }
    }
}

fn details(error: &ApiError) -> String {
    match (error.kind, &error.said) {
        (ApiErrorKind::Other, None) => String::new(),
        (ApiErrorKind::Other, Some(said)) => format!(": {said}"),
        (kind, None) => format!(" ({})", kind.word()),
        (kind, Some(said)) => format!(" ({}): {said}", kind.word()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const PROMPT: State = State::Prompt;
    const ERROR: State = State::Blocked(Block::Error);
    const LIMIT: State = State::Blocked(Block::Limit);

    fn signs(state: State, record: Recorded<'_>) -> TurnSigns<'_> {
        TurnSigns {
            state,
            record,
            rest: Rest::Unsaid,
            stop: Stop::Untouched,
            asked: false,
        }
    }

    fn found(signs: TurnSigns<'_>) -> &'static str {
        outcome(&signs, Patience::Over).unwrap().word()
    }

    #[test]
    fn what_the_agent_has_on_record_counts_most() {
        let failed = |kind| End::Failed(ApiError { kind, said: None });
        let request = failed(ApiErrorKind::Request);
        let quota = failed(ApiErrorKind::Quota);
        let table = [
            (PROMPT, End::Done, "done"),
            (ERROR, End::Done, "done"),
            (State::Exited, End::Done, "done"),
            (PROMPT, End::Interrupted, "interrupted"),
            (PROMPT, End::Refused, "refused"),
            (ERROR, request.clone(), "failed"),
            (PROMPT, request.clone(), "failed"),
            (LIMIT, request, "limit"),
            (ERROR, quota, "limit"),
        ];
        for (state, end, expected) in table {
            let signs = signs(state, Recorded::Ended(&end));
            assert_eq!(outcome(&signs, Patience::Left).unwrap().word(), expected);
        }
    }

    #[test]
    fn a_record_that_is_open_is_waited_for_and_then_rest_proves_nothing() {
        let open = signs(PROMPT, Recorded::Open);
        assert_eq!(outcome(&open, Patience::Left), None);
        assert_eq!(found(open), "unclear");
        let rest = |rest| TurnSigns { rest, ..open };
        assert_eq!(found(rest(Rest::Idle)), "interrupted");
        assert_eq!(found(rest(Rest::Done)), "done");
        let died = signs(State::Exited, Recorded::Open);
        assert_eq!(outcome(&died, Patience::Left), Some(Outcome::Died));
    }

    #[test]
    fn without_a_record_it_is_what_is_seen() {
        let nothing = |state| signs(state, Recorded::Nothing);
        assert_eq!(found(nothing(PROMPT)), "done");
        assert_eq!(found(nothing(ERROR)), "failed");
        assert_eq!(found(nothing(LIMIT)), "limit");
        assert_eq!(found(nothing(State::Exited)), "exited");
        let pressed = TurnSigns {
            stop: Stop::Pressed,
            ..nothing(PROMPT)
        };
        assert_eq!(found(pressed), "interrupted");
        // One that does not say more than that it rests says so after every turn.
        let idle = TurnSigns {
            rest: Rest::Idle,
            ..nothing(PROMPT)
        };
        assert_eq!(found(idle), "done");
    }

    #[test]
    fn a_turn_that_is_stopped_at_a_permission_was_refused() {
        let asked = TurnSigns {
            asked: true,
            ..signs(PROMPT, Recorded::Ended(&End::Interrupted))
        };
        assert_eq!(found(asked), "refused");
        let pressed = TurnSigns {
            stop: Stop::Pressed,
            ..asked
        };
        assert_eq!(found(pressed), "interrupted");
        let allowed = TurnSigns {
            record: Recorded::Ended(&End::Done),
            ..asked
        };
        assert_eq!(found(allowed), "done");
    }

    #[test]
    fn only_an_answer_is_one() {
        for outcome in [
            Outcome::Failed(ApiError::default()),
            Outcome::Interrupted,
            Outcome::Refused,
            Outcome::LimitReached(ApiError::default()),
            Outcome::Died,
            Outcome::Unclear,
            Outcome::Other,
        ] {
            assert!(outcome.because().is_some(), "{outcome:?}");
        }
        assert_eq!(Outcome::Answered.because(), None);
    }

    #[test]
    fn what_older_and_later_versions_wrote_is_read() {
        let read = |text: &str| serde_json::from_str::<Outcome>(text).unwrap();
        let table = [
            (r#"{"outcome":"done"}"#, Outcome::Answered),
            (
                r#"{"outcome":"failed"}"#,
                Outcome::Failed(ApiError::default()),
            ),
            (r#"{"outcome":"exited"}"#, Outcome::Died),
            (r#"{"outcome":"danced","steps":3}"#, Outcome::Other),
        ];
        for (text, expected) in table {
            assert_eq!(read(text), expected, "{text}");
        }
        let failed = Outcome::Failed(ApiError::read(Some(400), "API Error: 400"));
        let text = serde_json::to_string(&failed).unwrap();
        assert_eq!(
            text,
            r#"{"outcome":"failed","kind":"request","said":"API Error: 400"}"#
        );
        assert_eq!(read(&text), failed);
        let later = r#"{"outcome":"failed","kind":"moonlight"}"#;
        assert_eq!(read(later), Outcome::Failed(ApiError::default()));
    }
}
