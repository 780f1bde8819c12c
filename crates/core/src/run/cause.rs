//! Why a phase does not come to a proof, and what is done about it.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Why an attempt at a phase came to nothing, or a run stopped.
///
/// Two more are not here because nothing is refused for them: an agent at its limit and one without a network rest, and the same
/// attempt is made again when that is over ([`crate::rest`]).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Cause {
    /// The agent ended before it had finished, or hung.
    AgentCrashed,
    /// It said that it needs a person.
    AskedPerson,
    /// It handed over no result, or one that does not fit.
    InvalidResult,
    /// The referee refused what it left.
    CheckFailed,
    /// The same came twice.
    NoProgress,
    /// Its time, its tokens or the phases of its run are used up.
    BudgetSpent,
    /// Nothing can be proved here: there is no suite that runs.
    NoProof,
    /// The name of its batch is in use.
    NameTaken,
    /// A person, or the definition, leaves no way on.
    CalledOff,
}

/// What is done about it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Policy {
    /// The phase is tried again, as often as its `retries` say, with the reason in the prompt.
    TryAgain,
    /// The run stops and says so: trying again by itself would not help.
    Stop,
}

impl Cause {
    /// The word for it, the same in every output.
    pub const fn word(self) -> &'static str {
        match self {
            Self::AgentCrashed => "agent crashed",
            Self::AskedPerson => "asked a person",
            Self::InvalidResult => "invalid result",
            Self::CheckFailed => "check failed",
            Self::NoProgress => "no progress",
            Self::BudgetSpent => "budget spent",
            Self::NoProof => "no proof possible",
            Self::NameTaken => "name taken",
            Self::CalledOff => "called off",
        }
    }

    /// What is done about it, the first time.
    pub const fn policy(self) -> Policy {
        match self {
            Self::AgentCrashed | Self::InvalidResult | Self::CheckFailed => Policy::TryAgain,
            Self::AskedPerson
            | Self::NoProgress
            | Self::BudgetSpent
            | Self::NoProof
            | Self::NameTaken
            | Self::CalledOff => Policy::Stop,
        }
    }

    /// What a history from before there were causes meant.
    pub(super) const fn unsaid() -> Self {
        Self::CheckFailed
    }
}
