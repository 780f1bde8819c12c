//! Collecting: what a session changed, checked against what it owns, in one commit on its own branch.

use std::error::Error as _;

use handoff_core::ownership::{CaseRule, RepoPath};
use handoff_core::task::{Evidence, Reason};
use handoff_core::{CommitId, Task};
use handoff_git::{CommitError, Repository, Snapshot, SnapshotError};

use crate::error::EngineError;
use crate::places::Attempt;
use crate::road::{Ending, reason};
use crate::workshop::Workshop;

/// How many paths a reason names.
const SHOWN: usize = 10;

/// What a session changed, as it was when the session had ended: a check that runs later in its tree changes nothing of it.
pub(crate) struct Harvest {
    pub(crate) paths: Vec<RepoPath>,
    snapshot: Snapshot,
}

/// What the session changed since `base`, before anything else runs in its tree; or how the attempt ends if it cannot be
/// taken: it needs a person, unless only this look was cut short.
pub(crate) fn harvest(
    workshop: &Workshop<'_>,
    task: &Task,
    at: &Repository,
    base: &CommitId,
) -> Result<Harvest, Ending> {
    let branch = Attempt::of(task).branch(task);
    let git = workshop.git.bound_to(at);
    match git.is_on_branch(at, &branch) {
        Ok(true) => {}
        Ok(false) => {
            let why = reason(&format!("the session left its branch `{branch}`"));
            return Err(Ending::Blocked(why));
        }
        Err(error) => return Err(unreadable(&error.into())),
    }
    let snapshot = git.snapshot(at).map_err(|error| unreadable(&error))?;
    let changes = git
        .changes_since(at, &snapshot, base)
        .map_err(|error| unreadable(&error.into()))?;
    let paths: Vec<_> = changes.into_iter().map(|change| change.path).collect();
    match foreign(task, &paths) {
        Some(reason) => Err(Ending::Blocked(reason)),
        None => Ok(Harvest { paths, snapshot }),
    }
}

/// Commits what was taken; a session that changed nothing leaves no commit.
pub(crate) fn commit(
    workshop: &Workshop<'_>,
    task: &Task,
    at: &Repository,
    harvest: &Harvest,
) -> Result<Option<Evidence>, EngineError> {
    commit_as(workshop, task, at, harvest, &message(task))
}

/// The same with another message.
pub(crate) fn commit_as(
    workshop: &Workshop<'_>,
    task: &Task,
    at: &Repository,
    harvest: &Harvest,
    message: &str,
) -> Result<Option<Evidence>, EngineError> {
    if harvest.paths.is_empty() {
        return Ok(None);
    }
    let git = workshop.git.bound_to(at);
    let commit = match git.commit_snapshot(at, &harvest.snapshot, message) {
        Ok(commit) => commit,
        // The session committed by itself, all of it.
        Err(CommitError::Empty) => git.head(at).map_err(EngineError::Base)?,
        Err(error) => return Err(error.into()),
    };
    let branch = Attempt::of(task).branch(task);
    Ok(Some(Evidence::Committed { branch, commit }))
}

/// A repository within the tree, a file that cannot be read, a link to git that is gone.
fn unreadable(error: &SnapshotError) -> Ending {
    let cause = error
        .source()
        .map_or_else(String::new, |cause| format!(": {cause}"));
    let why = reason(&format!(
        "what the session left cannot be taken: {error}{cause}"
    ));
    if error.is_cut_short() {
        Ending::GivenBack(why)
    } else {
        Ending::Blocked(why)
    }
}

fn foreign(task: &Task, paths: &[RepoPath]) -> Option<Reason> {
    let owns = task.spec.owns.as_ref()?;
    let outside: Vec<_> = paths
        .iter()
        .filter(|path| !owns.covers(path, CaseRule::NATIVE))
        .collect();
    if outside.is_empty() {
        return None;
    }
    Some(reason(&format!(
        "the session changed what it does not own: {}",
        listed(&outside)
    )))
}

/// The first of some paths, and how many more there are.
pub(crate) fn listed(paths: &[&RepoPath]) -> String {
    let shown: Vec<_> = { paths.iter() }
        .take(SHOWN)
        .map(|path| format!("`{path}`"))
        .collect();
    let more = match paths.len().saturating_sub(SHOWN) {
        0 => String::new(),
        more => format!(" and {more} more"),
    };
    format!("{}{more}", shown.join(", "))
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
