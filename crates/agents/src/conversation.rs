//! The agent's own record of a conversation, read line by line: turns, their last words, and what they cost.
//!
//! Agents keep such records for themselves and change them without notice. So a line that cannot be read says nothing, a field that
//! is missing counts as absent, and nobody is called wrong because of one.

mod api_error;
mod claude;
mod codex;
mod copilot;
mod gemini;
mod opencode;
mod usage;

use std::collections::{BTreeMap, BTreeSet};

use serde::Deserialize;

use crate::adapter::{Block, Hint};

pub use api_error::{ApiError, ApiErrorKind};
pub use claude::ClaudeSession;
pub use usage::Usage;

/// How a record is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Format {
    /// JSON lines of Claude Code.
    Claude,
    /// The rollout file of Codex.
    Codex,
    /// JSON lines of Copilot.
    Copilot,
    /// JSON lines of Gemini.
    Gemini,
    /// The events of opencode's own server.
    Opencode,
}

/// What reads the lines of a record.
#[derive(Debug, Clone)]
enum Reader {
    Claude,
    Codex,
    Copilot,
    Gemini,
    Opencode(opencode::Reader),
}

/// What was read of a record so far.
#[derive(Debug, Clone)]
pub struct Conversation {
    reader: Reader,
    turns: u64,
    turn: Turn,
    total: Usage,
    /// The message whose figures came last, and what it took.
    message: (String, Usage),
    /// The message whose words came last.
    speaker: String,
    /// Calls of tools that have not returned.
    open_calls: BTreeSet<String>,
    /// What a person was asked and has not answered.
    open_questions: BTreeMap<String, Block>,
    /// Whether a person did not allow what it called last.
    is_denied: bool,
}

/// One turn of a conversation.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Turn {
    /// What the agent said last; none as long as it said nothing.
    pub answer: Option<String>,
    pub usage: Usage,
    pub end: Option<End>,
}

/// How a turn ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum End {
    Done,
    /// A person stopped it.
    Interrupted,
    /// A person refused what it asked for, or its model refused to answer.
    Refused,
    /// Its model did not answer.
    Failed(ApiError),
}

/// What a line of a record says.
#[derive(Debug, Clone, PartialEq)]
enum Happening {
    Began,
    /// Words of one message, which may come in several lines.
    Said {
        message: String,
        text: String,
    },
    /// What one message took, counted once however often it is told.
    Took {
        message: String,
        usage: Usage,
    },
    /// More was taken.
    Used(Usage),
    /// What everything has taken so far.
    TookInAll(Usage),
    CostInAll(f64),
    /// A tool was called, and this is the call's name.
    Called(String),
    Returned(String),
    /// A person did not allow a call. If the turn is stopped with that, they refused it.
    Denied(String),
    /// A person is asked, and this is the question's name.
    Asked(String, Block),
    Settled(String),
    /// What looked like the end was none.
    WentOn,
    Ended(End),
}

impl Conversation {
    pub fn new(format: Format) -> Self {
        Self {
            reader: Reader::of(format),
            turns: 0,
            turn: Turn::default(),
            total: Usage::default(),
            message: (String::new(), Usage::default()),
            speaker: String::new(),
            open_calls: BTreeSet::new(),
            open_questions: BTreeMap::new(),
            is_denied: false,
        }
    }

    /// Reads one line.
    pub fn take(&mut self, line: &str) {
        for happening in self.reader.read(line) {
            self.hear(happening);
        }
    }

    /// How many turns have begun.
    pub const fn turns(&self) -> u64 {
        self.turns
    }

    /// The turn that runs, or the one that ran last.
    pub fn turn(&self) -> Option<&Turn> {
        (self.turns > 0).then_some(&self.turn)
    }

    /// Whether the agent waits for a tool that it called.
    pub fn has_open_call(&self) -> bool {
        !self.open_calls.is_empty()
    }

    /// What the agent does, by its record; none before the first turn.
    pub fn hint(&self) -> Option<Hint> {
        if let Some(block) = self.open_questions.values().next() {
            return Some(Hint::Blocked(*block));
        }
        Some(match &self.turn()?.end {
            None => Hint::Busy,
            Some(End::Failed(_)) => Hint::Blocked(Block::Error),
            Some(End::Done | End::Interrupted | End::Refused) => Hint::Prompt,
        })
    }

    /// What all turns took.
    pub const fn total(&self) -> Usage {
        self.total
    }

    fn hear(&mut self, happening: Happening) {
        match happening {
            // A message that was taken in while a turn ran belongs to that turn.
            Happening::Began if self.turns > 0 && self.turn.end.is_none() => {}
            Happening::Began => {
                self.turns += 1;
                self.turn = Turn::default();
                self.speaker.clear();
                self.open_calls.clear();
                self.open_questions.clear();
                self.is_denied = false;
            }
            Happening::Said { message, text } => {
                self.is_denied = false;
                self.say(&message, &text);
            }
            Happening::Took { message, usage } => self.add(&message, usage),
            Happening::Used(usage) => self.count(usage),
            Happening::TookInAll(total) => self.count(total.since(self.total)),
            Happening::CostInAll(cost) => self.total.cost_usd = Some(cost),
            Happening::Called(call) => drop(self.open_calls.insert(call)),
            Happening::Denied(call) => {
                self.is_denied = true;
                self.open_calls.remove(&call);
            }
            Happening::Returned(call) => drop(self.open_calls.remove(&call)),
            Happening::Asked(question, block) => {
                self.open_questions.insert(question, block);
            }
            Happening::Settled(question) => drop(self.open_questions.remove(&question)),
            Happening::WentOn => self.turn.end = None,
            Happening::Ended(end) => {
                // An interrupted turn leaves calls that never return, and questions that nobody answers.
                self.open_calls.clear();
                self.open_questions.clear();
                let is_refused = end == End::Interrupted && self.is_denied;
                let end = if is_refused { End::Refused } else { end };
                self.turn.end.get_or_insert(end);
            }
        }
    }

    fn say(&mut self, message: &str, text: &str) {
        let is_more = self.speaker == message;
        message.clone_into(&mut self.speaker);
        match &mut self.turn.answer {
            Some(answer) if is_more && !answer.is_empty() => {
                answer.push('\n');
                answer.push_str(text);
            }
            answer => *answer = Some(text.to_owned()),
        }
    }

    fn add(&mut self, message: &str, usage: Usage) {
        if self.message.0 != message {
            self.message = (message.to_owned(), Usage::default());
        }
        let more = usage.since(self.message.1);
        self.message.1 = self.message.1.plus(more);
        self.count(more);
    }

    fn count(&mut self, more: Usage) {
        self.turn.usage = self.turn.usage.plus(more);
        self.total = self.total.plus(more);
    }
}

impl Reader {
    fn of(format: Format) -> Self {
        match format {
            Format::Claude => Self::Claude,
            Format::Codex => Self::Codex,
            Format::Copilot => Self::Copilot,
            Format::Gemini => Self::Gemini,
            Format::Opencode => Self::Opencode(opencode::Reader::default()),
        }
    }

    fn read(&mut self, line: &str) -> Vec<Happening> {
        match self {
            Self::Claude => claude::read(line),
            Self::Codex => codex::read(line),
            Self::Copilot => copilot::read(line),
            Self::Gemini => gemini::read(line),
            Self::Opencode(reader) => reader.read(line),
        }
    }
}

#[cfg(test)]
mod tests;
