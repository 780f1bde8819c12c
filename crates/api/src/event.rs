//! An event of the ledger as JSON: one object a line.

use handoff_core::{Envelope, Event, Timestamp};
use serde::Serialize;

/// What happened.
#[derive(Debug, Serialize)]
pub struct EventDocument {
    /// Give this to `--since` to go on after it.
    pub cursor: String,
    /// Whose history it belongs to.
    pub stream: String,
    /// Its number there, without gap or repeat.
    pub seq: u64,
    /// The project, if it concerns one.
    pub project: Option<String>,
    /// When it was recorded.
    pub at: Timestamp,
    /// Who caused it.
    pub by: String,
    /// What happened; `type` says which kind.
    pub event: Event,
}

impl EventDocument {
    /// The schema of an event.
    pub const SCHEMA: &str = "handoff.event/1";
}

impl From<Envelope> for EventDocument {
    fn from(envelope: Envelope) -> Self {
        Self {
            cursor: envelope.cursor.to_string(),
            stream: envelope.stream.to_string(),
            seq: envelope.seq,
            project: envelope.project.map(|project| project.to_string()),
            at: envelope.at,
            by: envelope.by.to_string(),
            event: envelope.event,
        }
    }
}
