//! A sealed package on disk: whole under its name, or not there.

use std::path::PathBuf;

use handoff_files::atomic::create_new;
use handoff_files::{Dir, DirError, Mode, WriteError};

use handoff_core::PackageId;

use crate::package::Package;
use crate::seal::{LIMIT, OpenError, Sealed, open, sha256};

/// A package was not stored.
#[derive(Debug, thiserror::Error)]
pub enum StoreError {
    /// It could not be written.
    #[error("cannot write the package")]
    Write(#[source] WriteError),
    /// What already has its name cannot be read.
    #[error("cannot read the package that is already there")]
    Read(#[source] DirError),
    /// Its name has other bytes; they were left as they are.
    #[error("`{}` is another package", .0.display())]
    Differs(PathBuf),
}

/// A package cannot be had.
#[derive(Debug, thiserror::Error)]
pub enum LoadError {
    /// It cannot be read.
    #[error("cannot read the package")]
    Read(#[source] DirError),
    /// It is not the one that was sealed.
    #[error("the package is not the one that was sealed")]
    Replaced,
    /// It is not sound.
    #[error("cannot open the package")]
    Open(#[source] OpenError),
}

/// Reads a package back, if it is the one with this digest.
pub fn load(dir: &Dir, id: PackageId, digest: &str) -> Result<Package, LoadError> {
    let bytes = dir
        .read(file_name(id), LIMIT as u64)
        .map_err(LoadError::Read)?;
    if sha256(&bytes) != digest {
        return Err(LoadError::Replaced);
    }
    open(&bytes).map_err(LoadError::Open)
}

fn file_name(id: PackageId) -> String {
    format!("hof-{id}.json")
}

/// Stores a sealed package in `dir` as `hof-<id>.json` and returns its path. Storing the same one
/// again is no error.
pub fn store(dir: &Dir, sealed: &Sealed) -> Result<PathBuf, StoreError> {
    let name = file_name(sealed.id());
    let path = dir.path().join(&name);
    match create_new(dir, &name, sealed.bytes(), Mode::Private) {
        Ok(()) => Ok(path),
        Err(WriteError::AlreadyExists(_)) => {
            let there = dir.read(&name, LIMIT as u64).map_err(StoreError::Read)?;
            if there == sealed.bytes() {
                Ok(path)
            } else {
                Err(StoreError::Differs(path))
            }
        }
        Err(error) => Err(StoreError::Write(error)),
    }
}
