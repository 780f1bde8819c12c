//! What a batch leaves that was paused: the packages of its parts.

use handoff_core::batch::AdoptedBatch;
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
    /// All of it, for a store that does not know it. The packages of its parts are attached.
    pub whole: Option<AdoptedBatch>,
}

impl BatchState {
    /// What a package of a part is called as an attachment.
    #[must_use]
    pub fn attachment(part: PackageId) -> String {
        format!("{part}.hof")
    }

    /// The batch under the ids that it has in a store that takes it over with this package.
    #[must_use]
    pub fn under(&self, package: PackageId) -> Self {
        let mut adopted = self.clone();
        adopted.id = self.id.adopted(package);
        for part in &mut adopted.parts {
            part.task = part.task.adopted(package);
        }
        adopted
    }
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
