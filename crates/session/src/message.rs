//! What somebody says to a session, and how far it has come.
//!
//! ```text
//! queued ─► written ─► submitted ─► answered
//!    │         │            └────► failed: its turn came to nothing, and says how
//!    │         └─► failed            typed, and seen not to be taken
//!    └─► failed, expired             never typed
//! ```
//!
//! A message that was typed and of which nothing was seen afterwards stays `written`: it is neither called delivered nor failed.

mod preview;
mod relay;

use std::time::Duration;

use handoff_core::{IdempotencyKey, MessageId, SessionId, SessionName, Timestamp};
use serde::{Deserialize, Serialize};

use crate::outcome::Outcome;

pub use preview::Preview;
pub use relay::{header, with_header};

/// The longest text that is taken.
pub const LONGEST: usize = 512 * 1024;

/// What somebody wants said.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Order {
    pub text: String,
    /// The same key is the same message.
    pub key: IdempotencyKey,
    #[serde(default)]
    pub finish: Finish,
    #[serde(default)]
    pub urgency: Urgency,
    #[serde(default, skip_serializing_if = "TextSense::is_words")]
    pub sense: TextSense,
    /// How long it may wait to be typed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub expires_after: Option<Duration>,
}

/// What somebody wants said, as a request has it: whoever names no key cannot repeat it.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
pub struct MessageDraft {
    pub text: String,
    #[serde(default)]
    pub key: Option<IdempotencyKey>,
    #[serde(default)]
    pub finish: Finish,
    #[serde(default)]
    pub urgency: Urgency,
    #[serde(default)]
    pub sense: TextSense,
    #[serde(default)]
    pub expires_after: Option<Duration>,
}

impl MessageDraft {
    /// The same as an order. The key of one that has none is its id.
    pub fn order(&self, id: MessageId) -> Order {
        let own = || id.to_string().parse().expect("an id is a key");
        Order {
            text: self.text.clone(),
            key: self.key.clone().unwrap_or_else(own),
            finish: self.finish,
            urgency: self.urgency,
            sense: self.sense,
            expires_after: self.expires_after,
        }
    }
}

/// Whether the text is sent off.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Finish {
    #[default]
    Submit,
    /// It is left in the box for a person.
    Leave,
}

/// Whether the agent is waited for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Urgency {
    /// Until it reads.
    #[default]
    Wait,
    /// Typed at once and before those that wait, unless a dialog is open.
    Force,
}

/// What a text is to the agent.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum TextSense {
    /// Words of a person, whatever they begin with.
    #[default]
    Words,
    /// A command of the agent's own, or a key of its menu.
    Command,
}

impl TextSense {
    const fn is_words(&self) -> bool {
        matches!(self, Self::Words)
    }
}

/// A message that is on record.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Message {
    pub id: MessageId,
    /// Its place among all messages to this session, from one.
    pub number: u64,
    pub accepted_at: Timestamp,
    /// The session that sent it; nobody for a person or a program outside of sessions.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub from: Option<Sender>,
    #[serde(flatten)]
    pub order: Order,
}

/// A session that sends.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Sender {
    pub session: SessionId,
    pub name: SessionName,
}

/// How far a message has come.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "state", rename_all = "snake_case")]
pub enum Progress {
    /// It waits, and this is what for.
    Queued {
        #[serde(default, skip_serializing_if = "Option::is_none")]
        because: Option<Because>,
    },
    /// It is typed.
    Written {
        #[serde(default, skip_serializing_if = "Option::is_none")]
        because: Option<Because>,
    },
    /// The agent has taken it.
    Submitted {
        evidence: Evidence,
        turn: u64,
    },
    /// The turn that it began is over.
    Answered {
        turn: u64,
        answer: Answer,
    },
    Failed {
        because: Because,
        /// The turn that came to nothing, if it was taken.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        lost: Option<LostTurn>,
    },
    Expired,
}

/// What shows that a message was taken.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Evidence {
    /// The agent no longer waits for a message.
    State,
    /// The line editor stopped reading.
    Editor,
    /// The box, which held the text, is empty.
    Box,
    /// The line with the text was ended.
    Line,
}

/// A turn that ended without an answer.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct LostTurn {
    pub turn: u64,
    #[serde(flatten)]
    pub outcome: Outcome,
    /// What the agent had said by then.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub words: Option<Answer>,
}

/// Why a message waits, did not arrive, or has no answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Because {
    Starting,
    Busy,
    Blocked,
    Unknown,
    /// Somebody else's text is in the box.
    Draft,
    /// Another message is on its way.
    Turn,
    /// A dialog is open, and nothing is typed into one.
    Dialog,
    /// It was left in the box, as asked.
    Left,
    /// It was typed and stayed in the box.
    NotTaken,
    /// It was typed, and nothing was seen that tells whether it was taken.
    Unseen,
    /// It cannot be typed as it is, and its file could not be written.
    Unstored,
    /// The session ended before.
    Ended,
    /// It was taken, and the model did not answer.
    TurnFailed,
    /// It was taken, and its turn was stopped.
    Interrupted,
    /// It was taken, and its turn ended with a refusal.
    Refused,
    /// It was taken, and what may be used is used up.
    Limit,
    /// It was taken, and the agent ended in the middle.
    Died,
    /// It was taken, and nothing shows how its turn ended.
    Unclear,
    /// A later version knows.
    #[serde(other)]
    Other,
}

/// What a turn said in the end.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Answer {
    pub text: String,
    pub source: AnswerSource,
    /// Whether it was longer, and only its end is here.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub is_truncated: bool,
}

/// Where an answer comes from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum AnswerSource {
    /// The agent's own record of the conversation.
    Transcript,
    /// What it printed between the message and the next prompt.
    Screen,
}

impl Progress {
    pub const fn word(&self) -> &'static str {
        match self {
            Self::Queued { .. } => "queued",
            Self::Written { .. } => "written",
            Self::Submitted { .. } => "submitted",
            Self::Answered { .. } => "answered",
            Self::Failed { .. } => "failed",
            Self::Expired => "expired",
        }
    }

    pub const fn because(&self) -> Option<Because> {
        match self {
            Self::Queued { because } | Self::Written { because } => *because,
            Self::Failed { because, .. } => Some(*because),
            Self::Submitted { .. } | Self::Answered { .. } | Self::Expired => None,
        }
    }
}

impl Evidence {
    pub const fn word(self) -> &'static str {
        match self {
            Self::State => "state",
            Self::Editor => "editor",
            Self::Box => "box",
            Self::Line => "line",
        }
    }
}

impl AnswerSource {
    pub const fn word(self) -> &'static str {
        match self {
            Self::Transcript => "transcript",
            Self::Screen => "screen",
        }
    }
}

impl Because {
    pub const fn word(self) -> &'static str {
        match self {
            Self::Starting => "starting",
            Self::Busy => "busy",
            Self::Blocked => "blocked",
            Self::Unknown => "unknown",
            Self::Draft => "draft",
            Self::Turn => "turn",
            Self::Dialog => "dialog",
            Self::Left => "left",
            Self::NotTaken => "not_taken",
            Self::Unseen => "unseen",
            Self::Unstored => "unstored",
            Self::Ended => "ended",
            Self::TurnFailed => "turn_failed",
            Self::Interrupted => "interrupted",
            Self::Refused => "refused",
            Self::Limit => "limit",
            Self::Died => "died",
            Self::Unclear => "unclear",
            Self::Other => "other",
        }
    }

    /// The same in a sentence about the message.
    pub const fn meaning(self) -> &'static str {
        match self {
            Self::Starting => "the agent is still starting",
            Self::Busy => "the agent is at work",
            Self::Blocked => "the agent waits for a person",
            Self::Unknown => "what the agent does is not known",
            Self::Draft => "somebody's draft is in the input box",
            Self::Turn => "the turn before it is not over",
            Self::Dialog => "a dialog is open, and nothing is typed into one",
            Self::Left => "it was left in the input box, as asked",
            Self::NotTaken => "the agent did not take it",
            Self::Unseen => "it was typed, and nothing shows whether the agent took it",
            Self::Unstored => "it cannot be typed as it is, and its file could not be written",
            Self::Ended => "the session ended before it arrived",
            Self::TurnFailed => "the model did not answer",
            Self::Interrupted => "its turn was interrupted",
            Self::Refused => "its turn ended with a refusal",
            Self::Limit => "what the agent may use is used up",
            Self::Died => "the agent ended in the middle of its turn",
            Self::Unclear => "its turn has ended, and nothing shows how",
            Self::Other => "a later version knows why",
        }
    }
}
