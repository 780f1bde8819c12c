//! What a commit in the making is going to change, durable before it changes anything.

use std::path::PathBuf;

use handoff_core::{CommitId, Timestamp};
use serde::{Deserialize, Serialize};

/// The file in a booth.
pub(super) const FILE: &str = "intent.json";
/// An intent is a page at most.
pub(super) const LIMIT: u64 = 1024 * 1024;

/// What is about to be done, and where.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Intent {
    pub(super) schema_version: u32,
    /// The tree that is committed from.
    pub(super) root: PathBuf,
    /// Its branch; none if its HEAD is detached.
    pub(super) branch: Option<String>,
    /// What the commit stands on; none before the first one.
    pub(super) parent: Option<CommitId>,
    pub(super) content: Content,
    /// Who does it. Nobody is signalled by this number.
    pub(super) pid: u32,
    pub(super) at: Timestamp,
}

/// Where the content of a commit comes from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum Content {
    /// The files of the tree.
    Tree,
    /// What is staged.
    Staged,
    /// What is staged and resolved, and the files of the tree on top: it ends a merge.
    Merge,
}

impl Intent {
    pub(super) const VERSION: u32 = 1;
}
