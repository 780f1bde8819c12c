//! What can be asked of a context, and what follows from it.

use serde::Serialize;

use super::{
    Author, ContextEvent, ContextKey, Entry, MOST_BYTES, MOST_KEYS, MOST_TAGS, Source, Tag,
};
use crate::{Caller, JsonText, Now};

/// What somebody wants to write.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Writing {
    /// Under which key.
    pub key: ContextKey,
    /// What.
    pub value: JsonText,
    /// Where it comes from, if they say.
    pub source: Option<Source>,
    /// What it can be found by.
    pub tags: Vec<Tag>,
}

/// What can be asked.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub enum ContextCommand {
    /// Write a value.
    Set {
        /// Which.
        writing: Writing,
        /// What must be there for it.
        expected: Expected,
    },
    /// Take a key out.
    Remove {
        /// Which.
        key: ContextKey,
        /// What must be there for it.
        expected: Expected,
    },
}

/// What must be there for a change to be made: compare and set.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(tag = "type", content = "version", rename_all = "snake_case")]
pub enum Expected {
    /// Whatever it is.
    Anything,
    /// Nothing.
    Nothing,
    /// This version.
    Version(u64),
}

/// How much a context has.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Totals {
    /// Keys.
    pub keys: usize,
    /// Bytes, by [`Entry::size`].
    pub bytes: usize,
}

/// Why a context is not changed.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ContextRefusal {
    /// Somebody else was first.
    #[error("`{key}` has {}, not {}", version_in_words(*found), expected_in_words(*expected))]
    Changed {
        /// Which key.
        key: ContextKey,
        /// What it has; none if it is not there.
        found: Option<u64>,
        /// What was expected.
        expected: Expected,
    },
    /// There is nothing under this key.
    #[error("there is no `{key}`")]
    Absent {
        /// Which key.
        key: ContextKey,
    },
    /// There would be too much in it.
    #[error(
        "the context would have {keys} keys and {bytes} bytes; the limits are {MOST_KEYS} and {MOST_BYTES}"
    )]
    Full {
        /// So many keys.
        keys: usize,
        /// So many bytes.
        bytes: usize,
    },
    /// Too many tags on one value.
    #[error("`{key}` has {tags} tags; the limit is {MOST_TAGS}")]
    Tags {
        /// Which key.
        key: ContextKey,
        /// How many.
        tags: usize,
    },
    /// Keys of a package are there with other values.
    #[error("{} of the package's keys are there with other values: {}", keys.len(), first_few(keys))]
    Conflict {
        /// Which.
        keys: Vec<ContextKey>,
    },
}

fn version_in_words(version: Option<u64>) -> String {
    version.map_or_else(
        || "no value".to_owned(),
        |version| format!("version {version}"),
    )
}

fn expected_in_words(expected: Expected) -> String {
    match expected {
        Expected::Anything => "anything".to_owned(),
        Expected::Nothing => "none".to_owned(),
        Expected::Version(version) => format!("version {version}"),
    }
}

fn first_few(keys: &[ContextKey]) -> String {
    let shown: Vec<_> = keys.iter().take(5).map(|key| format!("`{key}`")).collect();
    let more = if keys.len() > shown.len() {
        ", …"
    } else {
        ""
    };
    format!("{}{more}", shown.join(", "))
}

impl Totals {
    /// With one entry in the place of another.
    #[must_use]
    pub fn with(self, written: Option<&Entry>, replaced: Option<&Entry>) -> Self {
        let size = |entry: Option<&Entry>| entry.map_or(0, Entry::size);
        Self {
            keys: self.keys + usize::from(written.is_some()) - usize::from(replaced.is_some()),
            bytes: self.bytes + size(written) - size(replaced),
        }
    }

    /// Whether a context may have so much.
    pub fn fits(self) -> Result<(), ContextRefusal> {
        let Self { keys, bytes } = self;
        if keys > MOST_KEYS || bytes > MOST_BYTES {
            return Err(ContextRefusal::Full { keys, bytes });
        }
        Ok(())
    }
}

impl ContextCommand {
    /// The key it is about.
    pub const fn key(&self) -> &ContextKey {
        match self {
            Self::Set { writing, .. } => &writing.key,
            Self::Remove { key, .. } => key,
        }
    }

    /// Decides. No event and no refusal means that it is so already.
    pub fn decide(
        &self,
        there: Option<&(u64, Entry)>,
        totals: Totals,
        by: &Caller,
        now: &Now,
    ) -> Result<Option<ContextEvent>, ContextRefusal> {
        match self {
            Self::Set { writing, expected } => {
                expected.check(&writing.key, there)?;
                writing.decide(there, totals, by, now)
            }
            Self::Remove { key, expected } => {
                expected.check(key, there)?;
                let key = key.clone();
                match there {
                    Some(_) => Ok(Some(ContextEvent::Removed { key })),
                    None => Err(ContextRefusal::Absent { key }),
                }
            }
        }
    }
}

impl Expected {
    fn check(self, key: &ContextKey, there: Option<&(u64, Entry)>) -> Result<(), ContextRefusal> {
        let found = there.map(|(version, _)| *version);
        let is_met = match self {
            Self::Anything => true,
            Self::Nothing => found.is_none(),
            Self::Version(version) => found == Some(version),
        };
        if is_met {
            return Ok(());
        }
        let key = key.clone();
        Err(ContextRefusal::Changed {
            key,
            found,
            expected: self,
        })
    }
}

impl Writing {
    fn decide(
        &self,
        there: Option<&(u64, Entry)>,
        totals: Totals,
        by: &Caller,
        now: &Now,
    ) -> Result<Option<ContextEvent>, ContextRefusal> {
        let there = there.map(|(_, entry)| entry);
        if there.is_some_and(|entry| self.is_in(entry)) {
            return Ok(None);
        }
        if self.tags.len() > MOST_TAGS {
            let (key, tags) = (self.key.clone(), self.tags.len());
            return Err(ContextRefusal::Tags { key, tags });
        }
        let entry = self.entry(by, now);
        totals.with(Some(&entry), there).fits()?;
        Ok(Some(ContextEvent::Set { entry }))
    }

    fn is_in(&self, entry: &Entry) -> bool {
        entry.value == self.value && entry.source == self.source && entry.tags == self.tags
    }

    fn entry(&self, by: &Caller, now: &Now) -> Entry {
        let author = by.to_string();
        Entry {
            key: self.key.clone(),
            value: self.value.clone(),
            source: self.source.clone(),
            tags: self.tags.clone(),
            author: author
                .parse::<Author>()
                .expect("a caller is a word or an id"),
            at: now.wall,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_are_bytes_and_what_is_too_much_is_refused() {
        let entry = Entry {
            key: "ä".parse().unwrap(),
            value: crate::JsonText::parse("\"😀\"").unwrap(),
            source: None,
            tags: vec![],
            author: "person".parse().unwrap(),
            at: crate::Timestamp::UNIX_EPOCH,
        };
        assert_eq!(entry.size(), 2 + 6);
        let totals = Totals {
            keys: MOST_KEYS - 1,
            bytes: MOST_BYTES - 8,
        };
        let full = totals.with(Some(&entry), None);
        assert_eq!(full.fits(), Ok(()));
        assert_eq!(full.with(Some(&entry), Some(&entry)).fits(), Ok(()));
        let (keys, bytes) = (MOST_KEYS + 1, MOST_BYTES + 8);
        assert_eq!(
            full.with(Some(&entry), None).fits(),
            Err(ContextRefusal::Full { keys, bytes })
        );
    }
}
