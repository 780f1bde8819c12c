//! What is in a package.

use handoff_core::task::{Brief, Evidence, Summary};
use handoff_core::{
    BranchName, CommitId, Fence, PackageId, ProjectId, TaskId, TaskName, Timestamp,
};
use serde::{Deserialize, Serialize};

/// What one session hands to the next.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Package {
    /// Which package.
    pub id: PackageId,
    /// Whose.
    pub project: ProjectId,
    /// Of which task.
    pub task: TaskId,
    /// What people call the task.
    pub task_name: TaskName,
    /// Under which lease it was sealed.
    pub fence: Fence,
    /// When, by the wall clock of whoever sealed it.
    pub created_at: Timestamp,
    /// Where the work is.
    pub branch: BranchName,
    /// The work, if something was committed.
    pub commit: Option<CommitId>,
    /// What the session was asked to do.
    pub brief: Brief,
    /// What it says it did: a claim.
    pub summary: Option<Summary>,
    /// What was seen to be true.
    pub evidence: Vec<Evidence>,
}
