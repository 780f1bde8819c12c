//! The files of a store as an open connection has them. Whoever removes or replaces one meanwhile would leave this process writing
//! to a file that nobody else reads.

use std::fs::Metadata;
use std::io;
use std::os::unix::fs::{FileTypeExt as _, MetadataExt as _};
use std::path::Path;

use super::Place;
use super::connection::unusable;
use crate::error::StoreError;
use crate::sql::SqlError;

/// Device and inode; none if there is no file of that name.
type Identity = Option<(u64, u64)>;

/// Which files the names of a store stand for: the database, its log, and the shared index of the log.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Files([Identity; 3]);

impl Files {
    /// As they are now. What is neither a file nor absent is refused before anything opens it: opening a pipe would wait.
    pub(super) fn of(place: &Place) -> Result<Self, StoreError> {
        let identity = |path: &Path| -> Result<Identity, StoreError> {
            Ok(regular(path)?.map(|it| (it.dev(), it.ino())))
        };
        let paths = place.files();
        Ok(Self([
            identity(paths[0])?,
            identity(paths[1])?,
            identity(paths[2])?,
        ]))
    }

    /// Whether both have the same database.
    pub(super) fn have_database_of(&self, other: &Self) -> bool {
        self.0[0] == other.0[0]
    }

    /// Refuses if a name stands for another file than when the connection was opened.
    pub(super) fn still_those_of(&self, place: &Place) -> Result<(), SqlError> {
        // What is written to a ledger that is about to be replaced would be lost.
        if place.replacement.symlink_metadata().is_ok() {
            return Err(SqlError::other(
                "another ledger takes the place of this one",
            ));
        }
        let now = Self::of(place).map_err(SqlError::other)?;
        let changed = { place.files().into_iter() }
            .zip(self.0.iter().zip(now.0))
            .find(|(_, (then, now))| *then != now);
        match changed {
            None => Ok(()),
            Some((path, _)) => Err(SqlError::other(format!(
                "`{}` was removed or replaced while the store was in use; changes of the last moments may be missing",
                path.display()
            ))),
        }
    }
}

/// What is known of a file; none if nothing has that name.
pub(super) fn regular(path: &Path) -> Result<Option<Metadata>, StoreError> {
    let refused = |why: &str| unusable(path, io::Error::other(why.to_owned()));
    let found = match path.symlink_metadata() {
        Ok(found) => found,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(unusable(path, error)),
    };
    let found = if found.is_symlink() {
        match path.metadata() {
            Ok(target) => target,
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                return Err(refused("it is a link to something that is not there"));
            }
            Err(error) => return Err(unusable(path, error)),
        }
    } else {
        found
    };
    let kind = found.file_type();
    if kind.is_file() {
        Ok(Some(found))
    } else if kind.is_dir() {
        Err(refused("it is a directory, not a file"))
    } else if kind.is_fifo() {
        Err(refused("it is a named pipe, not a file"))
    } else if kind.is_socket() {
        Err(refused("it is a socket, not a file"))
    } else {
        Err(refused("it is a device, not a file"))
    }
}
