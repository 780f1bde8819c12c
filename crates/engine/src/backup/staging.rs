//! Where a ledger is copied to before it goes somewhere else: on the disk of the state directory, which the engine can use safely,
//! and from which one rename puts it in its place. What somebody left who was killed is removed by whoever comes next.

use std::path::{Path, PathBuf};

use handoff_files::Dir;
use handoff_store::sqlite;

use super::error::BackupError;
use crate::places::Places;

/// Its name in the state directory.
pub(super) const NAME: &str = "staging";

/// An empty directory of our own; whoever has the lock of backups has it. It goes when it is dropped.
pub(super) struct Staging {
    path: PathBuf,
    home: PathBuf,
}

impl Staging {
    pub(super) fn empty(places: &Places) -> Result<Self, BackupError> {
        // It may be the very one that takes the place of a ledger.
        sqlite::finish(places.home())?;
        let staging = Self {
            path: places.home().join(NAME),
            home: places.home().to_owned(),
        };
        staging.remove().map_err(BackupError::at(&staging.path))?;
        Dir::create_private(&staging.path)?;
        Ok(staging)
    }

    pub(super) fn path(&self) -> &Path {
        &self.path
    }

    fn remove(&self) -> std::io::Result<()> {
        match std::fs::remove_dir_all(&self.path) {
            Err(error) if error.kind() != std::io::ErrorKind::NotFound => Err(error),
            Ok(()) | Err(_) => Ok(()),
        }
    }
}

impl Drop for Staging {
    fn drop(&mut self) {
        // What is half-way into its place is finished by whoever opens the ledger next. What else stays is removed by the next one.
        if matches!(sqlite::is_replacing(&self.home), Ok(false)) {
            self.remove().ok();
        }
    }
}
