//! How each agent is asked, permitted, refused and interrupted, and what of it is to be seen then.

use super::Name;

/// What differs between agents that talk to a model.
pub(super) struct Manners {
    pub(super) arguments: &'static [&'static str],
    /// What is seen when it asks whether the directory is trusted, and what says yes. None if it does not ask.
    pub(super) trust: Option<(&'static str, &'static [&'static str])>,
    /// What is seen when it waits for the first message.
    pub(super) ready: &'static str,
    /// A prompt that makes it ask for a permission to run `COMMAND`.
    pub(super) asking: &'static str,
    /// What is seen then.
    pub(super) question: &'static str,
    pub(super) accept: &'static str,
    pub(super) reject: &'static str,
    /// What is seen after an interrupt.
    pub(super) interrupted: &'static str,
    /// What is seen after the model refused for good, and what is published then.
    pub(super) error: (&'static str, &'static str),
}

pub(super) fn of(name: Name) -> Manners {
    match name {
        Name::Claude | Name::ClaudeQuiet => CLAUDE,
        Name::Codex => CODEX,
        Name::Opencode => OPENCODE,
        Name::Gemini => GEMINI,
        Name::Copilot => COPILOT,
        Name::Bash => BASH,
        Name::Scripted => SCRIPTED,
    }
}

const CLAUDE: Manners = Manners {
    arguments: &["--permission-mode", "manual"],
    // Enter alone would leave it.
    trust: Some(("Yes, I trust this folder", &["\x1b[B", "\r"])),
    ready: "? for shortcuts",
    asking: "@@sh COMMAND ;; @@text allowed",
    question: "Do you want to proceed?",
    accept: "\r",
    reject: "\x1b",
    interrupted: "Interrupted",
    error: ("API Error", "blocked (error)"),
};

const CODEX: Manners = Manners {
    arguments: &[],
    trust: Some(("Trust this folder?", &["\r"])),
    ready: "gpt-5-codex default",
    asking: "@@tool exec_command {\"cmd\":\"COMMAND\",\"sandbox_permissions\":\"require_escalated\",\
             \"justification\":\"may I?\"} ;; @@text allowed",
    question: "Would you like to run",
    accept: "y",
    reject: "\x1b",
    interrupted: "interrupted",
    error: ("■", "blocked (error)"),
};

const OPENCODE: Manners = Manners {
    arguments: &[],
    trust: None,
    ready: "Ask anything",
    asking: "do @@sh COMMAND ;; @@text allowed",
    question: "Permission required",
    accept: "\r",
    reject: "\x1b",
    interrupted: "interrupted",
    error: ("says 400", "prompt"),
};

const GEMINI: Manners = Manners {
    arguments: &[],
    trust: Some(("Do you trust the files", &["\r"])),
    ready: "Type your message",
    asking: "@@sh COMMAND ;; @@text allowed",
    question: "Allow execution of",
    accept: "\r",
    reject: "\x1b",
    interrupted: "Request cancelled",
    error: ("API Error", "prompt"),
};

const COPILOT: Manners = Manners {
    arguments: &[],
    trust: Some(("trust", &["\r"])),
    ready: "/ commands",
    asking: "@@sh COMMAND ;; @@text allowed",
    question: "Do you want to run this command?",
    accept: "\r",
    reject: "\x1b",
    interrupted: "cancelled",
    error: ("400", "blocked (error)"),
};

/// Talks to no model.
const BASH: Manners = Manners {
    arguments: &["--norc", "--noprofile"],
    trust: None,
    ready: "bash-",
    asking: "",
    question: "",
    accept: "",
    reject: "",
    interrupted: "^C",
    error: ("", ""),
};

const SCRIPTED: Manners = Manners {
    arguments: &["agent.toml"],
    ready: "ready>",
    ..BASH
};
