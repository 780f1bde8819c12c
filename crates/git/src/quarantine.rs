//! Uncommitted work, kept before its tree goes away.

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt as _;

use handoff_core::{BranchName, CommitId};

use crate::git::{Git, GitError};
use crate::repository::Repository;
use crate::safe_commit::hides_nothing;
use crate::snapshot::{Snapshot, SnapshotError};
use crate::tree_path::{TreePath, split};

/// The work was not kept; it is still where it was.
#[derive(Debug, thiserror::Error)]
pub enum QuarantineError {
    /// The tree could not be looked at.
    #[error("cannot take a snapshot of the working tree")]
    Snapshot(#[from] SnapshotError),
    /// The snapshot could not be kept.
    #[error("cannot keep the snapshot")]
    Keep(#[from] GitError),
    /// A repository is no place for so much.
    #[error(
        "its uncommitted files have {} MiB, and {} MiB are saved at most",
        .0 / MEBIBYTE,
        LIMIT / MEBIBYTE
    )]
    TooLarge(u64),
}

const MEBIBYTE: u64 = 1024 * 1024;
/// What is saved stays in the repository for good. More than this is rarely anybody's work, and a person decides.
const LIMIT: u64 = 1024 * MEBIBYTE;

impl Git {
    /// Keeps everything uncommitted in the tree of `at` as a commit on top of its HEAD, at
    /// `refs/handoff/quarantine/<branch>`. Nothing when all is committed.
    ///
    /// Ignored files are not kept, and nothing is if it is too large. An earlier quarantine of the same name stays reachable as the
    /// second parent; keeping the same work twice gives the same commit.
    pub fn quarantine(
        &self,
        at: &Repository,
        branch: &BranchName,
    ) -> Result<Option<CommitId>, QuarantineError> {
        if self.is_clean(at)? {
            return Ok(None);
        }
        let size = self.uncommitted_size(at)?;
        if size > LIMIT {
            return Err(QuarantineError::TooLarge(size));
        }
        let snapshot = self.snapshot(at)?;
        if snapshot.differences.is_empty() {
            return Ok(None);
        }
        let name = format!("refs/handoff/quarantine/{branch}");
        let earlier = self.resolve(at, &name)?;
        if let Some(kept) = &earlier
            && self.has(at, kept, &snapshot)?
        {
            return Ok(earlier);
        }
        let parents: Vec<_> = std::iter::once(&snapshot.head).chain(&earlier).collect();
        let message = format!("handoff: uncommitted work of {branch}\n");
        let commit = self.commit_kept(at, &snapshot.tree, &parents, &message);
        let (commit, kept) = commit.map_err(SnapshotError::from)?;
        self.keep(at, &name, &commit, earlier.as_ref())?;
        drop((kept, snapshot));
        self.fold_packs(at);
        Ok(Some(commit))
    }

    /// Whether git sees at one glance that there is nothing. It may not see everything, and then this is no proof.
    fn is_clean(&self, at: &Repository) -> Result<bool, GitError> {
        if !hides_nothing(&at.git_dir().join("index")) {
            return Ok(false);
        }
        let call = self.call_in_tree("status", at.tree()?).arguments([
            "--porcelain",
            "-z",
            "--no-renames",
            "--untracked-files=all",
            "--ignore-submodules=dirty",
        ]);
        Ok(call.run()?.is_empty())
    }

    /// How many bytes the files have that are not as the index has them, or not in it at all: what was staged is in git already.
    fn uncommitted_size(&self, at: &Repository) -> Result<u64, GitError> {
        let root = at.tree()?;
        let call = self.call_in_tree("ls-files", root).arguments([
            "-z",
            "--others",
            "--modified",
            "--exclude-standard",
        ]);
        let names = split(&call.run()?);
        let size = |name: &TreePath| {
            let path = root.join(OsStr::from_bytes(name.as_bytes()));
            path.symlink_metadata().map_or(0, |it| it.len())
        };
        Ok(names.iter().map(size).sum())
    }

    fn has(&self, at: &Repository, kept: &CommitId, new: &Snapshot) -> Result<bool, GitError> {
        let is_same_tree = self
            .compare(at, kept.as_str(), new.tree.as_str())?
            .is_empty();
        Ok(is_same_tree && self.resolve(at, &format!("{kept}^"))?.as_ref() == Some(&new.head))
    }

    fn keep(
        &self,
        at: &Repository,
        name: &str,
        commit: &CommitId,
        earlier: Option<&CommitId>,
    ) -> Result<(), GitError> {
        let nothing = "0".repeat(commit.as_str().len());
        let expected = earlier.map_or(nothing.as_str(), CommitId::as_str);
        self.call("update-ref", at.any_place())
            .arguments([
                "--create-reflog",
                "-m",
                "handoff: quarantine",
                "--end-of-options",
            ])
            .arguments([name, commit.as_str(), expected])
            .run()?;
        Ok(())
    }
}
