//! How each agent is asked, permitted, refused and interrupted, and what of it is to be seen then.

use super::Name;

/// What differs between agents that talk to a model.
pub(super) struct Manners {
    pub(super) arguments: &'static [&'static str],
    /// How it asks whether the directory is trusted. None if it does not ask.
    pub(super) trust: Option<Trust>,
    /// What is seen when it waits for the first message.
    pub(super) ready: &'static str,
    /// Whether it runs commands, or why not.
    pub(super) tools: Having,
    /// A prompt that makes it ask for a permission, to run `COMMAND` where it does that.
    pub(super) asking: &'static str,
    /// What is seen then.
    pub(super) question: &'static str,
    pub(super) accept: &'static str,
    pub(super) reject: &'static str,
    /// What is seen after a refusal. None if the question is gone then.
    pub(super) refused: Option<&'static str>,
    /// How the turn ends then.
    pub(super) rejected: &'static str,
    /// What is seen after an interrupt.
    pub(super) interrupted: &'static str,
    /// What is seen after the model refused for good, and what is published then.
    pub(super) error: (&'static str, &'static str),
    /// Whether texts that look like commands are tried, or why not.
    pub(super) odd_texts: Having,
    /// Commands that open something over the place where one types.
    pub(super) panels: &'static [&'static str],
    /// Whether what a turn took can be known, or why not.
    pub(super) figures: Having,
}

/// The question whether a directory is trusted.
#[derive(Clone, Copy)]
pub(super) struct Trust {
    /// What is seen of it.
    pub(super) question: &'static str,
    /// The keys that say yes.
    pub(super) yes: &'static [&'static str],
    /// What is seen when it has been answered. None if the question is gone then.
    pub(super) answered: Option<&'static str>,
}

/// Whether an agent has something.
#[derive(Clone, Copy)]
pub(super) enum Having {
    There,
    NotThere(&'static str),
}

pub(super) fn of(name: Name) -> Manners {
    match name {
        Name::Claude | Name::ClaudeQuiet => CLAUDE,
        Name::Codex => CODEX,
        Name::Opencode => OPENCODE,
        Name::Gemini => GEMINI,
        Name::Copilot => COPILOT,
        Name::Aider => AIDER,
        Name::Bash => BASH,
        Name::Scripted => SCRIPTED,
    }
}

const CLAUDE: Manners = Manners {
    arguments: &["--permission-mode", "manual"],
    // Enter alone would leave it.
    trust: Some(Trust {
        question: "Yes, I trust this folder",
        yes: &["\x1b[B", "\r"],
        answered: None,
    }),
    ready: "? for shortcuts",
    tools: Having::There,
    asking: "@@sh COMMAND ;; @@text allowed",
    question: "Do you want to proceed?",
    accept: "\r",
    reject: "\x1b",
    refused: None,
    rejected: "refused",
    interrupted: "Interrupted",
    error: ("API Error", "blocked (error)"),
    odd_texts: Having::There,
    panels: &["/status", "/model", "/theme", "/skills"],
    figures: Having::There,
};

const CODEX: Manners = Manners {
    arguments: &[],
    trust: Some(Trust {
        question: "Trust this folder?",
        yes: &["\r"],
        answered: None,
    }),
    ready: "gpt-5-codex default",
    tools: Having::There,
    asking: "@@tool exec_command {\"cmd\":\"COMMAND\",\"sandbox_permissions\":\"require_escalated\",\
             \"justification\":\"may I?\"} ;; @@text allowed",
    question: "Would you like to run",
    accept: "y",
    reject: "\x1b",
    refused: None,
    rejected: "refused",
    interrupted: "interrupted",
    error: ("■", "blocked (error)"),
    odd_texts: Having::There,
    panels: &["/model", "/permissions"],
    figures: Having::There,
};

const OPENCODE: Manners = Manners {
    arguments: &[],
    trust: None,
    ready: "Ask anything",
    tools: Having::There,
    asking: "do @@sh COMMAND ;; @@text allowed",
    question: "Permission required",
    accept: "\r",
    reject: "\x1b",
    refused: None,
    rejected: "refused",
    interrupted: "interrupted",
    error: ("says 400", "blocked (error)"),
    odd_texts: Having::NotThere("it is not tried yet"),
    panels: &[],
    figures: Having::There,
};

const GEMINI: Manners = Manners {
    arguments: &[],
    // It begins anew below what it has asked.
    trust: Some(Trust {
        question: "Do you trust the files",
        yes: &["\r"],
        answered: Some("is restarting"),
    }),
    ready: "Type your message",
    tools: Having::There,
    asking: "@@sh COMMAND ;; @@text allowed",
    question: "Allow execution of",
    accept: "\r",
    reject: "\x1b",
    refused: None,
    rejected: "refused",
    interrupted: "Request cancelled",
    error: ("API Error", "blocked (error)"),
    odd_texts: Having::NotThere("it is not tried yet"),
    panels: &[],
    figures: Having::There,
};

const COPILOT: Manners = Manners {
    arguments: &[],
    trust: Some(Trust {
        question: "trust",
        yes: &["\r"],
        answered: None,
    }),
    ready: "/ commands",
    tools: Having::There,
    asking: "@@sh COMMAND ;; @@text allowed",
    question: "Do you want to run this command?",
    accept: "\r",
    reject: "\x1b",
    refused: None,
    rejected: "refused",
    interrupted: "cancelled",
    error: ("says 400", "blocked (error)"),
    odd_texts: Having::NotThere("it is not tried yet"),
    panels: &[],
    figures: Having::There,
};

/// It asks whether it may write files, and has no tools that it calls by itself.
const AIDER: Manners = Manners {
    arguments: &[
        "--model",
        "openai/aider-fake",
        "--no-check-update",
        "--analytics-disable",
        "--no-show-model-warnings",
        "--no-gitignore",
        "--no-show-release-notes",
    ],
    trust: None,
    ready: "─\n>",
    tools: Having::NotThere("it calls no tools"),
    asking: "@@text refused\n```\nhello\n```",
    question: "Create new file?",
    accept: "y\r",
    reject: "n\r",
    refused: Some("]: n"),
    rejected: "refused",
    interrupted: "again to exit",
    error: ("BadRequestError", "blocked (error)"),
    odd_texts: Having::NotThere("it is not tried yet"),
    panels: &[],
    figures: Having::NotThere("it keeps no figures"),
};

/// Talks to no model.
const BASH: Manners = Manners {
    arguments: &["--norc", "--noprofile"],
    trust: None,
    ready: "bash-",
    tools: Having::There,
    asking: "",
    question: "",
    accept: "",
    reject: "",
    refused: None,
    rejected: "refused",
    interrupted: "^C",
    error: ("", ""),
    odd_texts: Having::There,
    panels: &[],
    figures: Having::There,
};

const SCRIPTED: Manners = Manners {
    arguments: &["agent.toml"],
    ready: "ready>",
    ..BASH
};
