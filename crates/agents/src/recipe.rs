//! How text is put into an agent CLI and which keys mean what: the table `[input]` of an adapter.
//!
//! The times of those that are built in come from runs of the real programs: see `docs/design/0009-messages.md`.

use std::time::Duration;

use serde::{Deserialize, Deserializer};

use crate::adapter::{Adapter, Prompting};

/// How a person would type to an agent CLI.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Recipe {
    /// Between a pasted text and Enter: a program that takes a paste for a burst of keys swallows an Enter inside it.
    #[serde(rename = "pause_ms", deserialize_with = "millis")]
    pub pause: Duration,
    /// What sends off the text in the box.
    pub submit: String,
    /// What ends a turn: keys with a breath between them.
    pub interrupt: Vec<String>,
    /// What empties the box. Nothing if no such key is known.
    pub clear: String,
    /// What the row begins with where one types. Faint text behind it is the program's own suggestion.
    pub mark: Option<String>,
    /// How long a program may look idle after it took a message, because its own signs of work come late.
    #[serde(rename = "settle_ms", deserialize_with = "millis")]
    pub settles_after: Duration,
    /// What is typed in place of a text that is too long to be typed.
    pub pointer: Pointer,
}

/// Where text stands before it is sent off.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TextBox<'a> {
    /// In the line with the cursor, behind a prompt that only its owner knows.
    CursorLine,
    /// The same, of a line editor that asks for bracketed paste exactly while it reads: when it stops, it has taken the line.
    Editor,
    /// Behind the last row that begins with this mark.
    Marked(&'a str),
}

/// What stands for a text that lies in a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Pointer {
    /// A sentence that asks to read it.
    Sentence,
    /// The shell's command that runs it.
    Source,
}

impl Default for Recipe {
    /// What is right for most programs.
    fn default() -> Self {
        Self {
            pause: Duration::from_millis(150),
            submit: "\r".to_owned(),
            interrupt: vec!["\x03".to_owned()],
            clear: String::new(),
            mark: None,
            settles_after: Duration::from_millis(500),
            pointer: Pointer::Sentence,
        }
    }
}

impl Adapter {
    /// Where text stands before it is sent off.
    pub fn text_box(&self) -> TextBox<'_> {
        match (self.reads, &self.input.mark) {
            (Prompting::LineEditor, _) => TextBox::Editor,
            (Prompting::Foreground | Prompting::Screen | Prompting::Paste, Some(mark)) => {
                TextBox::Marked(mark)
            }
            (Prompting::Foreground | Prompting::Screen | Prompting::Paste, None) => {
                TextBox::CursorLine
            }
        }
    }
}

fn millis<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Duration, D::Error> {
    u64::deserialize(deserializer).map(Duration::from_millis)
}
