//! Merging commits without a working tree, and putting a tree of our own to a commit.
//!
//! A merge is made in the object database: no hook, no index, no `MERGE_HEAD` that a killed process could leave. Whoever has its
//! time handed in makes the same commit again. Nothing points to it until somebody says so.
//!
//! Merge drivers that the configuration of the repository names do run, like its filters: without them a merge would get the
//! wrong content.

use std::time::Duration;

use handoff_core::{BranchName, CommitId, Timestamp};
use handoff_process::Exit;

use crate::git::{Git, GitError};
use crate::kept_pack::{KeepError, KeptPack, Wanted};
use crate::repository::Repository;

/// A merge that is wanted.
#[derive(Debug, Clone, Copy)]
pub struct Merge<'a> {
    /// What is there.
    pub ours: &'a CommitId,
    /// What comes to it.
    pub theirs: &'a CommitId,
    /// The message, trailers included.
    pub message: &'a str,
    /// The time that the commit bears.
    pub at: Timestamp,
}

/// What came of a merge.
#[derive(Debug)]
pub enum Merged {
    /// A commit with both; ours, if theirs was in it already. It must be kept until a ref names it.
    Clean(CommitId, Option<KeptPack>),
    /// These paths need somebody to decide; nothing was made.
    Conflict(Vec<String>),
}

impl Git {
    /// Merges one commit into another, with a commit of two parents even where none would be needed: each part stays visible.
    pub fn merge(&self, at: &Repository, merge: &Merge<'_>) -> Result<Merged, KeepError> {
        if self.is_ancestor(at, merge.theirs, merge.ours)? {
            return Ok(Merged::Clean(merge.ours.clone(), None));
        }
        self.apart(at, KeepError::git, |private| {
            let merged = self.writing_to(private).merge_unkept(at, merge)?;
            let Merged::Clean(tip, _) = &merged else {
                return Ok(merged);
            };
            let known = vec![merge.ours, merge.theirs];
            let kept = self.keep_objects(at, private, &Wanted::Beyond { tip, known })?;
            Ok(Merged::Clean(tip.clone(), Some(kept)))
        })
    }

    fn merge_unkept(&self, at: &Repository, merge: &Merge<'_>) -> Result<Merged, GitError> {
        let call = self
            .call("merge-tree", at.any_place())
            .arguments(["--write-tree", "-z", "--name-only", "--no-messages"])
            .arguments([merge.ours.as_str(), merge.theirs.as_str()]);
        let unknown = call.unknown_answer();
        let (exit, answer) = call.run_judged()?;
        let mut fields = answer.split(|&byte| byte == 0).filter(|it| !it.is_empty());
        let Some(tree) = fields.next().and_then(crate::git::commit_id) else {
            return Err(unknown);
        };
        if exit == Exit::Code(0) {
            return self
                .seal_merge(at, merge, &tree)
                .map(|commit| Merged::Clean(commit, None));
        }
        let paths = fields.map(|it| String::from_utf8_lossy(it).into_owned());
        Ok(Merged::Conflict(paths.collect()))
    }

    fn seal_merge(
        &self,
        at: &Repository,
        merge: &Merge<'_>,
        tree: &CommitId,
    ) -> Result<CommitId, GitError> {
        let since = Duration::try_from(merge.at.duration_since(Timestamp::UNIX_EPOCH));
        let date = format!("@{} +0000", since.unwrap_or_default().as_secs());
        let git = self.dated(&date);
        git.commit_tree(at, tree, &[merge.ours, merge.theirs], merge.message)
    }

    /// Moves the branch of a tree of our own to a commit, with everything in the tree. What is not committed there, and not
    /// ignored, is gone.
    pub fn put_tree(&self, at: &Repository, commit: &CommitId) -> Result<(), GitError> {
        let root = at.tree()?;
        self.call_in_tree("reset", root)
            .arguments(["--hard", "--quiet", commit.as_str()])
            .run()?;
        self.call_in_tree("clean", root)
            .arguments(["--force", "-d", "--quiet"])
            .run()?;
        Ok(())
    }

    /// Points a branch of ours to a commit, from where it is. What it had and the commit has not is kept under
    /// `refs/handoff/quarantine/` first.
    pub fn point_branch(
        &self,
        at: &Repository,
        branch: &BranchName,
        commit: &CommitId,
    ) -> Result<(), GitError> {
        let before = self.resolve_branch(at, branch)?;
        if before.as_ref() == Some(commit) {
            return Ok(());
        }
        if let Some(before) = &before
            && !self.is_ancestor(at, before, commit)?
        {
            let short = &before.as_str()[..12];
            let kept = format!("refs/handoff/quarantine/{branch}-{short}");
            self.update_ref(at, &kept, before, None)?;
        }
        let name = format!("refs/heads/{branch}");
        self.update_ref(at, &name, commit, Some(before.as_ref()))
    }

    /// Without an expectation the ref may be anywhere.
    fn update_ref(
        &self,
        at: &Repository,
        name: &str,
        commit: &CommitId,
        expected: Option<Option<&CommitId>>,
    ) -> Result<(), GitError> {
        let nothing = "0".repeat(commit.as_str().len());
        let expected = expected.map(|it| it.map_or(nothing.as_str(), CommitId::as_str));
        self.call("update-ref", at.any_place())
            .arguments([
                "--create-reflog",
                "-m",
                "handoff: fan-in",
                "--end-of-options",
            ])
            .arguments([name, commit.as_str()])
            .arguments(expected)
            .run()?;
        Ok(())
    }
}
