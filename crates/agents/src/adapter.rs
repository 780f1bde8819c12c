//! How an agent CLI on a terminal is read and left, as data.
//!
//! A rule says what one sign means; which sign counts more is decided by whoever collects them.

use crate::agent::Agent;

/// What one sign says about an agent.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Hint {
    /// It waits for a message.
    Prompt,
    /// It works.
    Busy,
    /// It waits for a person.
    Blocked(Block),
}

/// What an agent waits for a person about.
#[derive(Debug, Clone, Copy, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Block {
    /// Whether it may do something.
    Permission,
    /// An answer.
    Question,
    /// Somebody who signs in.
    Login,
    /// Quota, or money.
    Limit,
    /// Somebody who looks at an error.
    Error,
    /// Whether this directory is to be trusted.
    Trust,
    /// It does not say.
    #[serde(other)]
    Other,
}

/// How a program shows that it reads what is typed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Prompting {
    /// A line editor switches bracketed paste on while it reads, and off while a command runs; and the shell
    /// is in the foreground while it reads. Both together are exact.
    LineEditor,
    /// A shell without a line editor: a command of its own in the foreground means busy, the rest is guessing.
    Foreground,
    /// Only by what is on the screen.
    Screen,
}

/// A sign on the screen.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CursorLine {
    /// What stands left of the cursor, blanks at its end left out.
    pub ends_with: &'static str,
    pub means: Hint,
}

/// A sign in the last row with text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Footer {
    pub contains: &'static str,
    pub means: Hint,
}

/// A sign in the title that a program gives its terminal.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Title {
    pub begins_with: Beginning,
    pub means: Hint,
}

/// What a title begins with.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Beginning {
    /// A character that turns while the program works: a braille pattern or a half circle.
    Spinner,
    Text(&'static str),
}

/// How an agent CLI on a terminal is read and left.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Adapter {
    pub prompting: Prompting,
    pub titles: &'static [Title],
    /// What the last row with text tells; the first that fits counts.
    pub footers: &'static [Footer],
    /// What the line with the cursor tells.
    pub cursor_lines: &'static [CursorLine],
    /// What a person types at its prompt to leave it. Nothing if no such words are known.
    pub exit_keys: &'static str,
}

impl Beginning {
    pub fn is_of(self, title: &str) -> bool {
        match self {
            Self::Spinner => {
                title.starts_with(|first| matches!(first, '\u{2800}'..='\u{28ff}' | '◐'..='◓'))
            }
            Self::Text(text) => title.starts_with(text),
        }
    }
}

impl Block {
    pub const fn word(self) -> &'static str {
        match self {
            Self::Permission => "permission",
            Self::Question => "question",
            Self::Login => "login",
            Self::Limit => "limit",
            Self::Error => "error",
            Self::Trust => "trust",
            Self::Other => "other",
        }
    }

    /// What a program calls it in its own status.
    pub fn from_word(word: &str) -> Self {
        let all = [
            Self::Permission,
            Self::Question,
            Self::Login,
            Self::Limit,
            Self::Error,
            Self::Trust,
        ];
        all.into_iter()
            .find(|block| block.word() == word)
            .unwrap_or(Self::Other)
    }
}

/// What people put in front of where one types. A line that is overwritten or scrolled away does not count: only
/// the one that the cursor stands in.
const PROMPTS: [CursorLine; 5] = [
    prompt("$"),
    prompt("#"),
    prompt(">"),
    prompt("›"),
    prompt("❯"),
];

const fn prompt(ends_with: &'static str) -> CursorLine {
    CursorLine {
        ends_with,
        means: Hint::Prompt,
    }
}

const LINE_EDITOR: Adapter = Adapter {
    prompting: Prompting::LineEditor,
    titles: &[],
    footers: &[],
    cursor_lines: &[],
    exit_keys: "exit\r",
};

const SH: Adapter = Adapter {
    prompting: Prompting::Foreground,
    titles: &[],
    footers: &[],
    cursor_lines: &PROMPTS,
    exit_keys: "exit\r",
};

const SCRIPTED: Adapter = Adapter {
    prompting: Prompting::Screen,
    titles: &[],
    footers: &[],
    cursor_lines: &PROMPTS,
    exit_keys: "/exit\r",
};

const GENERIC: Adapter = Adapter {
    prompting: Prompting::Screen,
    titles: &[],
    footers: &[],
    cursor_lines: &PROMPTS,
    exit_keys: "",
};

const SPINS: Title = Title {
    begins_with: Beginning::Spinner,
    means: Hint::Busy,
};

const fn asks(text: &'static str) -> Title {
    Title {
        begins_with: Beginning::Text(text),
        means: Hint::Blocked(Block::Permission),
    }
}

/// Below its box for messages, or below a dialog that takes the box's place.
const CLAUDE_FOOTERS: [Footer; 4] = [
    footer("Enter to confirm", Hint::Blocked(Block::Question)),
    footer("Esc to cancel", Hint::Blocked(Block::Permission)),
    footer("esc to interrupt", Hint::Busy),
    footer("? for shortcuts", Hint::Prompt),
];

const fn footer(contains: &'static str, means: Hint) -> Footer {
    Footer { contains, means }
}

/// Its title is the same while it waits for a message and for a permission, so only a turning one tells. It says the rest itself
/// once the terminal has answered its question (OSC 7501).
const CLAUDE: Adapter = Adapter {
    prompting: Prompting::Screen,
    titles: &[SPINS],
    footers: &CLAUDE_FOOTERS,
    cursor_lines: &[],
    exit_keys: "/exit\r",
};

/// Its title blinks while it asks for a permission. Ctrl-C leaves it when it is idle.
const CODEX: Adapter = Adapter {
    prompting: Prompting::Screen,
    titles: &[
        SPINS,
        asks("[ ! ] Action Required"),
        asks("[ . ] Action Required"),
    ],
    footers: &[],
    cursor_lines: &[],
    exit_keys: "\x03",
};

impl Agent {
    /// How it is read and left.
    pub const fn adapter(self) -> Adapter {
        match self {
            Self::Scripted => SCRIPTED,
            Self::Claude => CLAUDE,
            Self::Codex => CODEX,
            Self::Bash | Self::Zsh => LINE_EDITOR,
            Self::Sh => SH,
            Self::Generic => GENERIC,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_title_that_turns_is_told_from_one_that_stands() {
        let is_turning = |title| Beginning::Spinner.is_of(title);
        assert!(is_turning("⠼ topic | dir") && is_turning("◐ Claude Code"));
        assert!(!is_turning("✳ Claude Code") && !is_turning(""));
    }

    #[test]
    fn a_block_is_found_by_its_word_and_a_new_word_is_no_error() {
        assert_eq!(Block::from_word("permission"), Block::Permission);
        assert_eq!(Block::from_word("tea"), Block::Other);
    }
}
