//! What the commands say that make prompts.

use serde::Serialize;

/// A prompt, and what it was made from.
#[derive(Debug, Serialize)]
pub struct PromptDocument {
    /// What for: `start`, `spec`, `design`, `tasks`, `continue`.
    pub purpose: &'static str,
    /// The feature; none where there is none.
    pub feature: Option<String>,
    /// The prompt itself.
    pub prompt: String,
    /// The text that it was made from.
    pub template: TemplateDocument,
    /// Whether it is on the clipboard; none if nobody asked.
    pub is_copied: Option<bool>,
}

impl PromptDocument {
    /// The schema of a prompt.
    pub const SCHEMA: &str = "handoff.prompt/1";
}

/// A template in force.
#[derive(Debug, Serialize)]
pub struct TemplateDocument {
    /// The name of its file.
    pub name: &'static str,
    /// Whether somebody changed it.
    pub is_customised: bool,
    /// The file, if it is customised.
    pub path: Option<String>,
    /// The first twelve digits of its SHA-256.
    pub digest: String,
}
