//! A look at where the code stands that git takes while something else is done.

use handoff_api::ExitCode;
use handoff_core::TreeState;
use handoff_engine::without_secrets;
use handoff_git::{Git, GitError, Look, Repository};
use handoff_operations::Failure;

use crate::context::Context;

/// A look that is being taken; none in a repository without a tree.
pub(crate) struct TreeLook(Option<Look>);

impl TreeLook {
    /// Begins to look at a worktree.
    pub(crate) fn begin(at: &Repository, ctx: &Context) -> Result<Self, Failure> {
        let git = Git::new(without_secrets(ctx.ambient.environment.clone()));
        match git.begin_status(at) {
            Ok(look) => Ok(Self(Some(look))),
            Err(GitError::NoWorktree(_)) => Ok(Self(None)),
            Err(error) => Err(unseen(&error)),
        }
    }

    /// Waits until it was taken.
    pub(crate) fn end(&mut self) -> Result<Option<TreeState>, Failure> {
        let seen = self.0.take().map(Look::finish).transpose();
        let status = seen.map_err(|error| unseen(&error))?;
        Ok(status.map(|status| status.tree))
    }
}

fn unseen(error: &GitError) -> Failure {
    Failure::new(ExitCode::Failed, "cannot tell how the code stands").because(error)
}
