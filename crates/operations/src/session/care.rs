//! What is looked after while a session lives.

use std::path::{Path, PathBuf};

use handoff_api::ExitCode;
use handoff_session::stall::Policy;

use crate::failure::Failure;

/// What is looked after while a session lives.
#[derive(Debug, Clone, Default)]
pub struct Care {
    /// When it is taken for stuck, and what is done then; none leaves it in peace.
    pub policy: Option<Policy>,
    /// Files that its agent is told of when they change.
    pub files: Vec<PathBuf>,
}

impl Care {
    /// The file may come later, its directory may not.
    pub fn file(path: &Path, cwd: &Path) -> Result<PathBuf, Failure> {
        let path = cwd.join(path);
        let directory = path.parent().and_then(|it| it.canonicalize().ok());
        match (directory, path.file_name()) {
            (Some(directory), Some(name)) if directory.is_dir() => Ok(directory.join(name)),
            _ => {
                let text = format!("there is no directory for the file `{}`", path.display());
                Err(Failure::new(ExitCode::NotFound, text))
            }
        }
    }
}
