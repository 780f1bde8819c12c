//! Holds: they stop the queue from handing out work. What already runs goes on.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

use crate::task::Reason;
use crate::{BatchId, Caller, ProjectId, Task, Timestamp};

/// What a hold above a single task covers. (The hold of one task is part of that task.)
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(tag = "type", content = "id", rename_all = "snake_case")]
pub enum HoldScope {
    /// The whole store.
    Everything,
    /// One project.
    Project(ProjectId),
    /// One batch.
    Batch(BatchId),
}

impl fmt::Display for HoldScope {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Everything => f.write_str("everything"),
            Self::Project(id) => fmt::Display::fmt(id, f),
            Self::Batch(id) => fmt::Display::fmt(id, f),
        }
    }
}

impl HoldScope {
    /// For a sentence that someone reads who stands in the scope.
    pub const fn in_words(self) -> &'static str {
        match self {
            Self::Everything => "everything",
            Self::Project(_) => "this project",
            Self::Batch(_) => "this batch",
        }
    }

    /// The scopes that lie over all tasks of this project.
    pub const fn over(project: ProjectId) -> [Self; 2] {
        [Self::Everything, Self::Project(project)]
    }

    /// The scopes that lie over this task: those of its project, and its batch.
    pub fn over_task(task: &Task) -> Vec<Self> {
        let batch = task
            .spec
            .part
            .and_then(|part| part.batch().map(Self::Batch));
        Self::over(task.project).into_iter().chain(batch).collect()
    }
}

/// A text that names no scope.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("not `everything`, a project or a batch")]
pub struct ScopeError;

impl FromStr for HoldScope {
    type Err = ScopeError;

    fn from_str(text: &str) -> Result<Self, ScopeError> {
        if text == "everything" {
            return Ok(Self::Everything);
        }
        let project = text.parse().map(Self::Project).ok();
        project
            .or_else(|| text.parse().map(Self::Batch).ok())
            .ok_or(ScopeError)
    }
}

/// Who put a hold on, when, and why.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Hold {
    /// Why, if they said.
    pub reason: Option<Reason>,
    /// Who.
    pub by: Caller,
    /// When.
    pub since: Timestamp,
}

/// What happened to a hold above a single task.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub enum HoldEvent {
    /// Work of this scope is no longer handed out.
    Held {
        /// The hold.
        hold: Hold,
    },
    /// Work of this scope is handed out again.
    Unheld,
}

impl HoldEvent {
    /// The hold that is in force after this event.
    pub fn in_force(self) -> Option<Hold> {
        match self {
            Self::Held { hold } => Some(hold),
            Self::Unheld => None,
        }
    }
}
