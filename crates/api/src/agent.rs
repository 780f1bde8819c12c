//! Agents as JSON.

use serde::Serialize;

/// An agent CLI that is known.
#[derive(Debug, Serialize)]
pub struct AgentDocument {
    /// What `handoff run` calls it.
    pub name: String,
    /// What it is.
    pub about: String,
    /// What is started.
    pub command: Vec<String>,
    /// The user's file that describes it; none for one that is built in.
    pub file: Option<String>,
    /// The description, as TOML.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
}

impl AgentDocument {
    /// Of one agent with its description.
    pub const SCHEMA: &str = "handoff.agent/1";
}

/// All agents that are known.
#[derive(Debug, Serialize)]
pub struct AgentsDocument {
    /// Built-in ones first.
    pub agents: Vec<AgentDocument>,
}

impl AgentsDocument {
    /// The name of this shape.
    pub const SCHEMA: &str = "handoff.agents/1";
}

/// What an agent's description makes of a recorded terminal.
#[derive(Debug, Serialize)]
pub struct RehearsalDocument {
    /// The recording.
    pub file: String,
    /// `prompt`, `busy`, `blocked`, `starting` or `unknown`, at its end.
    pub state: String,
    /// What a blocked agent waits for.
    pub kind: Option<String>,
    /// What says so.
    pub source: String,
    /// What would have been published, and when.
    pub changes: Vec<RehearsalChange>,
}

/// A change of state in a recording.
#[derive(Debug, Serialize)]
pub struct RehearsalChange {
    /// Seconds since its beginning.
    pub at_seconds: f64,
    /// The new state.
    pub state: String,
    /// What a blocked agent waits for.
    pub kind: Option<String>,
    /// What says so.
    pub source: String,
}

impl RehearsalDocument {
    /// The name of this shape.
    pub const SCHEMA: &str = "handoff.rehearsal/1";
}
