//! A commit that was interrupted is finished or forgotten.

use handoff_core::Timestamp;
use handoff_git::safe_commit::repair::{self, RepairError, Repaired};
use handoff_git::{CommitLock, CommitLockError, Git, Repository};

/// Why interrupted commits stay as they are.
#[derive(Debug, thiserror::Error)]
pub enum UnfinishedError {
    /// The lock.
    #[error(transparent)]
    Lock(#[from] CommitLockError),
    /// What was left.
    #[error(transparent)]
    Repair(#[from] RepairError),
}

/// Puts right what interrupted commits left. Where somebody is committing at this moment nothing is done: they do it.
pub fn unfinished_commits(
    git: &Git,
    repository: &Repository,
    now: Timestamp,
) -> Result<Repaired, UnfinishedError> {
    if !repair::has_leftovers(repository) {
        return Ok(Repaired::default());
    }
    match CommitLock::try_take(repository, "repair", now)? {
        Some(lock) => Ok(git.repair_commits(&lock, repository)?),
        None => Ok(Repaired::default()),
    }
}
