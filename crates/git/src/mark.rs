//! The mark that says which project a repository is, in `handoff/project` of its common directory.
//!
//! It is written once and never changed. One that cannot be read is left as it is: writing a new
//! one would split the project from its tasks.

use std::path::PathBuf;

use handoff_core::{ProjectMark, project};
use handoff_files::atomic::create_new;
use handoff_files::{Dir, DirError, Mode, WriteError};

use crate::repository::Repository;

/// Our directory in git's common directory.
const DIRECTORY: &str = "handoff";
const FILE: &str = "project";
/// A mark has 76 bytes; a file much longer is none, and needs no memory to say so.
const LIMIT: u64 = 1024;

/// The mark of a repository cannot be read or written. It was not changed.
#[derive(Debug, thiserror::Error)]
pub enum MarkError {
    /// The file is there, and is no mark.
    #[error("`{}` is damaged", .0.display())]
    Damaged(PathBuf, #[source] project::MarkError),
    /// It cannot be read.
    #[error("cannot read the mark of the project")]
    Read(#[source] DirError),
    /// There is no place for it.
    #[error("cannot make a place for the mark of the project")]
    Place(#[source] DirError),
    /// It cannot be written.
    #[error("cannot write the mark of the project")]
    Write(#[source] WriteError),
    /// It vanished between two looks.
    #[error("somebody removed `{}` just now", .0.display())]
    Vanished(PathBuf),
}

impl Repository {
    /// The mark, if the repository has one.
    pub fn read_mark(&self) -> Result<Option<ProjectMark>, MarkError> {
        let place = match Dir::open(self.common_dir()).and_then(|common| common.dir(DIRECTORY)) {
            Err(error) if error.is_not_found() => return Ok(None),
            place => place.map_err(MarkError::Read)?,
        };
        match place.read_to_string(FILE, LIMIT) {
            Err(error) if error.is_not_found() => Ok(None),
            Err(error) => Err(MarkError::Read(error)),
            Ok(text) => text
                .parse()
                .map(Some)
                .map_err(|error| MarkError::Damaged(place.path().join(FILE), error)),
        }
    }

    /// Gives the repository its mark and returns the one it has: that of whoever was first.
    pub fn write_mark(&self, mark: &ProjectMark) -> Result<ProjectMark, MarkError> {
        let place = self.own_dir().map_err(MarkError::Place)?;
        match create_new(&place, FILE, mark.to_string().as_bytes(), Mode::Private) {
            Ok(()) => Ok(*mark),
            Err(WriteError::AlreadyExists(path)) => {
                self.read_mark()?.ok_or(MarkError::Vanished(path))
            }
            Err(error) => Err(MarkError::Write(error)),
        }
    }

    /// Our directory in the common directory, made if it is missing.
    pub fn own_dir(&self) -> Result<Dir, DirError> {
        Dir::open(self.common_dir())?.create_dir(DIRECTORY)
    }
}
