//! The ledger's envelope: what happened, to which stream, with which number.
//!
//! Events of one stream are numbered 1, 2, 3 … without gap or repeat. The cursor orders all streams for
//! a reader that follows everything; it may have gaps and means nothing but "after this one".

use std::fmt;
use std::str::FromStr;

use serde::Serialize;

use crate::batch::BatchEvent;
use crate::hold::{HoldEvent, HoldScope};
use crate::{
    BatchId, Caller, ContextEvent, ContextScope, FeatureEvent, FeatureId, PackageEvent, PackageId,
    ProjectId, RepositoryEvent, RunEvent, RunId, TaskEvent, TaskId, Timestamp,
};

/// Whose history an event belongs to.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum StreamId {
    /// A task's.
    Task(TaskId),
    /// A feature's.
    Feature(FeatureId),
    /// That of the hold on a scope.
    Hold(HoldScope),
    /// A package's.
    Package(PackageId),
    /// That of the context of something.
    Context(ContextScope),
    /// A batch's.
    Batch(BatchId),
    /// A run's.
    Run(RunId),
    /// That of the repository of a project.
    Repository(ProjectId),
}

/// What the text form of a hold's stream starts with.
const HOLD_PREFIX: &str = "hold/";
/// What the text form of a context's stream starts with.
const CONTEXT_PREFIX: &str = "context/";
/// What the text form of a repository's stream starts with.
const REPOSITORY_PREFIX: &str = "repository/";

impl fmt::Display for StreamId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Task(id) => fmt::Display::fmt(id, f),
            Self::Feature(id) => fmt::Display::fmt(id, f),
            Self::Hold(scope) => write!(f, "{HOLD_PREFIX}{scope}"),
            Self::Package(id) => fmt::Display::fmt(id, f),
            Self::Context(scope) => write!(f, "{CONTEXT_PREFIX}{scope}"),
            Self::Batch(id) => fmt::Display::fmt(id, f),
            Self::Run(id) => fmt::Display::fmt(id, f),
            Self::Repository(id) => write!(f, "{REPOSITORY_PREFIX}{id}"),
        }
    }
}

/// A text that names no stream.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error(
    "not the stream of a task, a feature, a hold, a package, a context, a batch, a run or a repository"
)]
pub struct StreamError;

impl FromStr for StreamId {
    type Err = StreamError;

    fn from_str(text: &str) -> Result<Self, StreamError> {
        let stream = if let Some(scope) = text.strip_prefix(HOLD_PREFIX) {
            scope.parse().ok().map(Self::Hold)
        } else if let Some(scope) = text.strip_prefix(CONTEXT_PREFIX) {
            scope.parse().ok().map(Self::Context)
        } else if let Some(project) = text.strip_prefix(REPOSITORY_PREFIX) {
            project.parse().ok().map(Self::Repository)
        } else if text.starts_with(FeatureId::PREFIX) {
            text.parse().ok().map(Self::Feature)
        } else if text.starts_with(PackageId::PREFIX) {
            text.parse().ok().map(Self::Package)
        } else if text.starts_with(BatchId::PREFIX) {
            text.parse().ok().map(Self::Batch)
        } else if text.starts_with(RunId::PREFIX) {
            text.parse().ok().map(Self::Run)
        } else {
            text.parse().ok().map(Self::Task)
        };
        stream.ok_or(StreamError)
    }
}

/// What happened, of any kind.
///
/// It is only ever written as one type: which kind to read back is known from the stream.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(untagged)]
pub enum Event {
    /// To a task.
    Task(TaskEvent),
    /// To a feature.
    Feature(FeatureEvent),
    /// To a hold above a single task.
    Hold(HoldEvent),
    /// To a package.
    Package(PackageEvent),
    /// To a context.
    Context(ContextEvent),
    /// To a batch.
    Batch(BatchEvent),
    /// To a run.
    Run(RunEvent),
    /// To a repository.
    Repository(RepositoryEvent),
}

/// An event as it stands in the ledger.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Envelope {
    /// Its place for readers of everything.
    pub cursor: Cursor,
    /// Whose history it belongs to.
    pub stream: StreamId,
    /// Its number there.
    pub seq: u64,
    /// The project it concerns, if it concerns one.
    pub project: Option<ProjectId>,
    /// When it was recorded.
    pub at: Timestamp,
    /// Who caused it.
    pub by: Caller,
    /// What happened.
    pub event: Event,
}

/// A place in the ledger: a reader that has seen it asks for what is after it.
///
/// In PostgreSQL two transactions may commit in another order than they took their numbers in. The
/// cursor therefore leads with the transaction, and readers stay below the oldest running one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default)]
pub struct Cursor {
    /// The transaction (always 0 in SQLite, where writers stand in line).
    pub transaction: i64,
    /// The place within the ledger.
    pub position: i64,
}

impl Cursor {
    /// Before everything.
    pub const START: Self = Self {
        transaction: 0,
        position: 0,
    };
}

impl fmt::Display for Cursor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.transaction {
            0 => write!(f, "{}", self.position),
            transaction => write!(f, "{transaction}.{}", self.position),
        }
    }
}

/// A text that is no cursor.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error(
    "a cursor is a number such as `42`, or two such as `981.42`, as printed by `handoff events`"
)]
pub struct CursorError;

impl FromStr for Cursor {
    type Err = CursorError;

    fn from_str(text: &str) -> Result<Self, CursorError> {
        let (transaction, position) = text.split_once('.').unwrap_or(("0", text));
        Ok(Self {
            transaction: part(transaction)?,
            position: part(position)?,
        })
    }
}

fn part(digits: &str) -> Result<i64, CursorError> {
    let plain = !digits.is_empty() && digits.bytes().all(|b| b.is_ascii_digit());
    let number = plain.then(|| digits.parse().ok()).flatten();
    number.ok_or(CursorError)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cursor_text_round_trips() {
        for text in ["0", "42", "981.42"] {
            assert_eq!(text.parse::<Cursor>().unwrap().to_string(), text);
        }
        for bad in [
            "",
            ".",
            "-1",
            "+1",
            "1.",
            ".1",
            "1.2.3",
            "a",
            " 1",
            "99999999999999999999",
        ] {
            assert_eq!(bad.parse::<Cursor>(), Err(CursorError), "{bad:?}");
        }
    }

    #[test]
    fn stream_text_round_trips() {
        let id = "0192f0c47d0a7c3e9f5b2a1c3d4e5f60";
        let texts = [
            format!("task_{id}"),
            format!("feat_{id}"),
            "hold/everything".to_owned(),
            format!("hold/proj_{id}"),
            format!("hold/batch_{id}"),
            format!("pkg_{id}"),
            format!("context/ses_{id}"),
            format!("batch_{id}"),
            format!("run_{id}"),
            format!("repository/proj_{id}"),
        ];
        for text in texts {
            assert_eq!(text.parse::<StreamId>().unwrap().to_string(), text);
        }
        assert_eq!("hold/x".parse::<StreamId>(), Err(StreamError));
    }

    #[test]
    fn a_later_transaction_comes_after_whatever_its_position() {
        let early = Cursor {
            transaction: 7,
            position: 9,
        };
        let late = Cursor {
            transaction: 8,
            position: 2,
        };
        assert!(early < late);
    }
}
