//! A context as its history makes it.

use std::collections::BTreeMap;

use super::{ContextEvent, ContextKey, ContextScope, Entry};

/// All of a context.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ContextRecord {
    /// Whose.
    pub scope: ContextScope,
    /// Its values, each with its version.
    pub entries: BTreeMap<ContextKey, (u64, Entry)>,
    /// The number of its last event.
    pub version: u64,
}

/// A history that no context can have.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("the history of the context of {scope} has event {found} where {expected} was due")]
pub struct HistoryError {
    /// Whose history.
    scope: ContextScope,
    expected: u64,
    found: u64,
}

impl ContextRecord {
    /// Rebuilds a context from its history: (number, event), oldest first.
    pub fn replay(
        scope: ContextScope,
        history: impl IntoIterator<Item = (u64, ContextEvent)>,
    ) -> Result<Self, HistoryError> {
        let mut record = Self {
            scope,
            entries: BTreeMap::new(),
            version: 0,
        };
        for (found, event) in history {
            let expected = record.version + 1;
            if found != expected {
                return Err(HistoryError {
                    scope,
                    expected,
                    found,
                });
            }
            record.apply(event);
        }
        Ok(record)
    }

    /// Takes an event in.
    pub fn apply(&mut self, event: ContextEvent) {
        self.version += 1;
        match event {
            ContextEvent::Set { entry } => self.write(entry),
            ContextEvent::Removed { key } => drop(self.entries.remove(&key)),
            ContextEvent::Restored {
                entries, removed, ..
            } => {
                removed
                    .iter()
                    .for_each(|key| drop(self.entries.remove(key)));
                entries.into_iter().for_each(|entry| self.write(entry));
            }
        }
    }

    fn write(&mut self, entry: Entry) {
        self.entries
            .insert(entry.key.clone(), (self.version, entry));
    }
}
