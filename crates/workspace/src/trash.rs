//! Cleaning up, and taking it back.
//!
//! Nothing is deleted: what a cleaning removes lies in `.handoff/trash/<time>-<feature>`, where all of one cleaning
//! have the same time. Archives are never touched. What is in the trash is for people to empty.

use std::ffi::OsString;

use handoff_core::FeatureName;
use handoff_core::time::Timestamp;
use handoff_files::atomic::{self, Mode};
use handoff_files::{Dir, DirError, Entry, MoveError};

use crate::listing::Listing;
use crate::template::ExportError;
use crate::workspace::{CURRENT, Current, FEATURES, Workspace, WorkspaceError};

/// Where it lies, in the workspace.
pub const FOLDER: &str = "trash";
/// The length of a time in a name.
const STAMP_LEN: usize = "20260131T235959Z".len();

/// When something was thrown away, to the second.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Stamp(Timestamp);

/// Which features to clean away.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Extent {
    /// All but the current one.
    Others,
    /// All.
    Everything,
}

/// What a cleaning will do.
#[derive(Debug, PartialEq, Eq)]
pub struct Cleaning {
    /// What goes to the trash.
    pub features: Vec<FeatureName>,
    /// What stays, because it is current.
    pub kept: Option<FeatureName>,
    /// Whether none will be current.
    pub clears_current: bool,
}

/// What a cleaning did, or brought back.
#[derive(Debug, PartialEq, Eq)]
pub struct Cleaned {
    /// The features.
    pub features: Vec<FeatureName>,
    /// The time in the names of the trash.
    pub stamp: String,
}

/// A cleaning is not possible, or stopped in the middle; what was moved lies in the trash.
#[derive(Debug, thiserror::Error)]
pub enum CleanError {
    /// Nobody said what to keep.
    #[error("no feature is current, so there is none to keep")]
    NoCurrent,
    /// The workspace cannot be used.
    #[error(transparent)]
    Workspace(#[from] WorkspaceError),
    /// A directory cannot be used.
    #[error(transparent)]
    Place(#[from] DirError),
    /// Something cannot be moved.
    #[error(transparent)]
    Move(#[from] MoveError),
}

/// A cleaning cannot be taken back; what lies in the trash stays there.
#[derive(Debug, thiserror::Error)]
pub enum UndoError {
    /// Nothing was cleaned away.
    #[error("there is no cleaning to take back")]
    Nothing,
    /// Nothing was cleaned away, but a folder that stood at `current` was moved here, and can be nowhere else.
    #[error(
        "there is no cleaning to take back; the folder that stood at `.handoff/{CURRENT}` is kept as `.handoff/{0}`"
    )]
    OnlyDisplaced(String),
    /// A feature of that name was made since.
    #[error("a feature `{0}` is there again")]
    Taken(FeatureName),
    /// The workspace cannot be used.
    #[error(transparent)]
    Workspace(#[from] WorkspaceError),
    /// A directory cannot be used.
    #[error(transparent)]
    Place(#[from] DirError),
    /// Something cannot be moved.
    #[error(transparent)]
    Move(#[from] MoveError),
}

impl Stamp {
    /// At this time.
    #[must_use]
    pub const fn at(time: Timestamp) -> Self {
        Self(time)
    }

    fn text(self) -> String {
        self.0.strftime("%Y%m%dT%H%M%SZ").to_string()
    }

    /// The first time from here on that nothing in the trash has.
    fn free(self, taken: &[OsString]) -> String {
        let is_taken = |text: &str| {
            taken
                .iter()
                .any(|name| name.as_encoded_bytes().starts_with(text.as_bytes()))
        };
        let mut time = self.0;
        while is_taken(&Self(time).text()) {
            time += std::time::Duration::from_secs(1);
        }
        Self(time).text()
    }
}

impl Workspace {
    /// What a cleaning would do. Where `current` names no feature, only everything can be cleaned.
    pub fn plan_cleaning(&self, extent: Extent) -> Result<Cleaning, CleanError> {
        let Listing {
            current, features, ..
        } = self.list()?;
        if extent == Extent::Everything {
            return Ok(Cleaning {
                features,
                kept: None,
                clears_current: current != Current::None,
            });
        }
        let Current::Feature(kept) = current else {
            return Err(CleanError::NoCurrent);
        };
        if !features.contains(&kept) {
            return Err(CleanError::NoCurrent);
        }
        Ok(Cleaning {
            features: features.into_iter().filter(|name| *name != kept).collect(),
            kept: Some(kept),
            clears_current: false,
        })
    }

    /// Moves features to the trash. Callers hold the lock of the workspace.
    pub fn clean(&self, cleaning: &Cleaning, stamp: Stamp) -> Result<Cleaned, CleanError> {
        let trash = self.trash()?;
        let stamp = stamp.free(&trash.names()?);
        if cleaning.clears_current && self.dir().entry(CURRENT)?.is_some() {
            self.dir().move_new(CURRENT, &trash, current_name(&stamp))?;
        }
        for name in &cleaning.features {
            let features = self.dir().dir(FEATURES)?;
            features.move_new(name.as_str(), &trash, format!("{stamp}-{name}"))?;
        }
        Ok(Cleaned {
            features: cleaning.features.clone(),
            stamp,
        })
    }

    /// Brings the last cleaning back, all of it or nothing. Callers hold the lock of the workspace.
    pub fn undo_cleaning(&self) -> Result<Cleaned, UndoError> {
        let trash = match self.dir().dir(FOLDER) {
            Err(error) if error.is_not_found() => return Err(UndoError::Nothing),
            opened => opened?,
        };
        let thrown: Vec<_> = trash.names()?.iter().filter_map(Thrown::parse).collect();
        let Some(stamp) = thrown.iter().map(|it| it.stamp.clone()).max() else {
            return Err(nothing_cleaned(&trash)?);
        };
        let last = thrown.into_iter().filter(|it| it.stamp == stamp);
        let names: Vec<_> = last.map(|it| it.feature).collect();
        let features = self.dir().make_dir(FEATURES)?;
        for name in &names {
            if features.entry(name.as_str())?.is_some() {
                return Err(UndoError::Taken(name.clone()));
            }
        }
        for name in &names {
            trash.move_new(format!("{stamp}-{name}"), &features, name.as_str())?;
        }
        self.bring_current_back(&trash, &stamp)?;
        Ok(Cleaned {
            features: names,
            stamp,
        })
    }

    /// Unless another one was made current since.
    fn bring_current_back(&self, trash: &Dir, stamp: &str) -> Result<(), UndoError> {
        let name = current_name(stamp);
        let is_pointer = matches!(trash.entry(&name)?, Some(Entry::Link | Entry::File));
        if is_pointer && self.dir().entry(CURRENT)?.is_none() {
            trash.move_new(&name, self.dir(), CURRENT)?;
        }
        Ok(())
    }

    /// Moves a real folder at `current` to the trash and returns its name there.
    pub(crate) fn trash_folder_at_current(&self, stamp: Stamp) -> Result<String, MoveError> {
        let trash = self.trash().map_err(MoveError::Sync)?;
        let taken = trash.names().map_err(MoveError::Sync)?;
        let name = current_name(&stamp.free(&taken));
        self.dir().move_new(CURRENT, &trash, &name)?;
        Ok(format!("{FOLDER}/{name}"))
    }

    /// Keeps the text of a file that is about to be replaced.
    pub(crate) fn keep_in_trash(
        &self,
        name: &str,
        bytes: &[u8],
        stamp: Stamp,
    ) -> Result<(), ExportError> {
        let trash = self.trash()?;
        let stamp = stamp.free(&trash.names()?);
        let name = format!("{stamp}.{name}");
        Ok(atomic::create_new(&trash, &name, bytes, Mode::Shared)?)
    }

    fn trash(&self) -> Result<Dir, DirError> {
        self.dir().make_dir(FOLDER)
    }
}

/// Why there is nothing to take back, with the newest folder that was in the way of `current`.
fn nothing_cleaned(trash: &Dir) -> Result<UndoError, DirError> {
    let names = trash.names()?;
    let mut names: Vec<_> = names.iter().filter_map(|name| name.to_str()).collect();
    names.sort_unstable();
    let suffix = current_name("");
    for name in names.into_iter().rev().filter(|it| it.ends_with(&suffix)) {
        if trash.entry(name)? == Some(Entry::Directory) {
            return Ok(UndoError::OnlyDisplaced(format!("{FOLDER}/{name}")));
        }
    }
    Ok(UndoError::Nothing)
}

/// The name in the trash of what stood at `current`. No feature can be called so.
fn current_name(stamp: &str) -> String {
    format!("{stamp}.{CURRENT}")
}

/// A feature in the trash.
struct Thrown {
    stamp: String,
    feature: FeatureName,
}

impl Thrown {
    fn parse(name: &OsString) -> Option<Self> {
        let (stamp, rest) = name.to_str()?.split_at_checked(STAMP_LEN)?;
        let is_stamp = stamp.ends_with('Z') && stamp.as_bytes()[8] == b'T';
        let feature = rest.strip_prefix('-')?.parse().ok().filter(|_| is_stamp)?;
        Some(Self {
            stamp: stamp.to_owned(),
            feature,
        })
    }
}
