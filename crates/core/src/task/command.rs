//! What can be asked of a task, and how it says no.

use std::cmp::Ordering;

use serde::{Deserialize, Serialize};

use super::event::{Evidence, Report};
use super::state::{Ending, Phase};
use crate::caller::Forbidden;
use crate::lease::Tenure;
use crate::rest::Setback;
use crate::text::{Reason, Summary};
use crate::{AgentName, BatchId, Caller, Fence, PackageId, SessionId, TaskId, TaskName};

/// What can be asked of a task that exists.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub enum Command {
    /// Give me the right to work on it.
    Claim {
        /// What would keep the lease alive.
        tenure: Tenure,
    },
    /// A session begins to work.
    Start {
        /// By which right.
        fence: Fence,
        /// Which session.
        session: SessionId,
        /// Of which agent, if that is known.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        agent: Option<AgentName>,
    },
    /// Still here.
    Renew {
        /// By which right.
        fence: Fence,
    },
    /// Record a proof.
    Prove {
        /// By which right.
        fence: Fence,
        /// Of what.
        evidence: Evidence,
    },
    /// The session says that it has finished. Whether that is so, the tool finds out.
    Report {
        /// By which right.
        fence: Fence,
        /// What it says.
        report: Report,
    },
    /// It is done.
    Complete {
        /// By which right, if there is a lease.
        fence: Option<Fence>,
        /// What was done.
        summary: Option<Summary>,
    },
    /// It does not work.
    Fail {
        /// By which right, if there is a lease.
        fence: Option<Fence>,
        /// Why.
        reason: Reason,
    },
    /// A person is needed.
    Block {
        /// By which right, if there is a lease.
        fence: Option<Fence>,
        /// What for.
        reason: Reason,
    },
    /// Give it back undone.
    Release {
        /// By which right.
        fence: Fence,
        /// Why, if they say.
        reason: Option<Reason>,
    },
    /// Give it back undone, because of trouble that is not its own.
    PutOff {
        /// By which right.
        fence: Fence,
        /// What was seen of it.
        setback: Setback,
    },
    /// Call it off, whoever works on it.
    Cancel {
        /// Why, if they say.
        reason: Option<Reason>,
    },
    /// Open it again.
    Retry,
    /// Do not hand it out.
    Hold {
        /// Why, if they say.
        reason: Option<Reason>,
    },
    /// Hand it out again, also if it rests.
    Unhold,
    /// Do not hand it out, because it is being paused.
    Pause {
        /// The package that makes it a pause.
        package: PackageId,
        /// That of the batch, if it is paused with all of it.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        whole: Option<PackageId>,
    },
    /// Hand it out again if nobody but this pause keeps it.
    Unpause {
        /// The package that was to make it one.
        package: PackageId,
    },
    /// Give up its lease if that has run out.
    Expire,
    /// Give up its lease because the holder process of this session is dead.
    LoseHolder {
        /// The session whose kernel lock was found free.
        session: SessionId,
    },
    /// Another task ended.
    EndDependency {
        /// Which.
        task: TaskId,
        /// What it is called, for whoever cannot go on without it.
        name: TaskName,
        /// How.
        ending: Ending,
        /// The batch that it belongs to.
        batch: Option<BatchId>,
    },
    /// A part of a batch that had ended is worked on again.
    ReopenDependency {
        /// Which.
        task: TaskId,
    },
}

/// Why a fence does not count: it is an old one, its lease is over, or there never was one with it.
fn lost_in_words(shown: Fence, newest: Fence) -> String {
    match shown.cmp(&newest) {
        Ordering::Less => {
            format!("fence {shown} is no longer valid, its newest lease has fence {newest}")
        }
        Ordering::Equal => {
            format!("fence {shown} is no longer valid: that lease was taken back or has run out")
        }
        Ordering::Greater if newest == Fence::NONE => {
            format!("no lease of it has fence {shown}: nobody ever had one")
        }
        Ordering::Greater => {
            format!("no lease of it has fence {shown}, the newest has fence {newest}")
        }
    }
}

/// Why a command changes nothing.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Refusal {
    /// The caller table says no.
    #[error(transparent)]
    Forbidden(#[from] Forbidden),
    /// The fence shown is not that of a valid lease.
    #[error("{}", lost_in_words(*shown, *newest))]
    LeaseLost {
        /// What the caller showed.
        shown: Fence,
        /// The task's newest fence; the same number if that very lease has run out.
        newest: Fence,
    },
    /// Someone holds a valid lease and the caller showed none.
    #[error("{owner} holds the lease with fence {fence}")]
    Leased {
        /// Who.
        owner: Caller,
        /// With which fence.
        fence: Fence,
    },
    /// The task has ended.
    #[error("it is already {}", phase.word())]
    Ended {
        /// How.
        phase: Phase,
    },
    /// The task is not ready to be claimed.
    #[error("it is {}, not queued", phase.word())]
    NotReady {
        /// What it is instead.
        phase: Phase,
    },
    /// The results of a batch are being brought together, or are together.
    #[error("it is {}, so no part that it brings together can be opened again", phase.word())]
    Gathering {
        /// What it is.
        phase: Phase,
    },
    /// Only a task that ended without success can be opened again.
    #[error("it is {}; only one that failed, is blocked or was cancelled can be retried", phase.word())]
    NotRetriable {
        /// What it is.
        phase: Phase,
    },
    /// An attempt at a phase of a run is over; the run makes a new one.
    #[error("it is an attempt at a phase of a run, which is over")]
    OfRun,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_fence_that_does_not_count_is_told_for_what_it_is() {
        let told = |shown, newest| lost_in_words(Fence::new(shown), Fence::new(newest));
        for (shown, newest, expected) in [
            (
                1,
                2,
                "fence 1 is no longer valid, its newest lease has fence 2",
            ),
            (
                1,
                1,
                "fence 1 is no longer valid: that lease was taken back or has run out",
            ),
            (2, 1, "no lease of it has fence 2, the newest has fence 1"),
            (1, 0, "no lease of it has fence 1: nobody ever had one"),
        ] {
            assert_eq!(told(shown, newest), expected);
        }
    }
}
