//! A commit in a tree that others use too: the lock, what the dead left, the rights of the caller,
//! and the commit itself.
//!
//! The fence is checked after the hooks have run and before the branch moves, with the lock in
//! hand: a session that lost its lease meanwhile moves nothing.

use handoff_core::caller::{Action, Forbidden};
use handoff_core::ownership::{CaseRule, RepoPath};
use handoff_core::task::{Command, Refusal};
use handoff_core::{Caller, CommitId, Fence, Task, TaskId, TaskName};
use handoff_files::Holder;
use handoff_git::safe_commit::repair::{RepairError, has_booths};
use handoff_git::{
    CommitError, CommitLock, CommitLockError, CommitRequest, Git, GitError, HeadError, Made,
    Repository, SafeCommitError, TreePath,
};
use handoff_store::{Store, StoreError, read, tasks};

/// How often somebody else may move the branch under a commit before we give up.
const ATTEMPTS: u8 = 3;
/// Branches of ours, on which nobody else builds before they have landed.
const OWN_BRANCHES: &str = "refs/heads/handoff/";

/// By which right a session commits.
#[derive(Debug, Clone)]
pub struct Right {
    /// Who.
    pub caller: Caller,
    /// For which task, with which fence.
    pub lease: Option<(TaskId, Fence)>,
}

/// No commit was made, unless the cause says otherwise.
#[derive(Debug, thiserror::Error)]
pub enum SharedCommitError {
    /// The lock.
    #[error(transparent)]
    Lock(#[from] CommitLockError),
    /// What somebody left could not be put right.
    #[error(transparent)]
    Repair(#[from] RepairError),
    /// The commit.
    #[error(transparent)]
    Commit(#[from] SafeCommitError),
    /// The commit of one in a sandbox.
    #[error(transparent)]
    Held(#[from] CommitError),
    /// HEAD.
    #[error("cannot tell what is checked out")]
    Head(#[from] HeadError),
    /// The ledger.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// The table of callers says no.
    #[error(transparent)]
    Forbidden(#[from] Forbidden),
    /// It **was made**, and may be lost again at a power cut.
    #[error("the commit was made, but could not be brought to stable storage")]
    Sync(#[source] std::io::Error),
    /// The lease is gone.
    #[error("the task `{task}` is not yours any more")]
    Lease {
        /// Which.
        task: TaskName,
        /// Why.
        #[source]
        refusal: Refusal,
    },
    /// The task does not own these.
    #[error("the task `{task}` does not own {}", listed(.paths))]
    NotOwned {
        /// Which.
        task: TaskName,
        /// What it does not own.
        paths: Vec<TreePath>,
    },
}

fn listed(paths: &[TreePath]) -> String {
    let shown: Vec<_> = paths.iter().map(|path| format!("`{path}`")).collect();
    shown.join(", ")
}

/// What a commit needs from where it is asked for.
pub struct Counter<'a> {
    /// How git is called.
    pub git: &'a Git,
    /// The tree.
    pub repository: &'a Repository,
    /// The ledger, where the right depends on it.
    pub store: Option<&'a mut dyn Store>,
    /// By which right.
    pub right: &'a Right,
    /// What others who wait are told.
    pub who: &'a str,
}

impl Counter<'_> {
    /// Makes the commit. `waiting` is called once if somebody else is at it.
    pub fn commit(
        &mut self,
        request: &CommitRequest<'_>,
        waiting: &mut dyn FnMut(Option<Holder>),
    ) -> Result<Made, SharedCommitError> {
        self.check_branch(self.repository.read_head()?.branch.as_deref())?;
        self.check_lease(request.paths)?;
        let mut outlook = match self.git.look_ahead(self.repository, request) {
            Ok(outlook) => Some(outlook),
            // What somebody left, or is doing at this moment, may be what makes it refuse.
            Err(_) if has_booths(self.repository) => None,
            Err(error) => return Err(error.into()),
        };
        let lock = self.lock(request, waiting)?;
        self.git.repair_commits(&lock, self.repository)?;
        let mut left = ATTEMPTS;
        let landed = loop {
            let ahead = outlook.take();
            let mut prepared = self.git.prepare(&lock, self.repository, request, ahead)?;
            if left < ATTEMPTS {
                prepared.explain_again("somebody moved the branch while the commit was made");
            }
            // Another branch may have been checked out while we waited.
            self.check_branch(prepared.branch())?;
            self.check_lease(request.paths)?;
            left -= 1;
            match prepared.land() {
                Err(SafeCommitError::HeadMoved) if left > 0 => {}
                landed => break landed?,
            }
        };
        drop(lock);
        let (made, synced) = landed.settle();
        self.git.fold_packs(self.repository);
        self.git.run_post_commit(self.repository, &made);
        synced.map_err(SharedCommitError::Sync)?;
        Ok(made)
    }

    /// Makes the commit for a session in a sandbox: what it could write runs nowhere else. So hooks do not run, and filters
    /// run in a sandbox of their own.
    pub fn commit_held(
        &mut self,
        request: &CommitRequest<'_>,
        waiting: &mut dyn FnMut(Option<Holder>),
    ) -> Result<CommitId, SharedCommitError> {
        let paths: Result<Vec<_>, _> = request.paths.iter().map(named).collect();
        let paths = paths.map_err(CommitError::from)?;
        self.check_lease(request.paths)?;
        let lock = self.lock(request, waiting)?;
        self.git.repair_commits(&lock, self.repository)?;
        self.check_branch(self.repository.read_head()?.branch.as_deref())?;
        self.check_lease(request.paths)?;
        let made = self
            .git
            .commit_paths_held(self.repository, &paths, request.message);
        drop(lock);
        let commit = match made {
            // Nobody else stages in this tree: the next command has it right.
            Ok(commit) | Err(CommitError::IndexLeft { commit, .. }) => commit,
            Err(error) => return Err(error.into()),
        };
        let synced = self.git.sync_branch(self.repository);
        synced.map_err(SharedCommitError::Sync)?;
        Ok(commit)
    }

    fn lock(
        &self,
        request: &CommitRequest<'_>,
        waiting: &mut dyn FnMut(Option<Holder>),
    ) -> Result<CommitLock, CommitLockError> {
        let (repository, who, at) = (self.repository, self.who, request.at);
        if let Some(lock) = CommitLock::try_take(repository, who, at)? {
            return Ok(lock);
        }
        waiting(CommitLock::holder(repository)?);
        CommitLock::take(repository, who, at)
    }

    fn check_branch(&self, branch: Option<&str>) -> Result<(), SharedCommitError> {
        if branch.is_some_and(|branch| branch.starts_with(OWN_BRANCHES)) {
            return Ok(());
        }
        Ok(self.right.caller.may(Action::CommitShared)?)
    }

    fn check_lease(&mut self, paths: &[TreePath]) -> Result<(), SharedCommitError> {
        let (Some((id, fence)), Some(store)) = (self.right.lease, self.store.as_deref_mut()) else {
            return Ok(());
        };
        let (task, now) = read(store, |tx| Ok((tasks::get(tx, id)?, tx.now.clone())))?;
        // Nothing is recorded: this only asks whether the lease could be renewed.
        let renewal = task.decide(&Command::Renew { fence }, &self.right.caller, &now);
        match renewal {
            Ok(_) => check_ownership(&task, paths),
            Err(refusal) => Err(SharedCommitError::Lease {
                task: task.spec.name,
                refusal,
            }),
        }
    }
}

fn named(path: &TreePath) -> Result<RepoPath, GitError> {
    path.to_repo_path().ok_or_else(|| GitError::Path {
        path: path.to_string(),
        source: None,
    })
}

fn check_ownership(task: &Task, paths: &[TreePath]) -> Result<(), SharedCommitError> {
    let Some(owns) = &task.spec.owns else {
        return Ok(());
    };
    let is_owned = |path: &&TreePath| {
        path.to_repo_path()
            .is_some_and(|path| owns.covers(&path, CaseRule::NATIVE))
    };
    let foreign: Vec<_> = paths.iter().filter(|it| !is_owned(it)).cloned().collect();
    if foreign.is_empty() {
        return Ok(());
    }
    Err(SharedCommitError::NotOwned {
        task: task.spec.name.clone(),
        paths: foreign,
    })
}
