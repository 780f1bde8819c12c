//! What `backup` and `restore` say.

use serde::Serialize;

/// What is in a backup.
#[derive(Debug, Serialize)]
pub struct BackupManifest {
    /// Which ledger.
    pub store: String,
    /// When it was copied.
    pub made_at: String,
    /// The version of the program that copied it.
    pub tool: String,
    /// The version of the ledger's schema.
    pub schema_version: i64,
    /// Its newest event.
    pub cursor: String,
    /// Tasks.
    pub tasks: usize,
    /// Packages.
    pub packages: usize,
    /// Events.
    pub events: usize,
    /// Files, without the manifest.
    pub files: usize,
    /// How long they are together.
    pub bytes: u64,
    /// Packages that nobody can receive any more, whose bytes were not there or not whole.
    pub left_out: usize,
    /// Whether the keys are in it.
    pub has_keys: bool,
}

/// What `backup` says.
#[derive(Debug, Serialize)]
pub struct BackupDocument {
    /// Where it is.
    pub directory: String,
    /// What is in it.
    pub backup: BackupManifest,
}

impl BackupDocument {
    /// The schema of `backup`.
    pub const SCHEMA: &str = "handoff.backup/1";
}

/// What `restore` says.
#[derive(Debug, Serialize)]
pub struct RestoreDocument {
    /// What is in the backup; none when a kept state was put back.
    pub backup: Option<BackupManifest>,
    /// Whether it was only checked.
    pub is_check: bool,
    /// Where the state is kept that was there before.
    pub kept: Option<String>,
    /// Tasks whose fences begin anew.
    pub tasks: usize,
    /// Leases that were made void.
    pub leases: usize,
    /// Whether this machine has a key of its own.
    pub has_key: bool,
}

impl RestoreDocument {
    /// The schema of `restore`.
    pub const SCHEMA: &str = "handoff.restore/1";
}
