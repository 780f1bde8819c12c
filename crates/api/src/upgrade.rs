//! What `upgrade` says.

use serde::Serialize;

/// What came of an upgrade.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum UpgradeOutcome {
    /// The newest release is installed already.
    Current,
    /// What is installed is newer than the newest release.
    Ahead,
    /// There is a newer one, and it was only asked for.
    Available,
    /// The newer one is in place and has answered.
    Upgraded,
}

/// What `upgrade` says.
#[derive(Debug, Serialize)]
pub struct UpgradeDocument {
    /// What came of it.
    pub outcome: UpgradeOutcome,
    /// The version that was installed when the command began.
    pub installed: String,
    /// The newest release.
    pub newest: String,
    /// What programs are looked for.
    pub platform: &'static str,
    /// The file that is or would be replaced.
    pub program: String,
}

impl UpgradeDocument {
    /// The schema of `upgrade`.
    pub const SCHEMA: &str = "handoff.upgrade/1";
}
