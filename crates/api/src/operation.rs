//! Operations as JSON: what can be called at any door.

use serde::Serialize;
use serde_json::Value;

/// The operations that doors offer.
#[derive(Debug, Serialize)]
pub struct OperationsDocument {
    /// By name.
    pub operations: Vec<OperationRow>,
}

impl OperationsDocument {
    /// The schema of the list.
    pub const SCHEMA: &str = "handoff.operations/1";
}

/// An operation.
#[derive(Debug, Serialize)]
pub struct OperationRow {
    /// What it is called by.
    pub name: &'static str,
    /// What it does.
    pub description: String,
    /// `reads` or `changes`.
    pub effect: &'static str,
    /// `moment` where it waits for nothing, `waits` where it waits for an agent or for git.
    pub takes: &'static str,
    /// Who may call it: `person`, `worker`, `session`, `sub-task`, `check`. What depends on the request is decided then.
    pub callers: Vec<&'static str>,
    /// The schema of its answer.
    pub answers: &'static str,
}

/// What an operation takes and answers, as JSON Schema.
#[derive(Debug, Serialize)]
pub struct OperationSchemaDocument {
    /// What it is called by.
    pub name: &'static str,
    /// What it takes.
    pub request: Value,
    /// The name of the shape of its answer.
    pub answers: &'static str,
    /// That shape.
    pub response: Value,
}

impl OperationSchemaDocument {
    /// The schema of this.
    pub const SCHEMA: &str = "handoff.operation-schema/1";
}
