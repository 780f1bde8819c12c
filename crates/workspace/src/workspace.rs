//! The folder `.handoff/` of a repository, and which feature is current.
//!
//! `current` is a relative link `features/<name>`. Where links cannot be made it is a file with that
//! text, which is also what git writes when it checks a link out without being able to.

use std::ffi::OsStr;
use std::io;
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};

use handoff_core::FeatureName;
use handoff_files::{Dir, DirError};

use crate::feature::Feature;

/// The folder, in the root of the main worktree.
pub const FOLDER: &str = ".handoff";
pub(crate) const CURRENT: &str = "current";
pub(crate) const FEATURES: &str = "features";
/// What the folder of an archived feature ends in.
pub(crate) const ARCHIVED: &str = ".archived";

/// The folder `.handoff/` of a repository.
#[derive(Debug)]
pub struct Workspace {
    dir: Dir,
}

/// Which feature is current.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Current {
    /// None was chosen.
    None,
    /// This one, whether its folder is there or not.
    Feature(FeatureName),
    /// Something stands there that names no feature.
    Unknown(String),
}

/// The workspace cannot be used as it is.
#[derive(Debug, thiserror::Error)]
pub enum WorkspaceError {
    /// A directory or file cannot be used.
    #[error(transparent)]
    Place(#[from] DirError),
    /// What `current` is cannot be found out.
    #[error("cannot read `{}`", .0.display())]
    Current(PathBuf, #[source] io::Error),
}

impl Workspace {
    /// The workspace below `root`; none if there is no such folder. A link in its place is refused: a repository of
    /// strangers could point it at anything.
    pub fn open(root: &Path) -> Result<Option<Self>, WorkspaceError> {
        match Dir::open(root)?.dir(FOLDER) {
            Ok(dir) => Ok(Some(Self { dir })),
            Err(error) if error.is_not_found() => Ok(None),
            Err(error) => Err(error.into()),
        }
    }

    pub(crate) const fn at(dir: Dir) -> Self {
        Self { dir }
    }

    /// The folder.
    #[must_use]
    pub const fn dir(&self) -> &Dir {
        &self.dir
    }

    /// Which feature is current.
    pub fn current(&self) -> Result<Current, WorkspaceError> {
        let path = self.dir.path().join(CURRENT);
        let target = match std::fs::read_link(&path) {
            Ok(target) => target.into_os_string(),
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Current::None),
            // Not a link: perhaps the file that serves for one.
            Err(error) if error.kind() == io::ErrorKind::InvalidInput => {
                match self.dir.read_to_string(CURRENT, 4096) {
                    Ok(text) => text.trim_end().into(),
                    Err(DirError::NotAFile(_)) => "a folder".into(),
                    Err(error) => return Err(error.into()),
                }
            }
            Err(error) => return Err(WorkspaceError::Current(path, error)),
        };
        Ok(feature_at(&target).map_or_else(
            || Current::Unknown(target.to_string_lossy().into_owned()),
            Current::Feature,
        ))
    }

    /// The folder of a feature; none if there is no such folder.
    pub fn feature(&self, name: &FeatureName) -> Result<Option<Feature>, WorkspaceError> {
        match self.dir.dir(Path::new(FEATURES).join(name.as_str())) {
            Ok(dir) => Ok(Some(Feature::new(name.clone(), dir))),
            Err(error) if error.is_not_found() => Ok(None),
            Err(error) => Err(error.into()),
        }
    }
}

/// The feature that `features/<name>` names.
fn feature_at(target: &OsStr) -> Option<FeatureName> {
    let target = target.as_bytes();
    let target = target.strip_suffix(b"/").unwrap_or(target);
    let name = target
        .strip_prefix(FEATURES.as_bytes())?
        .strip_prefix(b"/")?;
    str::from_utf8(name).ok()?.parse().ok()
}
