//! A worktree without a lease is nobody's: what is in it is saved, then it goes.

use std::path::Path;

use handoff_core::{Task, TaskId, TaskState};
use handoff_files::{Dir, Lock};
use handoff_store::{StoreError, read, tasks};

use crate::error::EngineError;
use crate::places::Attempt;
use crate::reconcile::{Repair, Repaired, stray_sessions};
use crate::workshop::Workshop;

/// Saves and removes the worktrees of attempts that are over and that nobody works in any more.
pub fn orphaned_worktrees(workshop: &mut Workshop<'_>) -> Result<Repaired, EngineError> {
    let occupied = stray_sessions(workshop)?;
    let mut repaired = Repaired::default();
    for attempt in attempts(workshop)? {
        let Some(task) = known(workshop, attempt.task)? else {
            continue;
        };
        if is_live(&task, attempt) || occupied.contains(&attempt) {
            continue;
        }
        let path = workshop.places.worktree(task.project, attempt);
        match retire(workshop, &task, attempt) {
            Ok(Retired::Gone) => repaired.repairs.push(Repair::TreeRetired(path)),
            Ok(Retired::Occupied) => {}
            Err(error) => repaired.stuck.push((path, error)),
        }
    }
    Ok(repaired)
}

/// What became of a worktree that was to go.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Retired {
    /// It is gone.
    Gone,
    /// Somebody still works in it.
    Occupied,
}

/// The attempts that have a worktree, or the lock of one that was never begun.
pub(crate) fn attempts(workshop: &Workshop<'_>) -> Result<Vec<Attempt>, EngineError> {
    let mut names = match Dir::open(&workshop.places.worktrees(workshop.project)) {
        Ok(dir) => dir.names()?,
        Err(error) if error.is_not_found() => return Ok(vec![]),
        Err(error) => return Err(error.into()),
    };
    names.sort();
    let mut attempts: Vec<_> = names
        .iter()
        .filter_map(|name| Attempt::from_directory(&Path::new(name).with_extension("")))
        .collect();
    attempts.dedup();
    Ok(attempts)
}

/// Who has a worktree.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Tenancy {
    /// Its attempt is over, and nobody works there.
    Over(Box<Task>),
    /// Somebody works there, or attends to whoever does.
    Occupied,
    /// Its attempt is not over in the ledger, but nobody works there any more: a worker takes it up, or gives it back.
    Deserted,
    /// The ledger does not know its task.
    Foreign,
}

/// Who has the worktree of an attempt. Looks only.
pub(crate) fn tenancy(
    workshop: &mut Workshop<'_>,
    attempt: Attempt,
) -> Result<Tenancy, EngineError> {
    let Some(task) = known(workshop, attempt.task)? else {
        return Ok(Tenancy::Foreign);
    };
    let lock = workshop.places.worktree_lock(task.project, attempt);
    if Lock::is_held(&lock)? {
        return Ok(Tenancy::Occupied);
    }
    if !is_live(&task, attempt) {
        return Ok(Tenancy::Over(Box::new(task)));
    }
    // An agent goes on without its worker, as long as its holder lives.
    if let TaskState::Running { session, .. } = &task.state
        && Lock::is_held(&workshop.places.holder_lock(*session))?
    {
        return Ok(Tenancy::Occupied);
    }
    Ok(Tenancy::Deserted)
}

fn is_live(task: &Task, attempt: Attempt) -> bool {
    let lease = task.state.lease();
    lease.is_some_and(|lease| lease.fence == attempt.fence)
}

/// A directory that names a task of another ledger is not ours to judge.
fn known(workshop: &mut Workshop<'_>, id: TaskId) -> Result<Option<Task>, EngineError> {
    match read(workshop.store, |tx| tasks::get(tx, id)) {
        Ok(task) => Ok(Some(task)),
        Err(StoreError::NotFound { .. }) => Ok(None),
        Err(error) => Err(error.into()),
    }
}

/// Saves what is uncommitted in an attempt's worktree to `refs/handoff/quarantine/…`, then removes the worktree. Its branch
/// stays.
pub fn retire(
    workshop: &mut Workshop<'_>,
    task: &Task,
    attempt: Attempt,
) -> Result<Retired, EngineError> {
    let lock = workshop.places.worktree_lock(task.project, attempt);
    let Some(held) = Lock::try_acquire(&lock, "retire")? else {
        return Ok(Retired::Occupied);
    };
    let path = workshop.places.worktree(task.project, attempt);
    save(workshop, task, attempt)?;
    workshop.git.remove_worktree(workshop.repository, &path)?;
    // The attempt is over and its lock is ours, so nobody moves its branch.
    workshop
        .git
        .unlock_branch(workshop.repository, &attempt.branch(task))?;
    // An attempt never comes back, so nobody will want this lock again.
    std::fs::remove_file(&lock).ok();
    drop(held);
    Ok(Retired::Gone)
}

/// Saves what is uncommitted in an attempt's worktree. Saving the same twice changes nothing.
pub(crate) fn save(
    workshop: &Workshop<'_>,
    task: &Task,
    attempt: Attempt,
) -> Result<(), EngineError> {
    let path = workshop.places.worktree(task.project, attempt);
    // One that was never finished has nothing in it that a session made. What a session wrote into `.git` is not asked.
    let linked = workshop.repository.linked_at(&path);
    let is_half_made = workshop.repository.has_half_made_tree(&path);
    let Some(at) = linked.filter(|_| !is_half_made) else {
        return Ok(());
    };
    let name = attempt.label(task).parse();
    let name = name.expect("a label is a plain name");
    let linked = at.relink();
    linked.map_err(|error| EngineError::Relink(path.clone(), error))?;
    let saved = workshop.git.bound_to(&at).quarantine(&at, &name);
    saved.map_err(|source| EngineError::Quarantine {
        path,
        source: Box::new(source),
    })?;
    Ok(())
}
