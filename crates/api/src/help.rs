//! What `help` and `completion` say.

use serde::Serialize;

/// The help on one command, or on all.
#[derive(Debug, Serialize)]
pub struct HelpDocument {
    /// The help as a person reads it.
    pub text: String,
}

impl HelpDocument {
    /// The schema of a help text.
    pub const SCHEMA: &str = "handoff.help/1";
}

/// A completion script.
#[derive(Debug, Serialize)]
pub struct CompletionDocument {
    /// For which shell.
    pub shell: String,
    /// The script.
    pub script: String,
}

impl CompletionDocument {
    /// The schema of a completion script.
    pub const SCHEMA: &str = "handoff.completion/1";
}
