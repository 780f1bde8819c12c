//! What the model answers, before it is put into a dialect.

use std::fmt;
use std::time::Duration;

use serde_json::Value;

/// An answer of the model.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Answer {
    Says(Speech),
    /// Says something and calls a tool.
    Calls {
        says: Speech,
        tool: ToolCall,
    },
    Error {
        code: u16,
    },
}

/// What is said, and how.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Speech {
    pub(super) text: String,
    /// Spread over this time.
    pub(super) over: Duration,
    /// Silence before the first word.
    pub(super) after: Duration,
    pub(super) end: End,
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) enum End {
    #[default]
    Proper,
    /// It hangs up after a few words.
    Cut,
}

#[derive(Debug, Clone, PartialEq)]
pub(super) struct ToolCall {
    pub(super) name: String,
    pub(super) arguments: Value,
}

impl Answer {
    pub(super) fn says(text: impl Into<String>) -> Self {
        Self::Says(Speech::of(text))
    }

    pub(super) fn speech(&self) -> Option<&Speech> {
        match self {
            Self::Says(speech) | Self::Calls { says: speech, .. } => Some(speech),
            Self::Error { .. } => None,
        }
    }

    pub(super) fn text(&self) -> &str {
        self.speech().map_or("", |speech| &speech.text)
    }

    pub(super) fn tool(&self) -> Option<&ToolCall> {
        match self {
            Self::Calls { tool, .. } => Some(tool),
            Self::Says(_) | Self::Error { .. } => None,
        }
    }

    /// A number that looks like one of tokens.
    pub(super) fn tokens(&self) -> usize {
        (self.text().len() / 4).max(1)
    }
}

impl Speech {
    pub(super) fn of(text: impl Into<String>) -> Self {
        Self {
            text: text.into(),
            ..Self::default()
        }
    }

    /// Word by word, each with the blanks behind it.
    pub(super) fn pieces(&self) -> Vec<&str> {
        let mut pieces: Vec<&str> = self.text.split_inclusive(char::is_whitespace).collect();
        if self.end == End::Cut {
            pieces.truncate(4);
        }
        pieces
    }

    /// Before each piece.
    pub(super) fn pace(&self) -> Duration {
        let count = u32::try_from(self.pieces().len().max(1)).unwrap_or(u32::MAX);
        self.over / count
    }
}

impl fmt::Display for Answer {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Says(speech) => write!(formatter, "says {}", speech.text),
            Self::Calls { tool, .. } => write!(formatter, "calls {}", tool.name),
            Self::Error { code } => write!(formatter, "refuses with {code}"),
        }
    }
}
