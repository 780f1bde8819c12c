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
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
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

/// How an agent CLI on a terminal is read and left.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Adapter {
    pub prompting: Prompting,
    /// What the line with the cursor tells.
    pub cursor_lines: &'static [CursorLine],
    /// What a person types at its prompt to leave it. Nothing if no such words are known.
    pub exit_keys: &'static str,
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
    cursor_lines: &[],
    exit_keys: "exit\r",
};

const SH: Adapter = Adapter {
    prompting: Prompting::Foreground,
    cursor_lines: &PROMPTS,
    exit_keys: "exit\r",
};

const SCRIPTED: Adapter = Adapter {
    prompting: Prompting::Screen,
    cursor_lines: &PROMPTS,
    exit_keys: "/exit\r",
};

const GENERIC: Adapter = Adapter {
    prompting: Prompting::Screen,
    cursor_lines: &PROMPTS,
    exit_keys: "",
};

impl Agent {
    /// How it is read and left.
    pub const fn adapter(self) -> Adapter {
        match self {
            Self::Scripted => SCRIPTED,
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
    fn a_block_is_found_by_its_word_and_a_new_word_is_no_error() {
        assert_eq!(Block::from_word("permission"), Block::Permission);
        assert_eq!(Block::from_word("tea"), Block::Other);
    }
}
