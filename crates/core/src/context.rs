//! Shared context: keyed JSON values that sessions leave for each other, with who wrote them, when, and why to believe them.
//!
//! A context belongs to a project, a task or a session. Each change is an event of its stream; the number of the event is the
//! version of what it wrote, so a version is never used again, not even after a key was removed.

mod command;
mod event;
mod pattern;
mod record;
mod restore;

pub use command::{ContextCommand, ContextRefusal, Expected, Totals, Writing};
pub use event::ContextEvent;
pub use pattern::{ContextPattern, PatternError};
pub use record::{ContextRecord, HistoryError};
pub use restore::{Fate, KeyFate, Policy, Restoration, restore};

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

use crate::{JsonText, ProjectId, RunId, SessionId, TaskId, Timestamp, visible};

/// Whose context.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub enum ContextScope {
    /// All of a project.
    Project(ProjectId),
    /// One task, whoever works on it.
    Task(TaskId),
    /// One session.
    Session(SessionId),
    /// One run of a workflow, whichever phase it is at.
    Run(RunId),
}

impl fmt::Display for ContextScope {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Project(id) => fmt::Display::fmt(id, f),
            Self::Task(id) => fmt::Display::fmt(id, f),
            Self::Session(id) => fmt::Display::fmt(id, f),
            Self::Run(id) => fmt::Display::fmt(id, f),
        }
    }
}

impl ContextScope {
    /// For a sentence.
    pub const fn in_words(self) -> &'static str {
        match self {
            Self::Project(_) => "this project",
            Self::Task(_) => "this task",
            Self::Session(_) => "this session",
            Self::Run(_) => "this run",
        }
    }
}

/// A text that names nothing that has a context.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("not the id of a project, a task, a session or a run")]
pub struct ContextScopeError;

impl FromStr for ContextScope {
    type Err = ContextScopeError;

    fn from_str(text: &str) -> Result<Self, ContextScopeError> {
        let project = text.parse().ok().map(Self::Project);
        project
            .or_else(|| text.parse().ok().map(Self::Task))
            .or_else(|| text.parse().ok().map(Self::Session))
            .or_else(|| text.parse().ok().map(Self::Run))
            .ok_or(ContextScopeError)
    }
}

impl TryFrom<String> for ContextScope {
    type Error = ContextScopeError;

    fn try_from(text: String) -> Result<Self, ContextScopeError> {
        text.parse()
    }
}

impl From<ContextScope> for String {
    fn from(scope: ContextScope) -> Self {
        scope.to_string()
    }
}

/// Why a short text does not do.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{what} has 1 to {limit} bytes, all of them to be seen, and no space at its ends")]
pub struct WordError {
    /// Which text.
    what: &'static str,
    limit: usize,
}

pub(crate) fn check_word(text: &str, what: &'static str, limit: usize) -> Result<(), WordError> {
    let fits = (1..=limit).contains(&text.len()) && text.trim() == text;
    let is_seen = visible::hidden(text).next().is_none();
    (fits && is_seen)
        .then_some(())
        .ok_or(WordError { what, limit })
}

macro_rules! words {
    ($($(#[$doc:meta])* $name:ident, $what:literal, $limit:literal;)*) => {$(
        $(#[$doc])*
        #[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, serde::Serialize, serde::Deserialize)]
        #[serde(try_from = "String", into = "String")]
        pub struct $name(String);

        $crate::checked_text::checked_text!($name, $crate::context::WordError, |text| {
            $crate::context::check_word(text, $what, $limit)
        });
    )*};
}
pub(crate) use words;

words! {
    /// What a value is called, such as `phase.analysis.result`.
    ContextKey, "a key", 200;
    /// Where a value comes from.
    Source, "a source", 200;
    /// A word that values can be found by.
    Tag, "a tag", 64;
    /// Who wrote a value.
    Author, "an author", 200;
}

/// A value with what is known about it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Entry {
    /// What it is called.
    pub key: ContextKey,
    /// The value, in its own spelling.
    pub value: JsonText,
    /// Where it comes from, if they said.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub source: Option<Source>,
    /// What it can be found by.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub tags: Vec<Tag>,
    /// Who wrote it.
    pub author: Author,
    /// When.
    pub at: Timestamp,
}

impl Entry {
    /// What it counts towards the limit of a context.
    pub fn size(&self) -> usize {
        let tags: usize = self.tags.iter().map(|tag| tag.as_str().len()).sum();
        let source = self.source.as_ref().map_or(0, |it| it.as_str().len());
        self.key.as_str().len() + self.value.as_str().len() + source + tags
    }
}

/// The most keys that one context has.
pub const MOST_KEYS: usize = 10_000;
/// The most bytes that one context has.
pub const MOST_BYTES: usize = 12 * 1024 * 1024;
/// The most tags that one value has.
pub const MOST_TAGS: usize = 32;
