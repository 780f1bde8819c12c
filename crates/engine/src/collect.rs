//! Collecting: what a session changed, checked against what it owns, in one commit on its own branch.

use handoff_core::ownership::{CaseRule, RepoPath};
use handoff_core::task::{Evidence, Reason};
use handoff_core::{CommitId, Task};
use handoff_git::{CommitError, Repository};

use crate::error::EngineError;
use crate::places::Attempt;
use crate::workshop::Workshop;

/// What there was to collect.
pub(crate) enum Collected {
    /// The session changed nothing.
    Nothing,
    /// Its work is in a commit.
    Committed(Evidence),
    /// It changed what it does not own; nothing was committed.
    Foreign(Reason),
}

/// Commits what the session changed since `base`, or says what it had no right to change.
pub(crate) fn collect(
    workshop: &Workshop<'_>,
    task: &Task,
    at: &Repository,
    base: &CommitId,
) -> Result<Collected, EngineError> {
    let changes = workshop.git.changed_paths(at, base)?;
    let paths: Vec<_> = changes.into_iter().map(|change| change.path).collect();
    if paths.is_empty() {
        return Ok(Collected::Nothing);
    }
    if let Some(reason) = foreign(task, &paths) {
        return Ok(Collected::Foreign(reason));
    }
    let commit = match workshop.git.commit_paths(at, &paths, &message(task)) {
        Ok(commit) | Err(CommitError::IndexLeft { commit, .. }) => commit,
        // The session committed by itself, all of it.
        Err(CommitError::Empty) => workshop.git.head(at).map_err(EngineError::Base)?,
        Err(error) => return Err(error.into()),
    };
    let branch = Attempt::of(task).branch(task);
    Ok(Collected::Committed(Evidence::Committed { branch, commit }))
}

fn foreign(task: &Task, paths: &[RepoPath]) -> Option<Reason> {
    let owns = task.spec.owns.as_ref()?;
    let outside: Vec<_> = paths
        .iter()
        .filter(|path| !owns.covers(path, CaseRule::NATIVE))
        .map(|it| format!("`{it}`"))
        .collect();
    let shown = outside
        .iter()
        .take(10)
        .cloned()
        .collect::<Vec<_>>()
        .join(", ");
    let more = outside.len().saturating_sub(10);
    let more = if more > 0 {
        format!(" and {more} more")
    } else {
        String::new()
    };
    let text = format!("the session changed what it does not own: {shown}{more}");
    (!outside.is_empty()).then(|| text.parse().expect("a short text without NUL"))
}

/// The first line of the brief, and trailers that lead back to the ledger.
fn message(task: &Task) -> String {
    let subject = task
        .spec
        .brief
        .as_str()
        .trim()
        .lines()
        .next()
        .unwrap_or_default();
    let subject: String = subject.chars().take(72).collect();
    format!(
        "{subject}\n\nHandoff-Task: {}\nHandoff-Task-Id: {}\nHandoff-Fence: {}\n",
        task.spec.name, task.id, task.fence
    )
}
