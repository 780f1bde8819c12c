//! How those who attend to sessions hear the bell of a server: one connection of the worker listens, and touches a file.

use std::fs::File;
use std::path::{Path, PathBuf};

use handoff_files::Dir;
use handoff_store::StoreKind;

use crate::error::EngineError;
use crate::workshop::Workshop;

/// The file by which those who attend to sessions hear a server's bell. A ledger in a file is its own.
pub(crate) fn echo(workshop: &Workshop<'_>) -> Result<Option<PathBuf>, EngineError> {
    match workshop.store.info().kind {
        StoreKind::Sqlite => Ok(None),
        StoreKind::Postgres => {
            let path = workshop.places.echo(workshop.project);
            Dir::create_private(path.parent().unwrap_or(&path))?;
            ring(&path);
            Ok(Some(path))
        }
    }
}

/// Closing it is what is heard. If it fails, they look after a while.
pub(crate) fn ring(echo: &Path) {
    let file = File::options().create(true).append(true).open(echo);
    drop(file);
}
