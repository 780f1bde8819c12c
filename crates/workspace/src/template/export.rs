//! Writing the defaults out, to be changed.

use handoff_files::atomic::{self, Mode};
use handoff_files::{DirError, WriteError};

use super::{FOLDER, LIMIT, Template};
use crate::trash::Stamp;
use crate::workspace::Workspace;

/// What to do with a file that somebody has changed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Overwrite {
    /// Leave it.
    Never,
    /// Write the default, and keep the old text in the trash.
    Always,
}

/// What became of each file.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Exported {
    /// Written.
    pub written: Vec<Template>,
    /// Changed by somebody, and left.
    pub kept: Vec<Template>,
    /// There already, as the program would write it.
    pub same: Vec<Template>,
}

/// A default could not be written.
#[derive(Debug, thiserror::Error)]
pub enum ExportError {
    /// A directory or file cannot be used.
    #[error(transparent)]
    Place(#[from] DirError),
    /// A file cannot be written.
    #[error(transparent)]
    Write(#[from] WriteError),
}

impl Workspace {
    /// Writes defaults into the folder of overrides. Callers hold the lock of the workspace.
    pub fn export(
        &self,
        templates: &[Template],
        overwrite: Overwrite,
        stamp: Stamp,
    ) -> Result<Exported, ExportError> {
        let folder = self.dir().make_dir(FOLDER)?;
        let mut exported = Exported::default();
        for &template in templates {
            let name = template.file_name();
            let found = match folder.read(name, LIMIT) {
                Ok(bytes) => Some(bytes),
                Err(error) if error.is_not_found() => None,
                Err(error) => return Err(error.into()),
            };
            let text = template.default_text().as_bytes();
            match (found, overwrite) {
                (Some(found), _) if found == text => exported.same.push(template),
                (Some(_), Overwrite::Never) => exported.kept.push(template),
                (Some(found), Overwrite::Always) => {
                    self.keep_in_trash(name, &found, stamp)?;
                    atomic::replace(&folder, name, text, Mode::Shared)?;
                    exported.written.push(template);
                }
                (None, _) => {
                    atomic::create_new(&folder, name, text, Mode::Shared)?;
                    exported.written.push(template);
                }
            }
        }
        Ok(exported)
    }
}
