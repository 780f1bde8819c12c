//! What a sender waits for, and what it comes to.

use handoff_session::message::{Because, LostTurn, Progress};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// What is waited for.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Goal {
    /// Nothing but that it is safe.
    Accepted,
    /// The agent has taken it.
    #[default]
    Submitted,
    /// Its turn is over.
    Idle,
    /// The same, and the answer is printed.
    Answer,
}

/// What a message has come to, for one who waits.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Arrival {
    /// There it is.
    Reached,
    /// Typed, and nobody knows more.
    Unseen,
    Failed(Because),
    /// It was taken, and its turn came to nothing.
    Lost(LostTurn),
    Expired,
    /// Nothing moves before a person has answered the agent.
    Blocked,
}

/// What the agent does meanwhile.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Meanwhile {
    Going,
    Blocked,
    /// What it may use is used up, which ends its turn.
    Limited,
}

impl Goal {
    /// Whether waiting is over.
    pub fn reached(self, progress: &Progress, meanwhile: Meanwhile) -> Option<Arrival> {
        match (self, progress) {
            (Self::Accepted, _) => Some(Arrival::Reached),
            (_, Progress::Answered { .. }) | (Self::Submitted, Progress::Submitted { .. }) => {
                Some(Arrival::Reached)
            }
            (
                _,
                Progress::Written {
                    because: Some(Because::Left),
                },
            ) => Some(Arrival::Reached),
            (_, Progress::Written { because: Some(_) }) => Some(Arrival::Unseen),
            (Self::Submitted, Progress::Failed { lost: Some(_), .. }) => Some(Arrival::Reached),
            (
                _,
                Progress::Failed {
                    lost: Some(lost), ..
                },
            ) => Some(Arrival::Lost(lost.clone())),
            (_, Progress::Failed { because, .. }) => Some(Arrival::Failed(*because)),
            (_, Progress::Expired) => Some(Arrival::Expired),
            (_, Progress::Queued { .. }) => match meanwhile {
                Meanwhile::Blocked | Meanwhile::Limited => Some(Arrival::Blocked),
                Meanwhile::Going => None,
            },
            (Self::Idle | Self::Answer, Progress::Submitted { .. }) => match meanwhile {
                Meanwhile::Blocked => Some(Arrival::Blocked),
                Meanwhile::Going | Meanwhile::Limited => None,
            },
            (_, Progress::Written { because: None }) => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use handoff_session::message::{Answer, AnswerSource, Evidence};

    use super::*;

    #[test]
    fn every_state_ends_the_waits_that_it_should() {
        let submitted = Progress::Submitted {
            evidence: Evidence::State,
            turn: 1,
        };
        let answered = Progress::Answered {
            turn: 1,
            answer: Answer {
                text: String::new(),
                source: AnswerSource::Screen,
                is_truncated: false,
            },
        };
        let queued = |because| Progress::Queued { because };
        let written = |because| Progress::Written { because };
        let failed = Progress::Failed {
            because: Because::Dialog,
            lost: None,
        };
        let table = [
            (queued(None), None, None),
            (queued(Some(Because::Busy)), None, None),
            (written(None), None, None),
            (
                written(Some(Because::Left)),
                Some(Arrival::Reached),
                Some(Arrival::Reached),
            ),
            (
                written(Some(Because::Unseen)),
                Some(Arrival::Unseen),
                Some(Arrival::Unseen),
            ),
            (submitted.clone(), Some(Arrival::Reached), None),
            (answered, Some(Arrival::Reached), Some(Arrival::Reached)),
            (
                failed,
                Some(Arrival::Failed(Because::Dialog)),
                Some(Arrival::Failed(Because::Dialog)),
            ),
            (
                Progress::Expired,
                Some(Arrival::Expired),
                Some(Arrival::Expired),
            ),
        ];
        for (progress, taken, idle) in table {
            let going = Meanwhile::Going;
            assert_eq!(
                Goal::Submitted.reached(&progress, going),
                taken,
                "{progress:?}"
            );
            assert_eq!(Goal::Idle.reached(&progress, going), idle, "{progress:?}");
            assert_eq!(Goal::Answer.reached(&progress, going), idle, "{progress:?}");
        }
        for progress in [submitted, queued(None), queued(Some(Because::Busy))] {
            let blocked = Goal::Idle.reached(&progress, Meanwhile::Blocked);
            assert_eq!(blocked, Some(Arrival::Blocked), "{progress:?}");
        }
    }
}
