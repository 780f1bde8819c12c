//! Why no backup was made or put back, and what is safe to do then.

use handoff_api::ExitCode;
use handoff_engine::backup::BackupError;

use crate::failure::Failure;

impl From<BackupError> for Failure {
    fn from(error: BackupError) -> Self {
        let code = match &error {
            BackupError::Store(_) | BackupError::Busy | BackupError::InUse(_) => {
                ExitCode::Unavailable
            }
            BackupError::Complete(_)
            | BackupError::NotEmpty(_)
            | BackupError::Incomplete(_)
            | BackupError::Inside(_)
            | BackupError::NoDirectory(_) => ExitCode::Conflict,
            BackupError::NoManifest(_) | BackupError::NothingKept(_) => ExitCode::NotFound,
            BackupError::Place(cause) if cause.is_not_found() => ExitCode::NotFound,
            BackupError::TooNew { .. }
            | BackupError::Damaged(_)
            | BackupError::Unsound(_)
            | BackupError::Package(..) => ExitCode::Damaged,
            BackupError::Place(_)
            | BackupError::Write(_)
            | BackupError::Lock(_)
            | BackupError::Io(..) => ExitCode::Failed,
        };
        let hint = hint_for_backup(&error);
        let failure = if let BackupError::Store(error) = error {
            error.into()
        } else {
            Self::of(code, &error)
        };
        hint.into_iter().fold(failure, Self::hint)
    }
}

fn hint_for_backup(error: &BackupError) -> Option<&'static str> {
    Some(match error {
        BackupError::Busy => "wait until it has ended",
        BackupError::InUse(_) => {
            "let them end, or stop them: `handoff worker stop`, `handoff ps`, `handoff stop --id NAME`"
        }
        BackupError::Complete(_) | BackupError::NotEmpty(_) | BackupError::Inside(_) => {
            "name a directory that is new or empty"
        }
        BackupError::Incomplete(_) => {
            "name another directory; a person who is sure repeats the command with `--yes`"
        }
        BackupError::TooNew { .. } => "use the version of handoff that made it",
        BackupError::NoManifest(_) | BackupError::Damaged(_) => {
            "nothing was changed; use another backup, and keep this one as it is"
        }
        BackupError::Unsound(_) | BackupError::Package(..) => {
            "see what is wrong and what is safe: `handoff doctor --audit`"
        }
        BackupError::NothingKept(_) => "see what is kept: `ls -d $HANDOFF_HOME/before-restore-*`",
        BackupError::Store(_)
        | BackupError::NoDirectory(_)
        | BackupError::Place(_)
        | BackupError::Write(_)
        | BackupError::Lock(_)
        | BackupError::Io(..) => return None,
    })
}
