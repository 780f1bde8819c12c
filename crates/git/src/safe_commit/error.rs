//! Why there is no commit.

use std::io;
use std::path::PathBuf;

use handoff_process::Exit;

use super::{BoothError, StagingRefusal};
use crate::git::GitError;
use crate::head::HeadError;
use crate::kept_pack::KeepError;
use crate::tree_path::TreePath;

/// No commit was made, unless the variant says otherwise.
#[derive(Debug, thiserror::Error)]
pub enum SafeCommitError {
    /// Git failed.
    #[error("cannot make the commit")]
    Git(#[from] GitError),
    /// HEAD cannot be read.
    #[error("cannot tell what is checked out")]
    Head(#[from] HeadError),
    /// The declared paths are not fit for it.
    #[error(transparent)]
    Staging(#[from] StagingRefusal),
    /// There is no place to make it in.
    #[error(transparent)]
    Booth(#[from] BoothError),
    /// The index of the tree could not be read or written.
    #[error("cannot use the index of `{}`", .0.display())]
    Index(PathBuf, #[source] io::Error),
    /// What was made could not be brought to stable storage.
    #[error("cannot sync what is in `{}`", .0.display())]
    Sync(PathBuf, #[source] io::Error),
    /// A rebase or the like is under way.
    #[error("a {0} is under way in this tree")]
    UnderWay(&'static str),
    /// A merge is under way, and something is staged that is neither part of it nor declared.
    #[error("the merge would also commit {}", listed(.0))]
    NotMerged(Vec<TreePath>),
    /// A merge is under way, and these are still in conflict.
    #[error("the merge is not resolved in {}", listed(.0))]
    Unresolved(Vec<TreePath>),
    /// A hook takes unstaged edits off the disk, and others have some.
    #[error("the hook `{}` takes unstaged edits off the disk while it runs, and there are some of others: {}", .hook.display(), listed(.taken))]
    Stashing {
        /// The hook.
        hook: PathBuf,
        /// What would be taken away for a moment.
        taken: Vec<TreePath>,
    },
    /// A hook puts the whole tree back if a check fails, and others work in it.
    #[error("the hook `{}` puts the whole tree back if a check fails, and {}", .hook.display(), company(.peers))]
    PuttingBack {
        /// The hook.
        hook: PathBuf,
        /// Who; nobody if that is not known.
        peers: Vec<String>,
    },
    /// A hook, or git itself, said no.
    #[error("git did not make the commit: {}", .said.lines().last().unwrap_or("it does not say why"))]
    Refused {
        /// How it ended.
        exit: Exit,
        /// What it and the hooks said.
        said: String,
    },
    /// A hook staged more than was declared.
    #[error("the commit would also change {}", listed(.0))]
    Others(Vec<TreePath>),
    /// Somebody else moved the branch meanwhile.
    #[error("somebody moved the branch while the commit was made")]
    HeadMoved,
    /// The objects of the commit could not be kept from being pruned.
    #[error(transparent)]
    Keep(#[from] KeepError),
    /// The branch could not be moved.
    #[error("cannot move the branch")]
    Land(#[source] GitError),
}

impl SafeCommitError {
    /// What git and the hooks said as they failed.
    pub(super) fn said(&self) -> Option<&str> {
        let git = match self {
            Self::Refused { said, .. } => return Some(said),
            Self::Git(error) => Some(error),
            Self::Keep(error) => error.git(),
            Self::Head(_)
            | Self::Staging(_)
            | Self::Booth(_)
            | Self::Index(..)
            | Self::Sync(..)
            | Self::UnderWay(_)
            | Self::NotMerged(_)
            | Self::Unresolved(_)
            | Self::Stashing { .. }
            | Self::PuttingBack { .. }
            | Self::Others(_)
            | Self::HeadMoved
            | Self::Land(_) => None,
        };
        match git? {
            GitError::Failed { complaint, .. } => Some(complaint),
            GitError::Run { .. }
            | GitError::Answer { .. }
            | GitError::NoWorktree(_)
            | GitError::Path { .. } => None,
        }
    }

    /// Git or a hook was ended by somebody else, in the middle of something.
    pub(super) const fn is_killed(&self) -> bool {
        matches!(
            self,
            Self::Refused {
                exit: Exit::Signal(_),
                ..
            }
        )
    }
}

fn company(peers: &[String]) -> String {
    match peers {
        [] => "it cannot be told whether others work in it".to_owned(),
        [..] => format!("others work in it: {}", peers.join(", ")),
    }
}

fn listed(paths: &[TreePath]) -> String {
    let shown: Vec<_> = paths.iter().take(10).map(|it| format!("`{it}`")).collect();
    match paths.len().saturating_sub(shown.len()) {
        0 => shown.join(", "),
        more => format!("{} and {more} more", shown.join(", ")),
    }
}
