//! Attempts without a worker: which there are. [`crate::Walk::take_over`] goes on with one.

use handoff_core::lease::Tenure;
use handoff_core::{SessionId, Task, TaskState};
use handoff_files::Lock;
use handoff_session::catalogue;
use handoff_store::{read, tasks};

use crate::error::EngineError;
use crate::places::Attempt;
use crate::ticket::Ticket;
use crate::workshop::Workshop;

/// The attempts that nobody attends to: their worker is dead, their session lives or has ended well enough to be judged.
pub fn adoptable(workshop: &mut Workshop<'_>) -> Result<Vec<Task>, EngineError> {
    let project = workshop.project;
    let running = read(workshop.store, |tx| tasks::handed_out(tx, project))?;
    let mut found = vec![];
    for task in running {
        let Some(session) = session_of(&task) else {
            continue;
        };
        let is_ours = Ticket::read(&workshop.places, session)
            .is_some_and(|ticket| (ticket.task, ticket.fence) == (task.id, task.fence));
        let is_attended = Lock::is_held(&workshop.places.worker_lock(session))?;
        if is_ours && !is_attended && has_begun(workshop, session)? {
            found.push(task);
        }
    }
    Ok(found)
}

/// Whether somebody removed the worktree of an attempt under its session. A whole place that is gone was not removed by anybody who
/// meant this one.
pub fn is_bereft(workshop: &Workshop<'_>, task: &Task) -> bool {
    let path = workshop.places.worktree(task.project, Attempt::of(task));
    !path.exists() && workshop.places.worktrees(task.project).is_dir()
}

/// The session that works on a task, as far as the ledger knows it.
pub(crate) fn session_of(task: &Task) -> Option<SessionId> {
    if let TaskState::Running { session, .. } = &task.state {
        return Some(*session);
    }
    match task.state.lease()?.tenure {
        Tenure::Anchored { session } => Some(session),
        Tenure::Timed(_) => None,
    }
}

fn has_begun(workshop: &Workshop<'_>, session: SessionId) -> Result<bool, EngineError> {
    let places = workshop.places.of_sessions();
    let known = catalogue::by_id(&places, session).map_err(EngineError::Session)?;
    Ok(known.is_some())
}
