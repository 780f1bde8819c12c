//! Text of one or more lines on its way into the notes.

use std::str::FromStr;

use crate::markdown::Markdown;

/// Text for an entry: not empty, without control characters but line breaks and tabs, and with every fence and comment
/// in it closed, so that it cannot swallow what follows.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Passage(String);

/// Why a text is not a passage.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum PassageError {
    /// Nothing but white space.
    #[error("the text is empty")]
    Empty,
    /// Over the limit.
    #[error("the text has {0} bytes; the limit is {limit}", limit = Passage::LIMIT)]
    TooLong(usize),
    /// A control character.
    #[error("the text contains the control character {0:?}")]
    Control(char),
    /// Everything behind it would be code, or hidden.
    #[error("the text opens fenced code or a comment and does not close it")]
    Open,
}

impl Passage {
    /// The longest one, in bytes.
    pub const LIMIT: usize = 16 * 1024;

    /// As text.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// As a list item: the lines behind the first are indented, so that none of them is a heading.
    pub(super) fn to_item(&self) -> Vec<String> {
        let lines = self.0.lines().enumerate();
        let item = lines.map(|(index, line)| match (index, line.trim_end()) {
            (0, line) => format!("- {line}"),
            (_, "") => String::new(),
            (_, line) => format!("  {line}"),
        });
        item.collect()
    }
}

impl FromStr for Passage {
    type Err = PassageError;

    fn from_str(text: &str) -> Result<Self, PassageError> {
        let text = text.replace("\r\n", "\n");
        let text = text.trim();
        if text.is_empty() {
            return Err(PassageError::Empty);
        }
        if text.len() > Self::LIMIT {
            return Err(PassageError::TooLong(text.len()));
        }
        let is_bad = |c: &char| c.is_control() && !matches!(c, '\n' | '\t');
        if let Some(character) = text.chars().find(is_bad) {
            return Err(PassageError::Control(character));
        }
        let passage = Self(text.to_owned());
        match Markdown::parse(&passage.to_item().join("\n")).open {
            Some(_) => Err(PassageError::Open),
            None => Ok(passage),
        }
    }
}
