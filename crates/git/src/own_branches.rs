//! The branches that are ours, and whether somebody has their work on a branch of their own.

use std::slice;

use handoff_core::{BranchName, CommitId};

use crate::git::{Git, GitError};
use crate::ref_moves::RefMove;
use crate::ref_watch::Phase;
use crate::repository::Repository;
use crate::saved_work::refs_in;

const HEADS: &str = "refs/heads/";
const OWN: &str = "refs/heads/handoff/";

impl Git {
    /// The branches that attempts, batches and runs left, with where they point.
    pub fn own_branches(&self, at: &Repository) -> Result<Vec<(BranchName, CommitId)>, GitError> {
        let call = self.call("for-each-ref", at.any_place());
        let refs = refs_in(call.arguments([OWN]), OWN)?;
        let named = refs.into_iter().filter_map(|(name, commit)| {
            // One that somebody made by hand may be called anything.
            let branch = name.strip_prefix(HEADS)?.parse().ok()?;
            Some((branch, commit))
        });
        Ok(named.collect())
    }

    /// Whether a commit is in a local branch that is not ours, with all that leads to it.
    pub fn is_landed(&self, at: &Repository, commit: &CommitId) -> Result<bool, GitError> {
        let call = self.call("for-each-ref", at.any_place());
        let call = call.arguments([&format!("--contains={commit}"), HEADS]);
        let branches = refs_in(call, HEADS)?;
        Ok(branches.iter().any(|(name, _)| !name.starts_with(OWN)))
    }

    /// Removes a branch of ours that points to this commit. One that was moved since stays, and that is an error.
    pub fn remove_branch(
        &self,
        at: &Repository,
        branch: &BranchName,
        commit: &CommitId,
    ) -> Result<(), GitError> {
        let nothing = nothing_like(commit);
        self.move_branch(at, branch, (commit.as_str(), &nothing), "handoff: gc")
    }

    /// Makes a branch at a commit. One that is there already stays where it is, and that is an error.
    pub fn make_branch(
        &self,
        at: &Repository,
        branch: &BranchName,
        commit: &CommitId,
    ) -> Result<(), GitError> {
        let nothing = nothing_like(commit);
        let there = (nothing.as_str(), commit.as_str());
        self.move_branch(at, branch, there, "handoff: rescue")
    }

    /// Moves a branch from one commit to another, unless it is elsewhere by now.
    fn move_branch(
        &self,
        at: &Repository,
        branch: &BranchName,
        (old, new): (&str, &str),
        message: &str,
    ) -> Result<(), GitError> {
        let moved = RefMove {
            old: old.to_owned(),
            new: new.to_owned(),
            name: format!("{HEADS}{branch}"),
        };
        // Our hook does not run here; not written down it would be told as foreign.
        at.note_moves(Phase::Prepared, slice::from_ref(&moved)).ok();
        self.call("update-ref", at.any_place())
            .arguments(["-m", message, "--end-of-options"])
            .arguments([moved.name.as_str(), new, old])
            .run()?;
        Ok(())
    }
}

/// What git calls the place of a branch that is not there.
fn nothing_like(commit: &CommitId) -> String {
    "0".repeat(commit.as_str().len())
}
