//! What a batch leaves that was paused: the packages of its parts.

use handoff_core::{BatchId, BatchName, PackageId, TaskId, TaskName};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A batch as it stood when it was paused.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct BatchState {
    /// Which.
    pub id: BatchId,
    /// What people call it.
    pub name: BatchName,
    /// The parts that were worked on. The others go on as if nothing had been.
    pub parts: Vec<PausedPart>,
}

/// A part of a batch that was paused with it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct PausedPart {
    /// Which.
    pub task: TaskId,
    /// What people call it.
    pub name: TaskName,
    /// What it goes on from.
    pub package: PackageId,
}
