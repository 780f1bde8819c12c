//! Which features there are, and which of them were put away.

use std::ffi::{OsStr, OsString};

use handoff_core::FeatureName;
use handoff_files::{Dir, DirError, Entry, MoveError};

use crate::switch::SwitchError;
use crate::trash::Stamp;
use crate::workspace::{ARCHIVED, Current, FEATURES, Workspace, WorkspaceError};

/// What lies in `features/`.
#[derive(Debug, PartialEq, Eq)]
pub struct Listing {
    /// Which feature is current.
    pub current: Current,
    /// Those in work, by name.
    pub features: Vec<FeatureName>,
    /// Those that were put away, by folder.
    pub archives: Vec<Archive>,
    /// What is neither: files, links, folders with names that no feature has.
    pub strays: Vec<OsString>,
}

/// A feature that was put away.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Archive {
    /// What it was called.
    pub name: FeatureName,
    /// Its folder in `features/`.
    pub folder: String,
}

/// What putting a feature away did.
#[derive(Debug, PartialEq, Eq)]
pub struct Archived {
    /// Where it is now.
    pub archive: Archive,
    /// Whether it was the current one, so that none is now.
    pub was_current: bool,
}

/// A feature could not be put away; it is where it was.
#[derive(Debug, thiserror::Error)]
pub enum ArchiveError {
    /// Not a feature.
    #[error("there is no feature `{0}`")]
    NoFeature(FeatureName),
    /// The workspace cannot be used.
    #[error(transparent)]
    Workspace(#[from] WorkspaceError),
    /// A directory cannot be used.
    #[error(transparent)]
    Place(#[from] DirError),
    /// It cannot be made not current.
    #[error(transparent)]
    Clear(#[from] SwitchError),
    /// Its folder cannot be moved.
    #[error(transparent)]
    Move(#[from] MoveError),
}

enum Kind {
    Feature(FeatureName),
    Archive(Archive),
    Stray,
}

impl Workspace {
    /// What there is.
    pub fn list(&self) -> Result<Listing, WorkspaceError> {
        let mut listing = Listing {
            current: self.current()?,
            features: vec![],
            archives: vec![],
            strays: vec![],
        };
        let Some(dir) = self.features()? else {
            return Ok(listing);
        };
        for folder in dir.names()? {
            match kind(&dir, &folder)? {
                Kind::Feature(name) => listing.features.push(name),
                Kind::Archive(archive) => listing.archives.push(archive),
                Kind::Stray => listing.strays.push(folder),
            }
        }
        Ok(listing)
    }

    /// Puts a feature away, under a number if one of its name was put away before. Callers hold the lock of the
    /// workspace.
    pub fn archive(&self, name: &FeatureName, stamp: Stamp) -> Result<Archived, ArchiveError> {
        let Some(dir) = self
            .features()?
            .filter(|_| matches!(self.feature(name), Ok(Some(_))))
        else {
            return Err(self.absence(name)?);
        };
        let was_current = self.current()? == Current::Feature(name.clone());
        if was_current {
            self.clear_current(stamp)?;
        }
        let folder = free_folder(&dir, name)?;
        dir.move_new(name.as_str(), &dir, &folder)?;
        let name = name.clone();
        Ok(Archived {
            archive: Archive { name, folder },
            was_current,
        })
    }

    /// Why there is no such feature: it may also be that its folder cannot be used.
    fn absence(&self, name: &FeatureName) -> Result<ArchiveError, ArchiveError> {
        self.feature(name)?;
        Ok(ArchiveError::NoFeature(name.clone()))
    }

    /// The folder of the features; none if it is missing.
    pub(crate) fn features(&self) -> Result<Option<Dir>, WorkspaceError> {
        match self.dir().dir(FEATURES) {
            Ok(dir) => Ok(Some(dir)),
            Err(error) if error.is_not_found() => Ok(None),
            Err(error) => Err(error.into()),
        }
    }
}

fn kind(dir: &Dir, folder: &OsStr) -> Result<Kind, DirError> {
    if dir.entry(folder)? != Some(Entry::Directory) {
        return Ok(Kind::Stray);
    }
    let Some(folder) = folder.to_str() else {
        return Ok(Kind::Stray);
    };
    if let Ok(name) = folder.parse() {
        return Ok(Kind::Feature(name));
    }
    Ok(archived_name(folder).map_or(Kind::Stray, |name| {
        Kind::Archive(Archive {
            name,
            folder: folder.to_owned(),
        })
    }))
}

/// What `name.archived` and `name.archived-2` were called.
fn archived_name(folder: &str) -> Option<FeatureName> {
    let (name, number) = folder.split_once(ARCHIVED)?;
    let is_number = |text: &str| !text.is_empty() && text.bytes().all(|it| it.is_ascii_digit());
    let is_archive = number.is_empty() || number.strip_prefix('-').is_some_and(is_number);
    name.parse().ok().filter(|_| is_archive)
}

fn free_folder(dir: &Dir, name: &FeatureName) -> Result<String, DirError> {
    let mut folder = format!("{name}{ARCHIVED}");
    let mut number = 2;
    while dir.entry(&folder)?.is_some() {
        folder = format!("{name}{ARCHIVED}-{number}");
        number += 1;
    }
    Ok(folder)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_archive_is_known_by_its_ending() {
        let name = |folder: &str| archived_name(folder).map(String::from);
        assert_eq!(name("login.archived"), Some("login".to_owned()));
        assert_eq!(name("login.archived-12"), Some("login".to_owned()));
        for folder in [
            "login",
            ".archived",
            "login.archived-",
            "login.archivedx",
            "A.archived",
        ] {
            assert_eq!(name(folder), None, "{folder}");
        }
    }
}
