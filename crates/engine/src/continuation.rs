//! Where the work on a task begins that waited for others: with what they did.
//!
//! What a task did is on a branch of its own until somebody lands it. A successor that began at HEAD would not find it, and whoever
//! went to bed after writing down three tasks in a row would find three beginnings in the morning. So it begins at the commit of the
//! one before it; where several were waited for, or HEAD went on meanwhile, at a merge of them in the object database.

use handoff_core::task::Part;
use handoff_core::{CommitId, Task, TaskState};
use handoff_git::{Git, KeptPack, Merge, Merged, Repository};
use handoff_store::{read, tasks};

use crate::error::EngineError;
use crate::seal::committed;
use crate::workshop::Workshop;

/// Where a successor begins.
#[derive(Debug)]
pub(crate) struct Beginning {
    pub(crate) commit: CommitId,
    /// Needed until a ref names the commit.
    pub(crate) kept: Vec<KeptPack>,
    /// What its session is to know of that.
    pub(crate) told: String,
}

/// Where the work on a task begins that would begin at `ground` by itself. None if there is nothing that has not landed there.
pub(crate) fn beginning(
    workshop: &mut Workshop<'_>,
    task: &Task,
    ground: &CommitId,
) -> Result<Option<Beginning>, EngineError> {
    let mut commit = ground.clone();
    let (mut names, mut kept) = (vec![], vec![]);
    for dependency in &task.spec.after {
        let before = read(workshop.store, |tx| tasks::get(tx, dependency.task))?;
        // What the parts of its own batch did is in the ground already.
        let batch = before.spec.part.and_then(Part::batch);
        if batch.is_some() && batch == task.spec.part.and_then(Part::batch) {
            continue;
        }
        let Some(work) = left_by(&before) else {
            continue;
        };
        let (git, at) = (&workshop.git, workshop.repository);
        if let Some((with, objects)) = join(git, at, &commit, (&before, &work), task)? {
            commit = with;
            kept.extend(objects);
            names.push(format!("`{}`", before.spec.name));
        }
    }
    if names.is_empty() {
        return Ok(None);
    }
    let told = format!(
        "This task comes after others: you start at {:.12}, with what {} left. It has not landed; without it you would start at {:.12}.",
        commit.as_str(),
        names.join(" and "),
        ground.as_str()
    );
    Ok(Some(Beginning { commit, kept, told }))
}

/// The work of a task that is done; one that failed left nothing to build on.
fn left_by(task: &Task) -> Option<CommitId> {
    match task.state {
        TaskState::Done { .. } => committed(&task.evidence),
        TaskState::Waiting
        | TaskState::Queued
        | TaskState::Leased { .. }
        | TaskState::Running { .. }
        | TaskState::Failed { .. }
        | TaskState::Blocked { .. }
        | TaskState::Cancelled { .. } => None,
    }
}

/// One commit with another's work; none if it is there already, or if nobody has that work any more.
fn join(
    git: &Git,
    at: &Repository,
    ours: &CommitId,
    (before, theirs): (&Task, &CommitId),
    task: &Task,
) -> Result<Option<(CommitId, Option<KeptPack>)>, EngineError> {
    let cannot = EngineError::Continue;
    // A person may have thrown the branch away; the package still tells what was done.
    if !git.has_commit(at, theirs).map_err(cannot)?
        || git.is_ancestor(at, theirs, ours).map_err(cannot)?
    {
        return Ok(None);
    }
    if git.is_ancestor(at, ours, theirs).map_err(cannot)? {
        return Ok(Some((theirs.clone(), None)));
    }
    let name = &before.spec.name;
    let message = format!(
        "Merge {name} for {}\n\nHandoff-Task: {name}\nHandoff-Task-Id: {}\n",
        task.spec.name, before.id
    );
    // The same commit for everybody who does it again.
    let merge = Merge {
        ours,
        theirs,
        message: &message,
        at: task.created_at,
    };
    match git.merge(at, &merge)? {
        Merged::Clean(commit, kept) => Ok(Some((commit, kept))),
        Merged::Conflict(paths) => Err(EngineError::NoBeginning {
            needed: name.to_string(),
            paths,
        }),
    }
}
