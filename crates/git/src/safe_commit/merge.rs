//! Concluding a merge: the one time when a commit is more than the declared paths.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use handoff_core::CommitId;

use super::booth::{Booth, BoothError};
use crate::change;
use crate::git::{Git, GitError, commit_id};
use crate::repository::Repository;
use crate::tree_path::TreePath;

const MERGE_HEAD: &str = "MERGE_HEAD";
/// What git needs to conclude a merge, and takes away when it has.
const MERGE_FILES: [&str; 5] = [
    MERGE_HEAD,
    "MERGE_MSG",
    "MERGE_MODE",
    "MERGE_RR",
    "AUTO_MERGE",
];
/// What else may be under way, and how it is called.
const OTHERS: [(&str, &str); 5] = [
    ("CHERRY_PICK_HEAD", "cherry-pick"),
    ("REVERT_HEAD", "revert"),
    ("rebase-merge", "rebase"),
    ("rebase-apply", "rebase"),
    ("sequencer", "sequence of commits"),
];

/// What is under way in a tree, other than a merge, which a commit by path would tear apart.
pub(super) fn other_operation(git_dir: &Path) -> Option<&'static str> {
    let is_there = |(file, _): &&(&str, &str)| git_dir.join(file).exists();
    OTHERS.iter().find(is_there).map(|(_, name)| *name)
}

/// The commits that are being merged in; none if there is no merge.
pub(super) fn heads(git_dir: &Path) -> Vec<CommitId> {
    let text = fs::read_to_string(git_dir.join(MERGE_HEAD)).unwrap_or_default();
    text.lines().filter_map(|line| line.parse().ok()).collect()
}

/// Tells the booth of the merge.
pub(super) fn copy(git_dir: &Path, booth: &Booth) -> Result<(), BoothError> {
    for name in MERGE_FILES {
        if let Ok(bytes) = fs::read(git_dir.join(name)) {
            booth.write(name, &bytes)?;
        }
    }
    Ok(())
}

/// The merge is concluded. A file that cannot be removed makes git say that the merge still goes on, and nothing worse.
pub(super) fn forget(git_dir: &Path) {
    for name in MERGE_FILES {
        fs::remove_file(git_dir.join(name)).ok();
    }
}

/// What `git merge --squash` leaves to be committed.
const SQUASHED: &str = "SQUASH_MSG";

impl Git {
    /// Whoever commits the last of what a squashed merge staged concludes it; git takes its message away with any commit.
    pub(super) fn forget_squashed(&self, at: &Repository) -> Result<(), GitError> {
        let message = at.git_dir().join(SQUASHED);
        if message.exists() && self.staged_paths(at, None)?.is_empty() {
            // If it stays, the next commit without a message offers it, and nothing worse.
            fs::remove_file(message).ok();
        }
        Ok(())
    }

    /// The paths that the merge of these commits may change.
    pub(super) fn merged_paths(
        &self,
        at: &Repository,
        head: &CommitId,
        merged: &[CommitId],
    ) -> Result<BTreeSet<TreePath>, GitError> {
        let mut paths = BTreeSet::new();
        for other in merged {
            // Histories that have nothing in common: everything is merged in.
            let base = self.merge_base(at, head, other)?;
            let base = base.unwrap_or_else(|| head.clone());
            let differences = self.compare(at, base.as_str(), other.as_str())?;
            paths.extend(differences.iter().map(|it| TreePath::from_git(&it.path)));
        }
        Ok(paths)
    }

    /// Where two histories part; nowhere if they have nothing in common.
    pub(crate) fn merge_base(
        &self,
        at: &Repository,
        one: &CommitId,
        other: &CommitId,
    ) -> Result<Option<CommitId>, GitError> {
        let call = self.call("merge-base", at.any_place());
        let call = call.arguments(["--end-of-options", one.as_str(), other.as_str()]);
        let unknown = call.unknown_answer();
        match call.ask()? {
            Some(base) => Ok(Some(commit_id(&base).ok_or(unknown)?)),
            None => Ok(None),
        }
    }

    /// What is staged in the index of a git directory, compared with `parent`.
    pub(super) fn staged(
        &self,
        root: &Path,
        git_dir: &Path,
        parent: &str,
    ) -> Result<Vec<change::Difference>, GitError> {
        let call = self
            .call("diff-index", root)
            .git_dir(git_dir, root)
            .arguments([
                "--cached",
                "-z",
                "--raw",
                "--no-renames",
                "--ignore-submodules=none",
                "--end-of-options",
                parent,
            ]);
        let unknown = call.unknown_answer();
        change::parse(&call.run()?).ok_or(unknown)
    }
}
