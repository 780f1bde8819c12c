//! Trees that are made while agents work, for those who begin next: filling a tree is what takes longest between two agents, and in
//! a large repository it takes many times longer than all the rest.
//!
//! A spare tree has the files of the commit that the last attempt began at, which is where the next one begins as well, or close
//! to it. A worker holds a lock beside each of its spares; one whose lock is free goes ([`crate::reconcile::spare_trees`]).

use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};

use handoff_core::{BranchName, CommitId};
use handoff_files::{Dir, Lock, filesystem};
use handoff_git::{NewTree, SpareTree};

use crate::error::EngineError;
use crate::workshop::Workshop;

/// How much of the disk is left free: a spare tree is a convenience.
const LEAST_FREE: u64 = 10 * 1024 * 1024 * 1024;

/// The spare trees of a worker.
#[derive(Debug)]
pub struct Stock {
    shelf: Mutex<Shelf>,
    /// With less than this free on the disk none are made.
    least_free: u64,
}

impl Default for Stock {
    fn default() -> Self {
        Self::leaving(LEAST_FREE)
    }
}

#[derive(Debug, Default)]
struct Shelf {
    /// Where the last attempt began; none if nobody has begun since they were all cleared away.
    base: Option<CommitId>,
    spares: Vec<Spare>,
}

#[derive(Debug)]
struct Spare {
    tree: SpareTree,
    /// Let go last: a tree without it is nobody's.
    lock: SpareLock,
}

impl Spare {
    fn remove(self, workshop: &Workshop<'_>) -> Result<(), EngineError> {
        let Self { tree, lock } = self;
        let gone = workshop
            .git
            .remove_worktree(workshop.repository, tree.path());
        drop(lock);
        Ok(gone?)
    }
}

/// Says that a worker has a spare tree. The file goes with it.
#[derive(Debug)]
struct SpareLock {
    path: PathBuf,
    _lock: Lock,
}

impl Drop for SpareLock {
    fn drop(&mut self) {
        std::fs::remove_file(&self.path).ok();
    }
}

impl Stock {
    /// One for which so many bytes of the disk stay free.
    pub fn leaving(least_free: u64) -> Self {
        let shelf = Mutex::default();
        Self { shelf, least_free }
    }

    /// Begins a worktree, in a spare one if there is any.
    pub(crate) fn begin_worktree(
        &self,
        workshop: &Workshop<'_>,
        path: &Path,
        branch: &BranchName,
        base: &CommitId,
    ) -> Result<NewTree, EngineError> {
        let (git, at) = (&workshop.git, workshop.repository);
        Ok(match self.take(base) {
            Some(Spare { tree, lock }) => {
                let begun = git.begin_worktree_in(tree, at, path, branch, base);
                drop(lock);
                begun?
            }
            None => git.begin_worktree(at, path, branch, base)?,
        })
    }

    /// One for this commit, rather than one for another.
    fn take(&self, base: &CommitId) -> Option<Spare> {
        let mut shelf = self.shelf();
        shelf.base = Some(base.clone());
        let fits = shelf.spares.iter().position(|it| it.tree.base() == base);
        let place = fits.or_else(|| shelf.spares.len().checked_sub(1))?;
        Some(shelf.spares.swap_remove(place))
    }

    /// Makes trees until there are `wanted`. Where there is no room for them there are none.
    pub fn lay_in(&self, workshop: &Workshop<'_>, wanted: usize) -> Result<(), EngineError> {
        while let Some(base) = self.lacks(wanted) {
            let places = &workshop.places;
            let place = Dir::create_private(&places.worktrees(workshop.project))?;
            if filesystem::free_space(place.path()).is_ok_and(|free| free < self.least_free) {
                return Ok(());
            }
            let path = places.spare(workshop.project);
            let lock = path.with_extension("lock");
            let Some(held) = Lock::try_acquire(&lock, "spare")? else {
                continue;
            };
            let lock = SpareLock {
                path: lock,
                _lock: held,
            };
            let tree = workshop.git.make_spare(workshop.repository, &path, &base)?;
            self.put(Spare { tree, lock }, workshop)?;
        }
        Ok(())
    }

    /// Keeps one, unless all were cleared away while it was made.
    fn put(&self, spare: Spare, workshop: &Workshop<'_>) -> Result<(), EngineError> {
        let mut shelf = self.shelf();
        if shelf.base.is_some() {
            shelf.spares.push(spare);
            return Ok(());
        }
        drop(shelf);
        spare.remove(workshop)
    }

    /// The commit for one more, if there are fewer than `wanted` and it is known where attempts begin.
    fn lacks(&self, wanted: usize) -> Option<CommitId> {
        let shelf = self.shelf();
        let is_short = shelf.spares.len() < wanted;
        shelf.base.clone().filter(|_| is_short)
    }

    /// Whether there is nothing to be cleared away. From here on none are made until somebody begins again.
    pub fn close(&self) -> bool {
        let mut shelf = self.shelf();
        shelf.base = None;
        shelf.spares.is_empty()
    }

    /// Removes them all. None are made until somebody begins again.
    pub fn clear(&self, workshop: &Workshop<'_>) -> Result<(), EngineError> {
        let Shelf { spares, .. } = std::mem::take(&mut *self.shelf());
        spares.into_iter().try_for_each(|it| it.remove(workshop))
    }

    fn shelf(&self) -> MutexGuard<'_, Shelf> {
        // Nobody leaves it half changed.
        self.shelf.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
