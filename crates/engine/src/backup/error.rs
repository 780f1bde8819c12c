//! Why no backup was made, or none was put back. Nothing that counts was changed then.

use std::path::PathBuf;

use handoff_core::PackageId;

/// A step that could not be taken.
#[derive(Debug, thiserror::Error)]
pub enum BackupError {
    /// Somebody else is at it.
    #[error("another backup or restore is under way")]
    Busy,
    /// The ledger refused or failed.
    #[error("the ledger could not be used")]
    Store(#[from] handoff_store::StoreError),
    /// A directory could not be used.
    #[error("a directory could not be used")]
    Place(#[from] handoff_files::DirError),
    /// A file could not be written.
    #[error("a file could not be written")]
    Write(#[from] handoff_files::WriteError),
    /// A lock could not be taken or looked at.
    #[error("a lock could not be used")]
    Lock(#[from] handoff_files::LockError),
    /// The system said no.
    #[error("cannot use `{}`", .0.display())]
    Io(PathBuf, #[source] std::io::Error),
    /// It is a file, a link or something else.
    #[error("`{}` is not a directory", .0.display())]
    NoDirectory(PathBuf),
    /// There is a whole backup in it.
    #[error("`{}` has a complete backup, which is never written over", .0.display())]
    Complete(PathBuf),
    /// There is something else in it.
    #[error("`{}` is not empty", .0.display())]
    NotEmpty(PathBuf),
    /// Somebody was killed while he made one there.
    #[error("`{}` has a backup that was not finished", .0.display())]
    Incomplete(PathBuf),
    /// It would be lost with what it is to save, and be a part of itself.
    #[error("`{}` lies in the state directory that is to be saved", .0.display())]
    Inside(PathBuf),
    /// There is no manifest.
    #[error("`{}` has no manifest: it is incomplete, or no backup", .0.display())]
    NoManifest(PathBuf),
    /// A newer program made it.
    #[error("the backup has format {found}; this program knows formats up to {known}")]
    TooNew {
        /// What it has.
        found: u64,
        /// What we know.
        known: u64,
    },
    /// It is not what was written.
    #[error("the backup is damaged: {0}")]
    Damaged(String),
    /// The ledger is not sound, so a copy of it would be none.
    #[error("the ledger is damaged: {}", .0.join("; "))]
    Unsound(Vec<String>),
    /// A package that can be received is not there any more, or not whole.
    #[error("package {0} cannot be copied")]
    Package(
        PackageId,
        #[source] Box<dyn std::error::Error + Send + Sync>,
    ),
    /// Somebody works with what is to be replaced.
    #[error("the state directory is in use: {}", .0.join(", "))]
    InUse(Vec<String>),
    /// What was kept is not there.
    #[error("there is no kept state `{0}`")]
    NothingKept(String),
}

impl BackupError {
    /// For what the system says about a path.
    pub(super) fn at(path: &std::path::Path) -> impl FnOnce(std::io::Error) -> Self {
        let path = path.to_owned();
        |error| Self::Io(path, error)
    }
}
