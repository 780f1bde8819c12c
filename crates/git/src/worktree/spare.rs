//! Trees that are made before anybody needs them: filling one takes longer than all the rest of making it.

use std::path::Path;

use handoff_core::{BranchName, CommitId};

use super::{Changing, NewTree, WorktreeError, on_branch, remove_leftover};
use crate::git::{Begun, Git};
use crate::repository::Repository;
use crate::worktree_record::WorktreeRecord;

/// A tree that nobody works in yet. Git knows it as one that is being made: what is left of it when its owner dies holds nothing
/// of anybody, and goes without being saved.
#[derive(Debug)]
pub struct SpareTree {
    record: WorktreeRecord,
    base: CommitId,
}

impl SpareTree {
    /// Where it is.
    pub fn path(&self) -> &Path {
        self.record.tree()
    }

    /// The commit whose files it has.
    pub const fn base(&self) -> &CommitId {
        &self.base
    }
}

impl Git {
    /// Makes a tree with the files of `base`, for whoever needs one next.
    pub fn make_spare(
        &self,
        repository: &Repository,
        path: &Path,
        base: &CommitId,
    ) -> Result<SpareTree, WorktreeError> {
        let changing = Changing::begin(repository)?;
        let made = WorktreeRecord::make(repository, path, base.as_str());
        changing.end(&made)?;
        let record = made.map_err(|error| WorktreeError::Note(path.to_owned(), error))?;
        let filled = self.fill(&record, base).and_then(Begun::finish);
        if let Err(error) = filled {
            self.remove_worktree(repository, path)?;
            return Err(error.into());
        }
        let base = base.clone();
        Ok(SpareTree { record, base })
    }

    /// Begins a worktree as [`Git::begin_worktree`] does, in a tree that was made before. What differs between its commit and `base`
    /// is brought up to date.
    pub fn begin_worktree_in(
        &self,
        spare: SpareTree,
        repository: &Repository,
        path: &Path,
        branch: &BranchName,
        base: &CommitId,
    ) -> Result<NewTree, WorktreeError> {
        let before = spare.path().to_owned();
        let changing = Changing::begin(repository)?;
        let moved = spare.record.move_to(repository, path, &on_branch(branch));
        changing.end(&moved)?;
        let Ok(record) = moved else {
            // It is of no use, and one more can be made.
            for place in [&before, path] {
                if repository.has_half_made_tree(place) {
                    self.remove_worktree(repository, place)?;
                }
            }
            remove_leftover(&before)?;
            return self.begin_worktree(repository, path, branch, base);
        };
        let is_there = spare.base == *base;
        let filling = self
            .begin_branch(repository, &record, branch, base)
            .and_then(|()| (!is_there).then(|| self.fill(&record, base)).transpose());
        self.making(repository, record, filling)
    }
}
