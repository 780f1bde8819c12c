//! What happens to a batch, and what can be asked of one.

use serde::{Deserialize, Serialize};

use super::record::BatchSpec;
use crate::caller::Forbidden;
use crate::task::{Ending, Reason};
use crate::{PartName, TaskName};

/// What happened to a batch.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub enum BatchEvent {
    /// It was published, with all its tasks. The first event of each batch, and only that.
    Opened {
        /// What it is.
        spec: Box<BatchSpec>,
    },
    /// Every part has ended: its fan-in can be claimed.
    FanInReady,
    /// Its fan-in has ended.
    FanInEnded {
        /// How.
        ending: Ending,
    },
    /// A part is worked on again, so the fan-in waits again.
    Reopened,
    /// Parts that had ended without success were opened again.
    Retried {
        /// Which; the fan-in is not named.
        parts: Vec<PartName>,
    },
    /// It was called off, with everything in it that had not ended.
    Cancelled {
        /// Why, if they said.
        reason: Option<Reason>,
    },
}

/// What can be asked of a batch that exists.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub enum BatchCommand {
    /// Call it off.
    Cancel {
        /// Why, if they say.
        reason: Option<Reason>,
    },
    /// Open again what has ended without success: these parts and what waits for them, or all.
    Retry {
        /// Which; all if none is named.
        parts: Vec<PartName>,
    },
}

/// Why a command changes nothing.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum BatchRefusal {
    /// The caller table says no.
    #[error(transparent)]
    Forbidden(#[from] Forbidden),
    /// Its results are together already.
    #[error("its results have been brought together")]
    Done,
    /// It was called off already.
    #[error("it was called off")]
    Cancelled,
    /// There is no such part.
    #[error("it has no part `{0}`")]
    NoSuchPart(PartName),
    /// A part that was named did not end without success.
    #[error("its part `{0}` has not ended without success, so there is nothing to try again")]
    NotRetriable(PartName),
    /// Nothing ended without success.
    #[error("nothing in it has ended without success")]
    NothingToRetry,
    /// Its fan-in works on what the parts left.
    #[error("its fan-in `{0}` is at work, so no part can be opened again")]
    Gathering(TaskName),
}
