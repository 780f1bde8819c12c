//! The agent's own record of a conversation, read line by line: turns, their last words, and what they cost.
//!
//! Agents keep such records for themselves and change them without notice. So a line that cannot be read says nothing, a field that
//! is missing counts as absent, and nobody is called wrong because of one.

mod claude;
mod codex;

use std::collections::BTreeSet;

pub use claude::ClaudeSession;
use serde::{Deserialize, Serialize};

/// How a record is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Format {
    /// JSON lines of Claude Code.
    Claude,
    /// The rollout file of Codex.
    Codex,
}

/// What was read of a record so far.
#[derive(Debug, Clone)]
pub struct Conversation {
    format: Format,
    turns: u64,
    turn: Turn,
    total: Usage,
    /// The message whose lines come now, what it said, and what it took.
    message: (String, Usage),
    /// Calls of tools that have not returned.
    open_calls: BTreeSet<String>,
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
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum End {
    Done,
    Interrupted,
    Failed,
}

/// What a turn took.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
pub struct Usage {
    /// Without those that were read from a cache.
    pub input_tokens: u64,
    pub output_tokens: u64,
    pub cache_read_tokens: u64,
    pub cache_write_tokens: u64,
    /// In US dollars, where the agent says so.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cost_usd: Option<f64>,
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
    /// What everything has taken so far.
    TookInAll(Usage),
    CostInAll(f64),
    /// A tool was called, and this is the call's name.
    Called(String),
    Returned(String),
    Ended(End),
}

impl Conversation {
    pub fn new(format: Format) -> Self {
        Self {
            format,
            turns: 0,
            turn: Turn::default(),
            total: Usage::default(),
            message: (String::new(), Usage::default()),
            open_calls: BTreeSet::new(),
        }
    }

    /// Reads one line.
    pub fn take(&mut self, line: &str) {
        let happenings = match self.format {
            Format::Claude => claude::read(line),
            Format::Codex => codex::read(line),
        };
        for happening in happenings {
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
                self.open_calls.clear();
            }
            Happening::Said { message, text } => self.say(&message, &text),
            Happening::Took { message, usage } => self.add(&message, usage),
            Happening::TookInAll(total) => {
                let cost_usd = self.total.cost_usd;
                self.turn.usage = self.turn.usage.plus(total.minus(self.total));
                self.total = Usage { cost_usd, ..total };
            }
            Happening::CostInAll(cost) => self.total.cost_usd = Some(cost),
            Happening::Called(call) => drop(self.open_calls.insert(call)),
            Happening::Returned(call) => drop(self.open_calls.remove(&call)),
            Happening::Ended(end) => {
                // An interrupted turn leaves calls that never return.
                self.open_calls.clear();
                self.turn.end.get_or_insert(end);
            }
        }
    }

    fn say(&mut self, message: &str, text: &str) {
        let is_more = self.message.0 == message;
        match &mut self.turn.answer {
            Some(answer) if is_more && !answer.is_empty() => {
                answer.push('\n');
                answer.push_str(text);
            }
            answer => *answer = Some(text.to_owned()),
        }
        self.speak(message);
    }

    fn add(&mut self, message: &str, usage: Usage) {
        self.speak(message);
        let more = usage.minus(self.message.1);
        self.message.1 = self.message.1.plus(more);
        self.turn.usage = self.turn.usage.plus(more);
        self.total = self.total.plus(more);
    }

    fn speak(&mut self, message: &str) {
        if self.message.0 != message {
            self.message = (message.to_owned(), Usage::default());
        }
    }
}

impl Usage {
    pub const fn is_nothing(&self) -> bool {
        self.input_tokens == 0 && self.output_tokens == 0 && self.cost_usd.is_none()
    }

    const fn plus(self, other: Self) -> Self {
        Self {
            input_tokens: self.input_tokens + other.input_tokens,
            output_tokens: self.output_tokens + other.output_tokens,
            cache_read_tokens: self.cache_read_tokens + other.cache_read_tokens,
            cache_write_tokens: self.cache_write_tokens + other.cache_write_tokens,
            cost_usd: self.cost_usd,
        }
    }

    const fn minus(self, other: Self) -> Self {
        Self {
            input_tokens: self.input_tokens.saturating_sub(other.input_tokens),
            output_tokens: self.output_tokens.saturating_sub(other.output_tokens),
            cache_read_tokens: self
                .cache_read_tokens
                .saturating_sub(other.cache_read_tokens),
            cache_write_tokens: self
                .cache_write_tokens
                .saturating_sub(other.cache_write_tokens),
            cost_usd: None,
        }
    }
}

#[cfg(test)]
mod tests;
