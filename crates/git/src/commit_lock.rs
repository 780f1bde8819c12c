//! The one lock under which commits are made: of the repository, whichever worktree and whichever
//! home one comes from.

use std::path::PathBuf;

use handoff_core::Timestamp;
use handoff_files::{DirError, Holder, Lock, LockError};
use handoff_process::ancestors;

use crate::repository::Repository;

const FILE: &str = "commit.lock";

/// The right to make a commit. It ends when it is dropped, or with its holder.
#[derive(Debug)]
pub struct CommitLock {
    _lock: Lock,
}

/// The lock cannot be taken.
#[derive(Debug, thiserror::Error)]
pub enum CommitLockError {
    /// There is no place for it.
    #[error("cannot make a place for the lock on commits")]
    Place(#[source] DirError),
    /// Whoever has it waits for us: this runs in a hook of their commit.
    #[error("a commit cannot be made by a hook of another commit that is being made")]
    Within,
    /// It cannot be used.
    #[error("cannot lock the repository for a commit")]
    Lock(#[source] LockError),
}

impl CommitLock {
    /// Takes the lock if it is free.
    pub fn try_take(
        repository: &Repository,
        who: &str,
        now: Timestamp,
    ) -> Result<Option<Self>, CommitLockError> {
        let taken = Lock::try_acquire(&path(repository)?, &label(who, now));
        let taken = taken.map_err(CommitLockError::Lock)?;
        Ok(taken.map(|lock| Self { _lock: lock }))
    }

    /// Waits for the lock, unless that would be for ever.
    pub fn take(
        repository: &Repository,
        who: &str,
        now: Timestamp,
    ) -> Result<Self, CommitLockError> {
        let holder = Self::holder(repository)?;
        let is_above = |pid| ancestors().iter().any(|it| it.identity.pid == pid);
        if holder.is_some_and(|holder| is_above(holder.pid)) {
            return Err(CommitLockError::Within);
        }
        let taken = Lock::acquire(&path(repository)?, &label(who, now));
        taken
            .map(|lock| Self { _lock: lock })
            .map_err(CommitLockError::Lock)
    }

    /// Who has it, and since when, as far as they said.
    pub fn holder(repository: &Repository) -> Result<Option<Holder>, CommitLockError> {
        Lock::holder(&path(repository)?).map_err(CommitLockError::Lock)
    }
}

fn path(repository: &Repository) -> Result<PathBuf, CommitLockError> {
    let place = repository.own_dir().map_err(CommitLockError::Place)?;
    Ok(place.path().join(FILE))
}

fn label(who: &str, now: Timestamp) -> String {
    format!("{who}, since {now:.0}")
}
