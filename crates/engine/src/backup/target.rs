//! The directory that a backup is made in: new, empty, or left by one that was not finished.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};

use handoff_files::atomic::{self, Mode};
use handoff_files::{Dir, DirError};

use super::error::BackupError;
use super::{KEYS, LEDGER, PACKAGES, TRUST, manifest};

/// Is there as long as a backup is not finished.
const UNFINISHED: &str = "INCOMPLETE";
const WHY: &str = "This backup was not finished: it has no manifest. Do not restore it.\n";

/// Whether a backup was begun there and not finished.
pub fn is_incomplete(path: &Path) -> Result<bool, BackupError> {
    if !is_directory(path)? {
        return Ok(false);
    }
    let names = Dir::open(path)?.names()?;
    let has = |name: &str| names.iter().any(|it| it == OsStr::new(name));
    Ok(has(UNFINISHED) && !has(manifest::NAME))
}

/// Opens the directory for a new backup. What an unfinished one left is removed only if that is wanted.
pub(super) fn open(path: &Path, home: &Path, clears: bool) -> Result<Dir, BackupError> {
    if whole(path)?.starts_with(whole(home)?) {
        return Err(BackupError::Inside(path.to_owned()));
    }
    if is_directory(path)? {
        let dir = Dir::open(path)?;
        let names = dir.names()?;
        let has = |name: &str| names.iter().any(|it| it == OsStr::new(name));
        if has(manifest::NAME) {
            return Err(BackupError::Complete(path.to_owned()));
        }
        match (names.is_empty(), has(UNFINISHED), clears) {
            (true, ..) => {}
            (false, true, true) => clear(&dir)?,
            (false, true, false) => return Err(BackupError::Incomplete(path.to_owned())),
            (false, false, _) => return Err(BackupError::NotEmpty(path.to_owned())),
        }
    }
    let dir = Dir::create_private(path)?;
    atomic::replace(&dir, UNFINISHED, WHY.as_bytes(), Mode::Private)?;
    Ok(dir)
}

/// The manifest is there: what says otherwise goes.
pub(super) fn finish(dir: &Dir) -> Result<(), BackupError> {
    Ok(dir.remove(UNFINISHED)?)
}

/// Removes what a backup is made of, and nothing else.
pub(super) fn clear(dir: &Dir) -> Result<(), BackupError> {
    for name in [PACKAGES, TRUST, KEYS] {
        let path = dir.path().join(name);
        match std::fs::remove_dir_all(&path) {
            Err(error) if error.kind() != std::io::ErrorKind::NotFound => {
                return Err(BackupError::Io(path, error));
            }
            Ok(()) | Err(_) => {}
        }
    }
    match dir.remove(LEDGER) {
        Err(error) if !error.is_not_found() => Err(error.into()),
        Ok(()) | Err(_) => Ok(()),
    }
}

fn is_directory(path: &Path) -> Result<bool, BackupError> {
    match path.metadata() {
        Ok(found) if found.is_dir() => Ok(true),
        Ok(_) => Err(BackupError::NoDirectory(path.to_owned())),
        // A link to nothing is no place either.
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
            match path.symlink_metadata() {
                Ok(_) => Err(BackupError::NoDirectory(path.to_owned())),
                Err(_) => Ok(false),
            }
        }
        Err(error) => Err(BackupError::Io(path.to_owned(), error)),
    }
}

/// The path without links, as far as it exists.
fn whole(path: &Path) -> Result<PathBuf, BackupError> {
    if let Ok(found) = path.canonicalize() {
        return Ok(found);
    }
    match (path.parent(), path.file_name()) {
        (Some(parent), Some(name)) => Ok(whole(parent)?.join(name)),
        _ => Ok(path.to_owned()),
    }
}

/// A directory below another, made with those above it.
pub(super) fn below(dir: &Dir, relative: &Path) -> Result<Dir, DirError> {
    let mut components = relative.components();
    let first = components
        .next()
        .map_or(OsStr::new(""), |it| it.as_os_str());
    let mut found = dir.create_dir(first)?;
    for component in components {
        found = found.create_dir(component.as_os_str())?;
    }
    Ok(found)
}
