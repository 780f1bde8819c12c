//! Branches that attempts, batches and runs left. One goes only when all of it is in a branch that a person has, so that nothing is
//! lost with it but its name.

use handoff_core::batch::BatchState;
use handoff_core::task::Ending;
use handoff_core::{BranchName, CommitId, ProjectId};
use handoff_git::GitError;
use handoff_store::{StoreError, Transaction, batches, read, runs, tasks};

use super::clearing::{Found, What};
use super::verdict::{Kind, TaskFact, of_branch};
use super::whose::task_fact;
use crate::error::EngineError;
use crate::places::Attempt;
use crate::workshop::Workshop;

/// All branches of ours.
pub(super) fn branches(workshop: &mut Workshop<'_>) -> Result<Vec<Found>, EngineError> {
    let own = workshop.git.own_branches(workshop.repository);
    let mut found = vec![];
    for (branch, commit) in own.map_err(EngineError::Branches)? {
        let project = workshop.project;
        let of = read(workshop.store, |tx| whose(tx, project, &branch))?;
        let is_landed = is_free(workshop, &branch, &commit).map_err(EngineError::Branches)?;
        found.push(Found {
            kind: Kind::Branch,
            name: branch.to_string(),
            verdict: of_branch(of, is_landed),
            bytes: 0,
            what: What::Branch(branch, commit),
        });
    }
    Ok(found)
}

/// Whether it is gone; if not, it was moved, checked out or begun again, or whoever had its work has it no more.
pub(super) fn remove(
    workshop: &mut Workshop<'_>,
    branch: &BranchName,
    commit: &CommitId,
) -> Result<bool, EngineError> {
    let project = workshop.project;
    let of = read(workshop.store, |tx| whose(tx, project, branch))?;
    let is_landed = is_free(workshop, branch, commit).map_err(EngineError::Branches)?;
    let goes = of_branch(of, is_landed).goes();
    let (git, at) = (&workshop.git, workshop.repository);
    Ok(goes && git.remove_branch(at, branch, commit).is_ok())
}

/// Whether a person's branch has all of it, and nobody has it checked out.
fn is_free(
    workshop: &Workshop<'_>,
    branch: &BranchName,
    commit: &CommitId,
) -> Result<bool, GitError> {
    let (git, at) = (&workshop.git, workshop.repository);
    Ok(git.is_landed(at, commit)? && !git.is_checked_out(at, branch)?)
}

/// What is known of what left a branch.
fn whose(
    tx: &mut Transaction<'_>,
    project: ProjectId,
    branch: &BranchName,
) -> Result<TaskFact, StoreError> {
    let Some(name) = branch.as_str().strip_prefix("handoff/") else {
        return Ok(TaskFact::Foreign);
    };
    if let Some(fact) = of_attempt(tx, project, name)? {
        return Ok(fact);
    }
    if let Some(fact) = of_batch(tx, project, name)? {
        return Ok(fact);
    }
    of_run(tx, project, name)
}

fn of_attempt(
    tx: &mut Transaction<'_>,
    project: ProjectId,
    name: &str,
) -> Result<Option<TaskFact>, StoreError> {
    let mut words = name.rsplitn(3, '-');
    let (Some(_fence), Some(_digits), Some(task)) = (words.next(), words.next(), words.next())
    else {
        return Ok(None);
    };
    let Ok(task) = task.parse() else {
        return Ok(None);
    };
    let namesakes = tasks::namesakes(tx, project, &task)?;
    let is_its = |task: &&handoff_core::Task| name.starts_with(&Attempt::labels(task));
    match namesakes.iter().find(is_its) {
        Some(task) => task_fact(tx, task.id).map(Some),
        None => Ok(None),
    }
}

fn of_batch(
    tx: &mut Transaction<'_>,
    project: ProjectId,
    name: &str,
) -> Result<Option<TaskFact>, StoreError> {
    let Ok(name) = name.parse() else {
        return Ok(None);
    };
    let batch = match batches::named(tx, project, &name) {
        Err(StoreError::NotFound { .. }) => return Ok(None),
        found => found?,
    };
    Ok(Some(match batch.state {
        BatchState::Open | BatchState::FanIn { .. } => TaskFact::Open,
        BatchState::Ended { ending, .. } => match ending {
            Ending::Done | Ending::Cancelled => TaskFact::Ended,
            Ending::Failed => TaskFact::Failed,
            Ending::Blocked => TaskFact::Blocked,
        },
        BatchState::Cancelled { .. } => TaskFact::Ended,
    }))
}

fn of_run(
    tx: &mut Transaction<'_>,
    project: ProjectId,
    name: &str,
) -> Result<TaskFact, StoreError> {
    let Ok(name) = name.parse() else {
        return Ok(TaskFact::Foreign);
    };
    match runs::named(tx, project, &name) {
        Err(StoreError::NotFound { .. }) => Ok(TaskFact::Foreign),
        found => Ok(match found?.state.is_live() {
            true => TaskFact::Open,
            false => TaskFact::Ended,
        }),
    }
}
