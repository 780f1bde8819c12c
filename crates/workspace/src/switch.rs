//! Choosing the current feature. No reader ever finds `current` missing while it is pointed elsewhere.

use handoff_core::FeatureName;
use handoff_files::atomic::{self, Mode};
use handoff_files::{DirError, Entry, LinkError, MoveError, WriteError};

use crate::trash::Stamp;
use crate::workspace::{CURRENT, Current, FEATURES, Workspace, WorkspaceError};

/// How `current` is kept.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Pointer {
    /// A link.
    Link,
    /// A file with the text of the link, where links cannot be made.
    File,
}

/// What choosing a feature did.
#[derive(Debug, PartialEq, Eq)]
pub struct Switched {
    /// What was current before.
    pub before: Current,
    /// How it is kept now.
    pub pointer: Pointer,
    /// Where in the trash the folder went that stood at `current`.
    pub displaced: Option<String>,
}

/// The current feature could not be chosen; the old one is current still, unless only syncing failed.
#[derive(Debug, thiserror::Error)]
pub enum SwitchError {
    /// Not a feature.
    #[error("there is no feature `{0}`")]
    NoFeature(FeatureName),
    /// The workspace cannot be used.
    #[error(transparent)]
    Workspace(#[from] WorkspaceError),
    /// A directory cannot be used.
    #[error(transparent)]
    Place(#[from] DirError),
    /// What stands at `current` cannot be moved away.
    #[error(transparent)]
    Move(#[from] MoveError),
    /// The link cannot be made.
    #[error(transparent)]
    Link(LinkError),
    /// The file that serves for a link cannot be written.
    #[error(transparent)]
    Write(#[from] WriteError),
}

impl Workspace {
    /// Makes a feature the current one. Callers hold the lock of the workspace.
    pub fn switch(&self, name: &FeatureName, stamp: Stamp) -> Result<Switched, SwitchError> {
        if self.feature(name)?.is_none() {
            return Err(SwitchError::NoFeature(name.clone()));
        }
        let before = self.current()?;
        let displaced = self.displace(stamp)?;
        Ok(Switched {
            before,
            pointer: self.point(name)?,
            displaced,
        })
    }

    /// Makes none the current one. Callers hold the lock of the workspace.
    pub fn clear_current(&self, stamp: Stamp) -> Result<(), SwitchError> {
        if self.displace(stamp)?.is_none() && self.dir().entry(CURRENT)?.is_some() {
            self.dir().remove(CURRENT)?;
        }
        Ok(())
    }

    /// Moves a real folder at `current` out of the way: unpacking an archive or a cloud copy makes one of the link,
    /// and there may be work in it.
    fn displace(&self, stamp: Stamp) -> Result<Option<String>, SwitchError> {
        match self.dir().entry(CURRENT)? {
            Some(Entry::Directory) => Ok(Some(self.trash_folder_at_current(stamp)?)),
            None | Some(Entry::File | Entry::Link | Entry::Other) => Ok(None),
        }
    }

    fn point(&self, name: &FeatureName) -> Result<Pointer, SwitchError> {
        let target = format!("{FEATURES}/{name}");
        match self.dir().point_link(CURRENT, &target) {
            Ok(()) => Ok(Pointer::Link),
            Err(LinkError::Unsupported(..)) => {
                let text = target + "\n";
                atomic::replace(self.dir(), CURRENT, text.as_bytes(), Mode::Shared)?;
                Ok(Pointer::File)
            }
            Err(
                error @ (LinkError::BadName(_)
                | LinkError::Make(..)
                | LinkError::Name(..)
                | LinkError::Sync(..)),
            ) => Err(SwitchError::Link(error)),
        }
    }
}
