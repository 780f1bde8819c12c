//! What `gc` says.

use serde::Serialize;

/// What `gc` cleared away, or would, and why the rest stays.
#[derive(Debug, Serialize)]
pub struct GcDocument {
    /// Whether nothing was done.
    pub is_dry_run: bool,
    /// How much of each kind goes or stays, and why.
    pub rows: Vec<GcRow>,
    /// What goes, one by one.
    pub items: Vec<GcItem>,
    /// Files that the ledger does not know. They are left as they are.
    pub unknown: Vec<String>,
}

impl GcDocument {
    /// The schema of `gc`.
    pub const SCHEMA: &str = "handoff.gc/1";
}

/// Things of one kind with one fate for one reason.
#[derive(Debug, PartialEq, Eq, Serialize)]
pub struct GcRow {
    /// `session`, `transcript`, `worktree`, `baton`, `branch`, `package` or `attachment`.
    pub kind: &'static str,
    /// Whether they go.
    pub goes: bool,
    /// Why.
    pub why: &'static str,
    /// How many.
    pub count: usize,
    /// How much.
    pub bytes: u64,
}

/// One thing that goes.
#[derive(Debug, Serialize)]
pub struct GcItem {
    /// What it is.
    pub kind: &'static str,
    /// What it is called.
    pub name: String,
    /// How much of it there is.
    pub bytes: u64,
}
