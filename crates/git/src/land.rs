//! Bringing a branch of ours into a branch of a person: forward only, and never under anyone.

use std::path::PathBuf;
use std::slice;

use handoff_core::{BranchName, CommitId};

use crate::commit_lock::CommitLock;
use crate::git::{Git, GitError};
use crate::head::HeadError;
use crate::ref_moves::RefMove;
use crate::ref_watch::Phase;
use crate::repository::Repository;
use crate::worktree::Checkout;

/// A branch that moved forward.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Landed {
    /// Which; without `refs/heads/`.
    pub into: String,
    /// Where it was.
    pub from: CommitId,
    /// Where it is.
    pub to: CommitId,
    /// How many commits that are; none if it was there already.
    pub commits: u64,
}

/// Why a branch waits.
#[derive(Debug, thiserror::Error)]
pub enum LandError {
    /// Git failed.
    #[error("cannot bring the branch in")]
    Git(#[from] GitError),
    /// HEAD.
    #[error("cannot tell what is checked out")]
    Head(#[from] HeadError),
    /// There is no such branch.
    #[error("there is no branch `{0}`")]
    NoBranch(String),
    /// It would have to be merged.
    #[error("`{into}` has {ahead} commits that `{branch}` does not have")]
    Diverged {
        /// What was to land.
        branch: String,
        /// Where.
        into: String,
        /// How many.
        ahead: u64,
    },
    /// The tree has changes that are not committed.
    #[error("the tree has changes that are not committed: {}", shown(.0))]
    Dirty(Vec<String>),
    /// Somebody has it checked out.
    #[error("`{into}` is checked out in `{}`", .tree.display())]
    CheckedOut {
        /// Which.
        into: String,
        /// Where.
        tree: PathBuf,
    },
    /// HEAD is not on a branch.
    #[error("no branch is checked out here")]
    Detached,
}

fn shown(paths: &[String]) -> String {
    let shown: Vec<_> = paths
        .iter()
        .take(5)
        .map(|path| format!("`{path}`"))
        .collect();
    match paths.len().saturating_sub(shown.len()) {
        0 => shown.join(", "),
        more => format!("{} and {more} more", shown.join(", ")),
    }
}

const HEADS: &str = "refs/heads/";

impl Git {
    /// Moves `into`, the branch that is checked out here unless another is named, forward to `branch`.
    pub fn land(
        &self,
        _lock: &CommitLock,
        at: &Repository,
        branch: &BranchName,
        into: Option<&BranchName>,
    ) -> Result<Landed, LandError> {
        let here = at.read_head()?.branch;
        let target = match into {
            Some(into) => format!("{HEADS}{into}"),
            None => here.clone().ok_or(LandError::Detached)?,
        };
        let plan = self.plan_landing(at, branch, &target)?;
        if plan.commits == 0 {
            return Ok(plan);
        }
        let moved = RefMove {
            old: plan.from.to_string(),
            new: plan.to.to_string(),
            name: target.clone(),
        };
        // Not written down it would be told as foreign, which is the safe mistake.
        let note = |phase| at.note_moves(phase, slice::from_ref(&moved)).ok();
        note(Phase::Prepared);
        if here.as_deref() == Some(target.as_str()) {
            self.forward_tree(at, &plan)?;
        } else {
            self.forward_ref(at, &target, &plan)?;
        }
        note(Phase::Committed);
        Ok(plan)
    }

    fn plan_landing(
        &self,
        at: &Repository,
        branch: &BranchName,
        target: &str,
    ) -> Result<Landed, LandError> {
        let short = target.strip_prefix(HEADS).unwrap_or(target).to_owned();
        let to = self.resolve(at, &format!("{HEADS}{branch}"))?;
        let to = to.ok_or_else(|| LandError::NoBranch(branch.to_string()))?;
        let from = self.resolve(at, target)?;
        let from = from.ok_or_else(|| LandError::NoBranch(short.clone()))?;
        let count = |range: String| -> Result<u64, GitError> {
            let call = self.call("rev-list", at.any_place());
            let call = call.arguments(["--count", "--end-of-options", &range]);
            let unknown = call.unknown_answer();
            let answer = String::from_utf8_lossy(&call.run()?).trim_end().to_owned();
            answer.parse().ok().ok_or(unknown)
        };
        let ahead = count(format!("{to}..{from}"))?;
        if ahead > 0 && count(format!("{from}..{to}"))? > 0 {
            return Err(LandError::Diverged {
                branch: branch.to_string(),
                into: short,
                ahead,
            });
        }
        let commits = count(format!("{from}..{to}"))?;
        Ok(Landed {
            into: short,
            from,
            to,
            commits,
        })
    }

    /// Tree, index and branch together, as git does it. It refuses what would be overwritten.
    fn forward_tree(&self, at: &Repository, plan: &Landed) -> Result<(), LandError> {
        let status = self.status(at)?;
        if !status.edited.is_empty() {
            return Err(LandError::Dirty(status.edited));
        }
        let call = self.user_call("merge", at.tree()?);
        let call = call.arguments(["--ff-only", "--quiet", "--end-of-options", plan.to.as_str()]);
        call.run()?;
        Ok(())
    }

    fn forward_ref(&self, at: &Repository, target: &str, plan: &Landed) -> Result<(), LandError> {
        let is_there = |checkout: &Checkout| matches!(checkout, Checkout::Branch { full_name, .. } if full_name == target);
        let trees = self.list_worktrees(at)?;
        if let Some(tree) = trees.into_iter().find(|tree| is_there(&tree.checkout)) {
            return Err(LandError::CheckedOut {
                into: plan.into.clone(),
                tree: tree.path,
            });
        }
        self.call("update-ref", at.any_place())
            .arguments(["-m", "handoff: land", "--end-of-options", target])
            .arguments([plan.to.as_str(), plan.from.as_str()])
            .run()?;
        Ok(())
    }
}
