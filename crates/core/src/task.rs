//! The task: a piece of work for exactly one session.
//!
//! ```text
//!            ┌─────────── dependency ended ───────────┐
//!  add ─► Waiting                                     ▼
//!     └──────────────────────────────────────────► Queued ◄── release, lease expired, retry ──┐
//!                                                     │ claim (fence + 1)                     │
//!                                                     ▼                                       │
//!                                                  Leased ──── start ───► Running ────────────┤
//!                                                     │                      │                │
//!                                                     └──► Done · Failed · Blocked · Cancelled┘
//! ```
//!
//! A hold is not a state: it lies over `Waiting`, `Queued` and what falls back to them, and is shown as
//! [`Phase::Held`]. Neither is a rest ([`crate::rest`]), which lies over `Queued` for a while and is shown as
//! [`Phase::Resting`]. `Done` never changes; the three other endings can be opened again by `retry`.
//!
//! [`Task::decide`] says what a command means, [`Task::apply`] what an event means. Rows in a store
//! are nothing but the fold of their events.

mod adoption;
mod command;
mod decide;
mod event;
mod fold;
mod gathered;
#[cfg(test)]
mod model;
mod spec;
mod state;

pub use crate::text::{Brief, Reason, Summary, TextError, VerifyCommand};
pub use adoption::{AdoptedEnding, AdoptedHold, AdoptedTask};
pub use command::{Command, Refusal};
pub use event::{Evidence, Measured, Report, TaskEvent};
pub use fold::ReplayError;
pub use gathered::{Gathered, LeftOut, Omission};
pub use spec::{Dependency, Part, Priority, TaskSpec, TimeLimit, Until, dependencies};
pub use state::{Ending, Phase, TaskState};

use serde::{Deserialize, Serialize};

use crate::hold::Hold;
use crate::lease::{Lease, Standing};
use crate::rest::Rest;
use crate::time::Moment;
use crate::{Fence, ProjectId, SessionId, TaskId, Timestamp};

/// A task as it is after its events so far.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Task {
    /// Its identity.
    pub id: TaskId,
    /// Where it belongs.
    pub project: ProjectId,
    /// What was asked for.
    #[serde(flatten)]
    pub spec: TaskSpec,
    /// When it was added.
    pub created_at: Timestamp,
    /// The fence of the newest lease.
    pub fence: Fence,
    /// The dependencies that have not come to what they must; an ended task keeps them, so that it
    /// waits again if it is retried.
    pub pending: Vec<Dependency>,
    /// The hold on this very task, if there is one.
    pub hold: Option<Hold>,
    /// The last rest, while it lasts and until something else has come of the task: the next one is longer.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rest: Option<Rest>,
    /// The attempts that came to nothing through no fault of the task.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub setbacks: u64,
    /// The fences that no lease of this history has: after a backup others may have had them.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub skipped: u64,
    /// What the current or last attempt has proved.
    pub evidence: Vec<Evidence>,
    /// What its session said when it had finished.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub report: Option<Report>,
    /// Where it is.
    pub state: TaskState,
    /// The number of its last event.
    pub version: u64,
}

/// What the looks of a task depend on besides the task.
#[derive(Debug, Clone, Copy)]
pub struct View<'a> {
    /// The time on the clock of its lease.
    pub now: &'a Moment,
    /// Whether a hold lies over the whole project or store.
    pub is_held_above: bool,
    /// Sessions whose holder was found dead.
    pub lost: &'a [SessionId],
}

impl<'a> View<'a> {
    /// Without holds, and with every holder alive.
    pub const fn at(now: &'a Moment) -> Self {
        Self {
            now,
            is_held_above: false,
            lost: &[],
        }
    }

    fn counts(&self, lease: &Lease) -> bool {
        match lease.standing(self.now) {
            Standing::Valid => true,
            Standing::Expired => false,
            Standing::Anchored(session) => !self.lost.contains(&session),
        }
    }
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde asks like this")]
const fn is_zero(number: &u64) -> bool {
    *number == 0
}

impl Task {
    /// Whether nobody has worked on it since the attempt with this number, and somebody still can.
    pub const fn is_untouched_since(&self, attempt: Fence) -> bool {
        self.fence.number() == attempt.number()
            && matches!(self.state, TaskState::Waiting | TaskState::Queued)
    }

    /// The attempts that say something about the task: those that trouble ended do not.
    pub const fn attempts(&self) -> u64 {
        self.leases().saturating_sub(self.setbacks)
    }

    /// How often it was handed out.
    pub const fn leases(&self) -> u64 {
        self.fence.number().saturating_sub(self.skipped)
    }

    /// The rest that it takes now.
    pub fn resting(&self, now: &Moment) -> Option<&Rest> {
        self.rest.as_ref().filter(|rest| rest.lasts_at(now))
    }

    /// What a person wants to see: the state with holds and leases that are over taken into account.
    pub fn phase(&self, view: &View<'_>) -> Phase {
        let is_handed_out = self.state.lease().is_some_and(|lease| view.counts(lease));
        let is_held = view.is_held_above || self.hold.is_some();
        match &self.state {
            TaskState::Done { .. } => Phase::Done,
            TaskState::Failed { .. } => Phase::Failed,
            TaskState::Blocked { .. } => Phase::Blocked,
            TaskState::Cancelled { .. } => Phase::Cancelled,
            TaskState::Leased { .. } if is_handed_out => Phase::Leased,
            TaskState::Running { .. } if is_handed_out => Phase::Running,
            TaskState::Waiting
            | TaskState::Queued
            | TaskState::Leased { .. }
            | TaskState::Running { .. }
                if is_held =>
            {
                Phase::Held
            }
            TaskState::Waiting => Phase::Waiting,
            TaskState::Queued | TaskState::Leased { .. } | TaskState::Running { .. }
                if self.resting(view.now).is_some() =>
            {
                Phase::Resting
            }
            TaskState::Queued | TaskState::Leased { .. } | TaskState::Running { .. } => {
                Phase::Queued
            }
        }
    }
}
