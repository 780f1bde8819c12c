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
    /// What leaves a panel that is open over the box.
    pub close: String,
    /// What empties the box. Nothing if no such key is known.
    pub clear: String,
    /// What the row begins with where one types. Faint text behind it is the program's own suggestion.
    pub mark: Option<String>,
    /// How long a program may look idle after it took a message, because its own signs of work come late.
    #[serde(rename = "settle_ms", deserialize_with = "millis")]
    pub settles_after: Duration,
    /// What is typed in place of a text that is too long to be typed.
    pub pointer: Pointer,
    /// The characters that make a text a command of the program if it begins with them.
    pub commands: String,
    /// The character that keeps a text from being sent off if it ends with it: Enter makes a new line then.
    pub holds: Option<char>,
    /// How many bytes it takes in one paste.
    #[serde(rename = "longest")]
    pub longest_paste: usize,
    /// What becomes of tabs in a paste.
    pub tabs: Tabs,
}

/// What becomes of tabs in a paste.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Tabs {
    #[default]
    Kept,
    /// They are made blanks, so that a text with tabs goes by file.
    Lost,
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
            close: "\x1b".to_owned(),
            clear: String::new(),
            mark: None,
            settles_after: Duration::from_millis(500),
            pointer: Pointer::Sentence,
            commands: String::new(),
            holds: None,
            longest_paste: 8 * 1024,
            tabs: Tabs::Kept,
        }
    }
}

impl Adapter {
    /// The first of the keys that end a turn.
    pub fn stop_keys(&self) -> &str {
        self.input.interrupt.first().map_or("", String::as_str)
    }

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
