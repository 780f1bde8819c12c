//! What happened to a context, in past tense.

use serde::{Deserialize, Serialize};

use super::{ContextKey, Entry};
use crate::PackageId;

/// What happened to a context.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub enum ContextEvent {
    /// A value was written.
    Set {
        /// All of it.
        entry: Entry,
    },
    /// A key was taken out.
    Removed {
        /// Which.
        key: ContextKey,
    },
    /// The content of a package was taken in.
    Restored {
        /// Which package.
        package: PackageId,
        /// What was written.
        entries: Vec<Entry>,
        /// What was taken out.
        removed: Vec<ContextKey>,
    },
}

impl ContextEvent {
    /// What it wrote under a key, or that it took the key out; none if it is about other keys.
    pub fn about(&self, key: &ContextKey) -> Option<Option<&Entry>> {
        match self {
            Self::Set { entry } => (entry.key == *key).then_some(Some(entry)),
            Self::Removed { key: removed } => (removed == key).then_some(None),
            Self::Restored {
                entries, removed, ..
            } => {
                let written = entries.iter().find(|entry| entry.key == *key);
                let is_removed = removed.contains(key);
                written.map(Some).or(is_removed.then_some(None))
            }
        }
    }
}
