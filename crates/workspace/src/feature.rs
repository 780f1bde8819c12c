//! The folder of one feature, and its five documents.

use handoff_core::FeatureName;
use handoff_files::atomic::{self, Mode};
use handoff_files::{Dir, DirError, WriteError};

/// The longest document that is read: far more than a person writes, little enough for memory.
const LIMIT: u64 = 8 * 1024 * 1024;

/// One of the five documents of a feature.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Document {
    /// The goal, in the user's words.
    Feature,
    /// What exactly is wanted; optional.
    Spec,
    /// How it is to be built; optional.
    Design,
    /// The plan, and how far it is.
    State,
    /// What the last session knew.
    Session,
}

impl Document {
    /// All of them, in the order in which they are written.
    pub const ALL: [Self; 5] = [
        Self::Feature,
        Self::Spec,
        Self::Design,
        Self::State,
        Self::Session,
    ];

    /// What the file is called.
    #[must_use]
    pub const fn file_name(self) -> &'static str {
        match self {
            Self::Feature => "FEATURE.md",
            Self::Spec => "SPEC.md",
            Self::Design => "DESIGN.md",
            Self::State => "STATE.md",
            Self::Session => "SESSION.md",
        }
    }
}

/// The folder of one feature.
#[derive(Debug)]
pub struct Feature {
    /// What it is called.
    pub name: FeatureName,
    dir: Dir,
}

impl Feature {
    pub(crate) const fn new(name: FeatureName, dir: Dir) -> Self {
        Self { name, dir }
    }

    /// The folder.
    #[must_use]
    pub const fn dir(&self) -> &Dir {
        &self.dir
    }

    /// The text of a document; none if there is no such file.
    pub fn read(&self, document: Document) -> Result<Option<String>, DirError> {
        match self.dir.read_to_string(document.file_name(), LIMIT) {
            Ok(text) => Ok(Some(text)),
            Err(error) if error.is_not_found() => Ok(None),
            Err(error) => Err(error),
        }
    }

    /// Writes a document whole, in the place of the one that may have been there.
    pub fn replace(&self, document: Document, text: &str) -> Result<(), WriteError> {
        atomic::replace(
            &self.dir,
            document.file_name(),
            text.as_bytes(),
            Mode::Shared,
        )
    }
}
