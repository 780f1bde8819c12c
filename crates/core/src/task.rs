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
//! [`Phase::Held`]. `Done` never changes; the three other endings can be opened again by `retry`.
//!
//! [`Task::decide`] says what a command means, [`Task::apply`] what an event means. Rows in a store
//! are nothing but the fold of their events.

mod command;
mod decide;
mod event;
mod fold;
#[cfg(test)]
mod model;
mod spec;
mod state;
mod text;

pub use command::{Command, Refusal};
pub use event::{Evidence, TaskEvent};
pub use fold::ReplayError;
pub use spec::{Dependency, Priority, TaskSpec, Until};
pub use state::{Ending, Phase, TaskState};
pub use text::{Brief, Reason, Summary, TextError, VerifyCommand};

use serde::{Deserialize, Serialize};

use crate::hold::Hold;
use crate::time::Moment;
use crate::{Fence, ProjectId, TaskId, Timestamp};

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
    /// The fence of the newest lease; also the number of attempts so far.
    pub fence: Fence,
    /// The dependencies that have not come to what they must; an ended task keeps them, so that it
    /// waits again if it is retried.
    pub pending: Vec<Dependency>,
    /// The hold on this very task, if there is one.
    pub hold: Option<Hold>,
    /// What the current or last attempt has proved.
    pub evidence: Vec<Evidence>,
    /// Where it is.
    pub state: TaskState,
    /// The number of its last event.
    pub version: u64,
}

impl Task {
    /// What a person wants to see: the state with holds and run-out leases taken into account.
    pub fn phase(&self, now: &Moment, is_held_above: bool) -> Phase {
        let handed_out = self
            .state
            .lease()
            .is_some_and(|lease| lease.standing(now) != crate::lease::Standing::Expired);
        match &self.state {
            TaskState::Leased { .. } if handed_out => Phase::Leased,
            TaskState::Running { .. } if handed_out => Phase::Running,
            TaskState::Done { .. } => Phase::Done,
            TaskState::Failed { .. } => Phase::Failed,
            TaskState::Blocked { .. } => Phase::Blocked,
            TaskState::Cancelled { .. } => Phase::Cancelled,
            TaskState::Waiting
            | TaskState::Queued
            | TaskState::Leased { .. }
            | TaskState::Running { .. }
                if is_held_above || self.hold.is_some() =>
            {
                Phase::Held
            }
            TaskState::Waiting => Phase::Waiting,
            TaskState::Queued | TaskState::Leased { .. } | TaskState::Running { .. } => {
                Phase::Queued
            }
        }
    }
}
