//! How text is put into an agent CLI and which keys mean what, as data.
//!
//! The times come from runs of the real programs: see `docs/design/0009-messages.md`.

use std::time::Duration;

use crate::agent::Agent;

/// How a person would type to an agent CLI.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Recipe {
    /// Between a pasted text and Enter: a program that takes a paste as a burst of keys swallows an Enter inside it.
    pub pause: Duration,
    /// What sends off the text in the box.
    pub submit: &'static str,
    /// What ends a turn: keys with a breath between them.
    pub interrupt: &'static [&'static str],
    /// What empties the box. Nothing if no such key is known.
    pub clear: &'static str,
    /// Where the text stands before it is sent off.
    pub text_box: TextBox,
    /// How long a program may look idle after it took a message, because its own signs of work come late.
    pub settles_after: Duration,
    /// What is typed in place of a text that is too long to be typed.
    pub pointer: Pointer,
}

/// Where text stands before it is sent off.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TextBox {
    /// In the line with the cursor, behind a prompt that only its owner knows.
    CursorLine,
    /// The same, of a line editor that asks for bracketed paste exactly while it reads: when it stops, it has taken the line.
    Editor,
    /// Behind the last row that begins with this mark. Faint text there is the program's own suggestion.
    Marked(&'static str),
}

/// What stands for a text that lies in a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Pointer {
    /// A sentence that asks to read it.
    Sentence,
    /// The shell's command that runs it.
    Source,
}

const SHELL: Recipe = Recipe {
    pause: Duration::ZERO,
    submit: "\r",
    interrupt: &["\x03"],
    // To the end of the line, then everything before it.
    clear: "\x05\x15",
    text_box: TextBox::Editor,
    settles_after: Duration::from_millis(100),
    pointer: Pointer::Source,
};

/// It has no line editor of its own.
const SH: Recipe = Recipe {
    clear: "\x15",
    text_box: TextBox::CursorLine,
    ..SHELL
};

const PROGRAM: Recipe = Recipe {
    pause: Duration::from_millis(150),
    submit: "\r",
    interrupt: &["\x03"],
    clear: "",
    text_box: TextBox::CursorLine,
    settles_after: Duration::from_millis(500),
    pointer: Pointer::Sentence,
};

/// Its input line takes pastes whole, so that there is nothing to wait for.
const SCRIPTED: Recipe = Recipe {
    pause: Duration::from_millis(20),
    clear: "\x15",
    settles_after: Duration::from_millis(300),
    ..PROGRAM
};

/// Full-screen agents show that they work up to a second late where they say it by title or screen alone.
const CLAUDE: Recipe = Recipe {
    interrupt: &["\x1b"],
    clear: "\x15",
    text_box: TextBox::Marked("❯"),
    settles_after: Duration::from_millis(1500),
    ..PROGRAM
};

const CODEX: Recipe = Recipe {
    text_box: TextBox::Marked("›"),
    ..CLAUDE
};

impl Agent {
    /// How it is typed to.
    pub fn recipe(&self) -> Recipe {
        match self.name.as_str() {
            Self::SCRIPTED => SCRIPTED,
            "claude" => CLAUDE,
            "codex" => CODEX,
            "bash" | "zsh" | "sh" => SHELL,
            _ => PROGRAM,
        }
    }
}
