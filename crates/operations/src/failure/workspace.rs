//! What the errors of the workspace mean at a door.

use handoff_api::ExitCode;
use handoff_files::{DirError, MoveError, WriteError};
use handoff_workspace::listing::ArchiveError;
use handoff_workspace::prompt::MaterialError;
use handoff_workspace::switch::SwitchError;
use handoff_workspace::template::ExportError;
use handoff_workspace::trash::{CleanError, UndoError};
use handoff_workspace::trust::TrustError;
use handoff_workspace::{ConfigError, ScaffoldError, TemplateError, WorkspaceError, WorthError};

use crate::failure::Failure;

/// What to do about a feature that is not there.
const SEE_FEATURES: &str = "see what there is: `handoff list`";

impl From<TemplateError> for Failure {
    fn from(error: TemplateError) -> Self {
        Self::failed("a template of this workspace cannot be used")
            .because(&error)
            .hint("mend the file, or move it out of `.handoff/templates/` to use the built-in text")
    }
}

impl From<ConfigError> for Failure {
    fn from(error: ConfigError) -> Self {
        Self::failed("the settings of this workspace cannot be used")
            .because(&error)
            .hint("the settings are `language`, `budget` and a table `[checks]` of names and commands")
    }
}

impl From<WorthError> for Failure {
    fn from(error: WorthError) -> Self {
        match error {
            WorthError::Template(error) => error.into(),
            WorthError::Read(error) => Self::failed("cannot read a document").because(&error),
        }
    }
}

impl From<MaterialError> for Failure {
    fn from(error: MaterialError) -> Self {
        match error {
            MaterialError::Worth(error) => error.into(),
            MaterialError::Read(error) => Self::failed("cannot read a document").because(&error),
        }
    }
}

impl From<ExportError> for Failure {
    fn from(error: ExportError) -> Self {
        match error {
            ExportError::Place(error) => unusable(&error),
            ExportError::Write(error) => unwritten(&error),
        }
    }
}

impl From<ScaffoldError> for Failure {
    fn from(error: ScaffoldError) -> Self {
        match error {
            ScaffoldError::Place(error) => unusable(&error),
            ScaffoldError::Write(error) => unwritten(&error),
            ScaffoldError::Workspace(error) => error.into(),
        }
    }
}

impl From<SwitchError> for Failure {
    fn from(error: SwitchError) -> Self {
        match error {
            SwitchError::NoFeature(_) => {
                Self::new(ExitCode::NotFound, error.to_string()).hint(SEE_FEATURES)
            }
            SwitchError::Workspace(error) => error.into(),
            SwitchError::Place(error) => unusable(&error),
            SwitchError::Move(error) => unmoved(&error),
            SwitchError::Write(error) => unwritten(&error),
            SwitchError::Link(error) => {
                Self::failed("cannot make the feature current").because(&error)
            }
        }
    }
}

impl From<ArchiveError> for Failure {
    fn from(error: ArchiveError) -> Self {
        match error {
            ArchiveError::NoFeature(_) => {
                Self::new(ExitCode::NotFound, error.to_string()).hint(SEE_FEATURES)
            }
            ArchiveError::Workspace(error) => error.into(),
            ArchiveError::Place(error) => unusable(&error),
            ArchiveError::Clear(error) => error.into(),
            ArchiveError::Move(error) => unmoved(&error),
        }
    }
}

impl From<CleanError> for Failure {
    fn from(error: CleanError) -> Self {
        match error {
            CleanError::NoCurrent => Self::new(ExitCode::Conflict, error.to_string())
                .hint("choose the one to keep: `handoff list`, then `handoff switch <feature>`")
                .hint("see what cleaning everything would do: `handoff clean --force --dry-run`"),
            CleanError::Workspace(error) => error.into(),
            CleanError::Place(error) => unusable(&error),
            CleanError::Move(error) => unmoved(&error),
        }
    }
}

impl From<UndoError> for Failure {
    fn from(error: UndoError) -> Self {
        match error {
            UndoError::Nothing => Self::new(ExitCode::NotFound, error.to_string()),
            UndoError::OnlyDisplaced(_) => Self::new(ExitCode::NotFound, error.to_string())
                .hint("look into it, and move what you miss into a folder of `.handoff/features/`"),
            UndoError::Taken(ref name) => Self::new(ExitCode::Conflict, error.to_string())
                .hint(format!("put that one away first: `handoff archive {name}`")),
            UndoError::Workspace(error) => error.into(),
            UndoError::Place(error) => unusable(&error),
            UndoError::Move(error) => unmoved(&error),
        }
    }
}

impl From<WorkspaceError> for Failure {
    fn from(error: WorkspaceError) -> Self {
        Self::failed("cannot use the workspace").because(&error)
    }
}

impl From<TrustError> for Failure {
    fn from(error: TrustError) -> Self {
        Self::new(ExitCode::Unavailable, "cannot tell what is trusted").because(&error)
    }
}

pub fn unusable(error: &DirError) -> Failure {
    let code = if error.is_out_of_space() {
        ExitCode::NoSpace
    } else {
        ExitCode::Failed
    };
    Failure::new(code, "cannot use the workspace").because(error)
}

pub fn unwritten(error: &WriteError) -> Failure {
    let code = if error.is_out_of_space() {
        ExitCode::NoSpace
    } else if error.is_outcome_unknown() {
        ExitCode::OutcomeUnknown
    } else {
        ExitCode::Failed
    };
    Failure::new(code, "cannot write into the workspace").because(error)
}

fn unmoved(error: &MoveError) -> Failure {
    Failure::failed("cannot move a folder of the workspace").because(error)
}
