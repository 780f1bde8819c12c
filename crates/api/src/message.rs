//! Messages to sessions as JSON.

use handoff_core::Timestamp;
use schemars::JsonSchema;
use serde::Serialize;

/// A message to a session.
#[derive(Debug, Serialize, JsonSchema)]
pub struct MessageDocument {
    /// Its identity.
    pub id: String,
    /// The session that it is for.
    pub session: String,
    /// Its place among all messages to that session, from one.
    pub number: u64,
    /// `queued`, `written`, `submitted`, `answered`, `failed` or `expired`.
    pub state: String,
    /// Why it waits, or did not arrive.
    pub because: Option<String>,
    /// What shows that the agent took it: `state`, `editor`, `box` or `line`.
    pub evidence: Option<String>,
    /// The turn that it belongs to.
    pub turn: Option<u64>,
    /// When it was accepted.
    pub accepted_at: Timestamp,
    /// The session that sent it.
    pub from: Option<SenderDocument>,
    /// What it says.
    pub text: String,
    /// How its turn ended: `done`, `failed`, `interrupted`, `refused`, `limit`, `exited` or `unclear`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub outcome: Option<String>,
    /// What the agent said of the trouble that ended its turn.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub error: Option<TroubleDocument>,
    /// What the agent answered, or had said when its turn came to nothing.
    pub answer: Option<AnswerDocument>,
    /// How it came here, the oldest first.
    pub history: Vec<MessageStep>,
}

impl MessageDocument {
    /// The schema of a message.
    pub const SCHEMA: &str = "handoff.message/1";
}

/// A session that sends.
#[derive(Debug, Serialize, JsonSchema)]
pub struct SenderDocument {
    /// Which one.
    pub session: String,
    /// What people call it.
    pub name: String,
}

/// What an agent said of the trouble that ended its turn.
#[derive(Debug, Serialize, JsonSchema)]
pub struct TroubleDocument {
    /// `request`, `login`, `rate_limit`, `quota`, `server`, `network` or `other`.
    pub kind: String,
    /// Its words.
    pub said: Option<String>,
}

/// What an agent answered.
#[derive(Debug, Serialize, JsonSchema)]
pub struct AnswerDocument {
    /// The text.
    pub text: String,
    /// `transcript` for the agent's own record, `screen` for what it printed.
    pub source: String,
    /// Whether it was longer, and only its end is here.
    pub truncated: bool,
}

/// One step of a message.
#[derive(Debug, Serialize, JsonSchema)]
pub struct MessageStep {
    /// When.
    pub at: Timestamp,
    /// What it was from then on.
    pub state: String,
    /// Why it waits, or did not arrive.
    pub because: Option<String>,
}

/// The messages to a session.
#[derive(Debug, Serialize)]
pub struct MessagesDocument {
    /// In the order of acceptance.
    pub messages: Vec<MessageDocument>,
}

impl MessagesDocument {
    /// The schema of a list of messages.
    pub const SCHEMA: &str = "handoff.messages/1";
}

/// What was waited for has come.
#[derive(Debug, Serialize)]
pub struct SessionWaitDocument {
    /// The session.
    pub session: String,
    /// What people call it.
    pub name: String,
    /// What was waited for.
    pub until: String,
    /// What the agent does now.
    pub state: String,
    /// What a blocked agent waits for.
    pub kind: Option<String>,
    /// The turn that ended, if that was waited for.
    pub turn: Option<u64>,
    /// How it ended: `done`, `failed`, `interrupted`, `refused`, `limit`, `exited` or `unclear`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub outcome: Option<String>,
    /// What was replied, if that was waited for.
    pub reply: Option<String>,
    /// The number of the last event that was looked at: the next wait goes on `--after` it.
    pub seq: u64,
}

impl SessionWaitDocument {
    /// The schema of what was waited for.
    pub const SCHEMA: &str = "handoff.session-wait/1";
}

/// A turn that was interrupted.
#[derive(Debug, Serialize)]
pub struct InterruptDocument {
    /// The session.
    pub session: String,
    /// What people call it.
    pub name: String,
    /// The turn.
    pub turn: u64,
    /// How it ended; `panel_left` if a panel was left instead.
    pub outcome: String,
}

impl InterruptDocument {
    /// The schema of an interrupted turn.
    pub const SCHEMA: &str = "handoff.interrupt/1";
}

/// A signal that was sent to a session.
#[derive(Debug, Serialize)]
pub struct SignalDocument {
    /// The session.
    pub session: String,
    /// What people call it.
    pub name: String,
    /// Its name, without `SIG`.
    pub signal: String,
    /// The processes that got it.
    pub processes: Vec<u32>,
}

impl SignalDocument {
    /// The schema of a signal that was sent.
    pub const SCHEMA: &str = "handoff.signal/1";
}

/// What an agent asks a person.
#[derive(Debug, Serialize, JsonSchema)]
pub struct DialogDocument {
    /// The session.
    pub session: String,
    /// What people call it.
    pub name: String,
    /// What it waits for: `permission`, `question`, `trust`, `login`, `limit`, `panel` or `other`.
    pub kind: String,
    /// What it asks, as far as that can be read.
    pub question: Option<String>,
    /// What can be chosen.
    pub choices: Vec<String>,
    /// The number of the choice that Enter would take.
    pub pointed: Option<usize>,
}

impl DialogDocument {
    /// The schema of a dialog.
    pub const SCHEMA: &str = "handoff.dialog/1";
}

/// A choice that was made.
#[derive(Debug, Serialize, JsonSchema)]
pub struct AnsweredDocument {
    /// The session.
    pub session: String,
    /// What people call it.
    pub name: String,
    /// What was chosen.
    pub choice: String,
}

impl AnsweredDocument {
    /// The schema of a choice.
    pub const SCHEMA: &str = "handoff.answered/1";
}

/// What a session said last of its task is written down.
#[derive(Debug, Serialize)]
pub struct LastWordDocument {
    /// The session that says it.
    pub session: String,
    /// Its task.
    pub task: Option<String>,
    /// The number of the event.
    pub seq: u64,
}

impl LastWordDocument {
    /// The schema of a last word.
    pub const SCHEMA: &str = "handoff.last-word/1";
}

/// What a session said to whoever started it.
#[derive(Debug, Serialize)]
pub struct ReplyDocument {
    /// The session that says it.
    pub session: String,
    /// The number of the event.
    pub seq: u64,
    /// The message to the session that started it, if one did.
    pub message: Option<String>,
}

impl ReplyDocument {
    /// The schema of a reply.
    pub const SCHEMA: &str = "handoff.reply/1";
}
