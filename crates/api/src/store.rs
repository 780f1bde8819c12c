//! What `doctor` and `version` say.

use serde::Serialize;

/// The store in use.
#[derive(Debug, Serialize)]
pub struct StoreDocument {
    /// Its identity.
    pub id: String,
    /// `sqlite` or `postgres`.
    pub engine: String,
    /// The engine's own version.
    pub engine_version: String,
    /// Where it is, without any password.
    pub location: String,
    /// The version of our schema.
    pub schema_version: i64,
}

/// How a check of `doctor` came out.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Verdict {
    /// As it should be.
    Good,
    /// Something is missing that only some commands need.
    Limited,
    /// Something does not work.
    Bad,
}

/// One line of `doctor`.
#[derive(Debug, Serialize)]
pub struct Finding {
    /// What was looked at.
    pub what: &'static str,
    /// How it is.
    pub verdict: Verdict,
    /// What was found.
    pub found: String,
}

/// What `doctor` says.
#[derive(Debug, Serialize)]
pub struct DoctorDocument {
    /// Line by line.
    pub findings: Vec<Finding>,
    /// The store, if it could be opened.
    pub store: Option<StoreDocument>,
    /// What an audit found, one by one.
    pub faults: Vec<FaultDocument>,
}

/// Something that an audit found.
#[derive(Debug, Clone, Serialize)]
pub struct FaultDocument {
    /// Of what kind; the words stay the same for ever.
    pub kind: &'static str,
    /// Whether it is damage, or something that a person may have wanted.
    pub verdict: Verdict,
    /// What is wrong.
    pub what: String,
    /// What is not touched by it.
    pub safe: &'static str,
    /// What to do next. Nothing of that destroys anything.
    pub next: String,
}

impl DoctorDocument {
    /// The schema of `doctor`.
    pub const SCHEMA: &str = "handoff.doctor/1";
}

/// What `version` says.
#[derive(Debug, Serialize)]
pub struct VersionDocument {
    /// The version of this program.
    pub version: &'static str,
}

impl VersionDocument {
    /// The schema of `version`.
    pub const SCHEMA: &str = "handoff.version/1";
}
