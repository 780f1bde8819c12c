//! Why no commit was made, in words that help.

use handoff_api::ExitCode;
use handoff_engine::SharedCommitError;
use handoff_git::{CommitError, SafeCommitError, StagingRefusal, TreePath};
use handoff_operations::Failure;

/// How many files a hint names.
const SHOWN: usize = 8;

pub(super) fn of(error: SharedCommitError) -> Failure {
    match error {
        SharedCommitError::Store(error) => error.into(),
        SharedCommitError::Forbidden(error) => Failure::from(error).hint(
            "work on the files and say what you did; the one who brings the results together commits",
        ),
        SharedCommitError::Commit(error) => of_commit(&error),
        SharedCommitError::Held(error) => of_held(&error),
        error @ SharedCommitError::Lease { .. } => Failure::of(ExitCode::LeaseLost, &error)
            .hint("stop working on this task; what you have is still in your tree"),
        error @ SharedCommitError::NotOwned { .. } => Failure::of(ExitCode::Forbidden, &error)
            .hint("commit what the task owns, and leave a note about the rest"),
        error @ SharedCommitError::Sync(_) => Failure::of(ExitCode::OutcomeUnknown, &error)
            .hint("look whether it is there: `git log -1`"),
        error @ SharedCommitError::Lock(_) => Failure::of(ExitCode::Unavailable, &error),
        error @ (SharedCommitError::Repair(_) | SharedCommitError::Head(_)) => {
            Failure::of(ExitCode::Failed, &error)
        }
    }
}

fn of_held(error: &CommitError) -> Failure {
    let code = match error {
        CommitError::Empty => ExitCode::NothingToCommit,
        CommitError::Others(_)
        | CommitError::NestedRepository(_)
        | CommitError::HeadMoved { .. } => ExitCode::Conflict,
        CommitError::Git(_)
        | CommitError::Keep(_)
        | CommitError::Quarters(_)
        | CommitError::IndexLeft { .. } => ExitCode::Failed,
    };
    Failure::of(code, error)
}

fn of_commit(error: &SafeCommitError) -> Failure {
    let failure = Failure::of(code(error), error);
    match hint(error) {
        Some(hint) => failure.hint(hint),
        None => failure,
    }
}

fn code(error: &SafeCommitError) -> ExitCode {
    match error {
        SafeCommitError::Staging(refusal) => code_of_staging(refusal),
        SafeCommitError::HeadMoved
        | SafeCommitError::UnderWay(_)
        | SafeCommitError::NotMerged(_)
        | SafeCommitError::Unresolved(_)
        | SafeCommitError::Others(_)
        | SafeCommitError::Stashing { .. }
        | SafeCommitError::PuttingBack { .. } => ExitCode::Conflict,
        SafeCommitError::Git(_)
        | SafeCommitError::Head(_)
        | SafeCommitError::Booth(_)
        | SafeCommitError::Index(..)
        | SafeCommitError::Sync(..)
        | SafeCommitError::Refused { .. }
        | SafeCommitError::Keep(_)
        | SafeCommitError::Land(_) => ExitCode::Failed,
    }
}

fn code_of_staging(refusal: &StagingRefusal) -> ExitCode {
    match refusal {
        StagingRefusal::Unchanged => ExitCode::NothingToCommit,
        StagingRefusal::Unknown(_) => ExitCode::NotFound,
        StagingRefusal::Directory { .. } => ExitCode::Usage,
        StagingRefusal::TwoVersions(_)
        | StagingRefusal::Conflict(_)
        | StagingRefusal::NestedRepository(_)
        | StagingRefusal::Ignored(_) => ExitCode::Conflict,
    }
}

fn hint(error: &SafeCommitError) -> Option<String> {
    Some(match error {
        SafeCommitError::Staging(refusal) => return hint_for_staging(refusal),
        SafeCommitError::HeadMoved => "nothing was changed; try again".to_owned(),
        SafeCommitError::UnderWay(_) => {
            "`git status` says how to go on with it; commit afterwards".to_owned()
        }
        SafeCommitError::NotMerged(_) => {
            "name these as well if they belong to it, or let their owner commit first".to_owned()
        }
        SafeCommitError::Unresolved(_) => "resolve them, and name them here".to_owned(),
        SafeCommitError::Others(_) => {
            "nothing was changed; name these as well if they belong to it".to_owned()
        }
        SafeCommitError::Stashing { .. } => {
            "commit when the others are done, or work in a worktree of your own".to_owned()
        }
        SafeCommitError::PuttingBack { .. } => {
            "`lint-staged --no-stash` in the hook leaves the files of others alone; or commit when the others are done".to_owned()
        }
        SafeCommitError::Git(_)
        | SafeCommitError::Head(_)
        | SafeCommitError::Booth(_)
        | SafeCommitError::Index(..)
        | SafeCommitError::Sync(..)
        | SafeCommitError::Refused { .. }
        | SafeCommitError::Keep(_)
        | SafeCommitError::Land(_) => return None,
    })
}

fn hint_for_staging(refusal: &StagingRefusal) -> Option<String> {
    Some(match refusal {
        StagingRefusal::TwoVersions(_) => {
            "`--staged` commits what is staged, `--worktree` the files as they are now".to_owned()
        }
        StagingRefusal::Directory { changed, .. } if changed.is_empty() => {
            "nothing has changed in it".to_owned()
        }
        StagingRefusal::Directory { changed, .. } => {
            format!("changed in it: {}", shown(changed))
        }
        StagingRefusal::Unknown(_) => "paths are relative to where you are".to_owned(),
        StagingRefusal::Ignored(_) => {
            "if it belongs into the repository, `git add --force` says so".to_owned()
        }
        StagingRefusal::Conflict(_)
        | StagingRefusal::NestedRepository(_)
        | StagingRefusal::Unchanged => return None,
    })
}

fn shown(paths: &[TreePath]) -> String {
    let named: Vec<_> = paths.iter().take(SHOWN).map(ToString::to_string).collect();
    match paths.len().saturating_sub(SHOWN) {
        0 => named.join(" "),
        more => format!("{} and {more} more", named.join(" ")),
    }
}
