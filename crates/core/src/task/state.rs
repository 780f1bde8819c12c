//! Where a task is. Each state owns the data that only it has.

use std::fmt;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::spec::Until;
use crate::text::{Reason, Summary};
use crate::{Lease, SessionId, Timestamp};

/// Where a task is.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub enum TaskState {
    /// Not ready: others must come to something first.
    Waiting,
    /// Ready to be claimed.
    Queued,
    /// Someone has the right to work on it.
    Leased {
        /// The right.
        lease: Lease,
    },
    /// A session works on it.
    Running {
        /// The right to do so.
        lease: Lease,
        /// Which session.
        session: SessionId,
        /// Since when.
        started_at: Timestamp,
    },
    /// Done; final.
    Done {
        /// When it was recorded.
        at: Timestamp,
        /// What was said about it.
        summary: Option<Summary>,
    },
    /// Tried, and it did not work.
    Failed {
        /// When it was recorded.
        at: Timestamp,
        /// Why.
        reason: Reason,
    },
    /// Cannot go on without a person.
    Blocked {
        /// When it was recorded.
        at: Timestamp,
        /// What is needed.
        reason: Reason,
    },
    /// Not wanted any more.
    Cancelled {
        /// When it was recorded.
        at: Timestamp,
        /// Why, if they said.
        reason: Option<Reason>,
    },
}

/// How a task came to an end.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Ending {
    /// With success.
    Done,
    /// Without.
    Failed,
    /// Until a person helps.
    Blocked,
    /// By decision.
    Cancelled,
}

impl Ending {
    /// The word for it, the same in every output.
    pub const fn word(self) -> &'static str {
        match self {
            Self::Done => "done",
            Self::Failed => "failed",
            Self::Blocked => "blocked",
            Self::Cancelled => "cancelled",
        }
    }

    /// Whether a dependent that waits `until` can stop waiting.
    pub fn satisfies(self, until: Until) -> bool {
        match until {
            Until::Done => self == Self::Done,
            Until::Ended => true,
        }
    }
}

impl TaskState {
    /// The lease, where there is one, valid or not.
    pub fn lease(&self) -> Option<&Lease> {
        match self {
            Self::Leased { lease } | Self::Running { lease, .. } => Some(lease),
            Self::Waiting
            | Self::Queued
            | Self::Done { .. }
            | Self::Failed { .. }
            | Self::Blocked { .. }
            | Self::Cancelled { .. } => None,
        }
    }

    /// How it ended, if it has.
    pub fn ending(&self) -> Option<Ending> {
        match self {
            Self::Done { .. } => Some(Ending::Done),
            Self::Failed { .. } => Some(Ending::Failed),
            Self::Blocked { .. } => Some(Ending::Blocked),
            Self::Cancelled { .. } => Some(Ending::Cancelled),
            Self::Waiting | Self::Queued | Self::Leased { .. } | Self::Running { .. } => None,
        }
    }
}

/// What a person sees of a task's state.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Phase {
    /// Others must come to something first.
    Waiting,
    /// A hold keeps it from being handed out.
    Held,
    /// Trouble keeps it from being handed out for a while.
    Resting,
    /// Ready.
    Queued,
    /// Claimed.
    Leased,
    /// In work.
    Running,
    /// Ended well.
    Done,
    /// Ended badly.
    Failed,
    /// Needs a person.
    Blocked,
    /// Called off.
    Cancelled,
}

impl Phase {
    /// The word for it, the same in every output.
    pub const fn word(self) -> &'static str {
        match self {
            Self::Waiting => "waiting",
            Self::Held => "held",
            Self::Resting => "resting",
            Self::Queued => "queued",
            Self::Leased => "leased",
            Self::Running => "running",
            Self::Done => "done",
            Self::Failed => "failed",
            Self::Blocked => "blocked",
            Self::Cancelled => "cancelled",
        }
    }
}

impl fmt::Display for Phase {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.word())
    }
}
