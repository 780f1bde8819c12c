//! One line of text on its way into a document.

use std::fmt;
use std::str::FromStr;

/// Text that fits on one line of a document: not empty, without line breaks and other control characters, which
/// would end the line or move the terminal of whoever reads the file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Sentence(String);

/// Why a text is not a sentence.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum SentenceError {
    /// Nothing but white space.
    #[error("the text is empty")]
    Empty,
    /// Over the limit.
    #[error("the text has {0} bytes; the limit is {limit}", limit = Sentence::LIMIT)]
    TooLong(usize),
    /// A line break.
    #[error("the text has more than one line")]
    SeveralLines,
    /// Another control character.
    #[error("the text contains the control character {0:?}")]
    Control(char),
}

impl Sentence {
    /// The longest one, in bytes.
    pub const LIMIT: usize = 4096;

    /// As text.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl FromStr for Sentence {
    type Err = SentenceError;

    fn from_str(text: &str) -> Result<Self, SentenceError> {
        let text = text.trim();
        if text.is_empty() {
            return Err(SentenceError::Empty);
        }
        if text.len() > Self::LIMIT {
            return Err(SentenceError::TooLong(text.len()));
        }
        match text.chars().find(|character| character.is_control()) {
            Some('\n' | '\r') => Err(SentenceError::SeveralLines),
            Some(character) => Err(SentenceError::Control(character)),
            None => Ok(Self(text.to_owned())),
        }
    }
}

impl fmt::Display for Sentence {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}
