//! What is known of the task that something belongs to.

use handoff_core::task::Part;
use handoff_core::{TaskId, TaskState};
use handoff_store::{StoreError, Transaction, runs, tasks};

use super::verdict::TaskFact;

/// What is known of a task.
pub(super) fn task_fact(tx: &mut Transaction<'_>, id: TaskId) -> Result<TaskFact, StoreError> {
    let task = match tasks::get(tx, id) {
        Err(StoreError::NotFound { .. }) => return Ok(TaskFact::Foreign),
        found => found?,
    };
    let stopped = match task.state {
        TaskState::Done { .. } | TaskState::Cancelled { .. } => return Ok(TaskFact::Ended),
        TaskState::Waiting
        | TaskState::Queued
        | TaskState::Leased { .. }
        | TaskState::Running { .. } => return Ok(TaskFact::Open),
        TaskState::Failed { .. } => TaskFact::Failed,
        TaskState::Blocked { .. } => TaskFact::Blocked,
    };
    // Nobody can take up a phase by itself: it is its run that waits for a person, if it still does.
    match task.spec.part.and_then(Part::run) {
        Some(run) if !runs::get(tx, run)?.state.is_live() => Ok(TaskFact::Ended),
        Some(_) | None => Ok(stopped),
    }
}
