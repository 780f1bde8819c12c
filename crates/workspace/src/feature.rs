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

    /// Writes a document whole, in the place of the one that may have been there. Callers hold the lock of the workspace, so
    /// what was to become this document and is not, was left by a writer that was killed.
    pub fn replace(&self, document: Document, text: &str) -> Result<(), WriteError> {
        let name = document.file_name();
        // A leftover that cannot be removed harms nobody; the document matters more.
        atomic::sweep_for(&self.dir, name).ok();
        atomic::replace(&self.dir, name, text.as_bytes(), Mode::Shared)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Workspace;

    #[test]
    fn what_a_killed_writer_left_goes_with_the_next_edit() {
        let place = tempfile::tempdir().unwrap();
        let folder = place.path().join(".handoff/features/login");
        std::fs::create_dir_all(&folder).unwrap();
        let leftover = format!(".STATE.md.{}.tmp", "0".repeat(16));
        let other = format!(".SPEC.md.{}.tmp", "0".repeat(16));
        for name in [&leftover, &other] {
            std::fs::write(folder.join(name), "half").unwrap();
        }
        let workspace = Workspace::open(place.path()).unwrap().unwrap();
        let feature = workspace.feature(&"login".parse().unwrap()).unwrap();
        feature.unwrap().replace(Document::State, "new").unwrap();
        let entries = std::fs::read_dir(&folder).unwrap();
        let mut names: Vec<_> = entries.map(|it| it.unwrap().file_name()).collect();
        names.sort();
        assert_eq!(names, [other.as_str(), "STATE.md"]);
    }
}
