//! The shared context as a package carries it.

use std::collections::HashSet;

use handoff_core::context::{Author, ContextKey, Entry, Source, Tag};
use handoff_core::{Digest, JsonText, Timestamp};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::ContentError;

/// A context with its size and its checksum.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct SerializedContext {
    /// Its values, in order of their keys.
    pub entries: Vec<ContextEntry>,
    /// The bytes of all keys and values.
    pub size: usize,
    /// SHA-256 of all keys and values, each behind its length.
    pub checksum: Digest,
}

/// One value.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ContextEntry {
    /// What it is called.
    pub key: ContextKey,
    /// The value: JSON, as text, in its own spelling.
    pub value: JsonText,
    /// What is known about it.
    pub metadata: EntryMetadata,
}

/// What is known about a value.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct EntryMetadata {
    /// Where it comes from.
    pub source: Option<Source>,
    /// What it can be found by.
    pub tags: Vec<Tag>,
    /// Who wrote it.
    pub author: Author,
    /// When.
    pub at: Timestamp,
}

impl SerializedContext {
    /// Puts entries together.
    #[must_use]
    pub fn of(entries: impl IntoIterator<Item = Entry>) -> Self {
        let entries: Vec<_> = entries.into_iter().map(ContextEntry::from).collect();
        Self {
            size: size(&entries),
            checksum: checksum(&entries),
            entries,
        }
    }

    /// The entries as a context keeps them.
    #[must_use]
    pub fn to_entries(&self) -> Vec<Entry> {
        self.entries.iter().cloned().map(Entry::from).collect()
    }

    pub(super) fn check(&self) -> Result<(), ContentError> {
        let (announced, found) = (self.size, size(&self.entries));
        if announced != found {
            return Err(ContentError::Size { announced, found });
        }
        if self.checksum != checksum(&self.entries) {
            return Err(ContentError::Checksum);
        }
        let mut seen = HashSet::new();
        let twice = self.entries.iter().find(|entry| !seen.insert(&entry.key));
        twice.map_or(Ok(()), |entry| Err(ContentError::Twice(entry.key.clone())))
    }
}

fn size(entries: &[ContextEntry]) -> usize {
    let size = |entry: &ContextEntry| entry.key.as_str().len() + entry.value.as_str().len();
    entries.iter().map(size).sum()
}

fn checksum(entries: &[ContextEntry]) -> Digest {
    use sha2::Digest as _;
    let mut hash = sha2::Sha256::new();
    for entry in entries {
        for text in [entry.key.as_str(), entry.value.as_str()] {
            hash.update((text.len() as u64).to_le_bytes());
            hash.update(text);
        }
    }
    Digest::from_bytes(hash.finalize().into())
}

impl From<Entry> for ContextEntry {
    fn from(entry: Entry) -> Self {
        Self {
            key: entry.key,
            value: entry.value,
            metadata: EntryMetadata {
                source: entry.source,
                tags: entry.tags,
                author: entry.author,
                at: entry.at,
            },
        }
    }
}

impl From<ContextEntry> for Entry {
    fn from(entry: ContextEntry) -> Self {
        Self {
            key: entry.key,
            value: entry.value,
            source: entry.metadata.source,
            tags: entry.metadata.tags,
            author: entry.metadata.author,
            at: entry.metadata.at,
        }
    }
}
