//! An error as JSON.

use serde::Serialize;

/// What went wrong, for a program to act on.
#[derive(Debug, Serialize)]
pub struct ErrorDocument {
    /// The word of the exit code.
    pub error: &'static str,
    /// The exit code.
    pub exit_code: u8,
    /// What went wrong, in a sentence.
    pub message: String,
    /// What it came from, outermost first.
    pub causes: Vec<String>,
    /// Commands that are safe to try.
    pub hints: Vec<String>,
}

impl ErrorDocument {
    /// The schema of an error.
    pub const SCHEMA: &str = "handoff.error/1";
}
