//! How an agent CLI on a terminal is launched, read and left. An adapter is data, written as TOML: those that are built in
//! stand in `crates/agents/adapters/`, and a user adds one with a file of the same form.
//!
//! A rule says what one sign means; which sign counts more is decided by whoever collects them.

mod held;
mod pattern;
mod rule;
mod sight;

use std::ffi::OsString;
use std::fmt;

use serde::de::{self, Deserializer};
use serde::{Deserialize, Serialize};

use crate::conversation::Format;

pub use held::{
    Held, PrivateState, State, StateEntry, StateEntryError, StatePlace, StatePlaceError,
};
pub use pattern::{Pattern, PatternError};
pub use rule::{ScreenRule, TitleRule};
pub use sight::{Edge, InputBox, Sight};

use crate::recipe::Recipe;

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
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
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
    /// Somebody who leaves what is open over the place where one types: settings, help, a list, a pager, an editor.
    Panel,
    /// It does not say.
    #[serde(other)]
    Other,
}

/// How a program shows that it reads what is typed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Prompting {
    /// A line editor switches bracketed paste on while it reads, and off while a command runs; and the shell
    /// is in the foreground while it reads. Both together are exact.
    LineEditor,
    /// The same of a program that is no shell: it asks questions in the same way, and what it asks is on the screen.
    Paste,
    /// A shell without a line editor: a command of its own in the foreground means busy, the rest is guessing.
    Foreground,
    /// Only by what is on the screen.
    #[default]
    Screen,
}

/// How an agent CLI on a terminal is launched, read and left.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Adapter {
    /// What it is, in a few words.
    pub about: String,
    pub launch: Launch,
    /// How it shows that it reads.
    #[serde(default)]
    pub reads: Prompting,
    /// Where one types, for rules that look around that place.
    #[serde(default)]
    pub input_box: Option<InputBox>,
    #[serde(default)]
    pub title: Vec<TitleRule>,
    #[serde(default)]
    pub screen: Vec<ScreenRule>,
    /// How it is typed to.
    #[serde(default)]
    pub input: Recipe,
    #[serde(default)]
    pub leave: Leave,
    /// The record that it keeps of a conversation, for its answers and figures.
    #[serde(default)]
    pub conversation: Option<Format>,
    /// What it needs where something holds it.
    #[serde(default)]
    pub sandbox: Held,
}

/// How an agent gets the prompt of a task.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Prompt {
    /// As its first message.
    #[default]
    Message,
    /// It reads the file that `HANDOFF_PROMPT_FILE` names.
    File,
}

/// What is started.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Launch {
    /// Program and arguments; those of the user follow. `{handoff}` is this very program.
    pub command: Vec<String>,
    /// The option for a file with settings that are added to the user's own, with hooks as Claude Code has them.
    #[serde(default)]
    pub hooks_option: Option<String>,
    /// How it is told who it is to be, besides the prompt: a system prompt. `{role}` is a sentence.
    #[serde(default)]
    pub role: Vec<String>,
    /// How it gets the prompt of a task.
    #[serde(default)]
    pub prompt: Prompt,
    /// What is added so that it can be heard.
    #[serde(default)]
    pub telling: Option<Telling>,
}

/// What is added to the command so that an agent can be heard besides its terminal. Nothing is if the user's own arguments begin
/// with a word, which is a command or a message, or if one of them begins like one of `unless`.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Telling {
    /// Before the arguments of the user. `{id}` is a new id for the agent's own session.
    pub arguments: Vec<String>,
    /// The variable for the password of a server that it opens.
    #[serde(default)]
    pub password: Option<String>,
    #[serde(default)]
    pub unless: Vec<String>,
}

impl Telling {
    /// Whether it goes with these arguments of the user.
    pub fn suits(&self, arguments: &[OsString]) -> bool {
        let texts: Vec<_> = arguments.iter().map(|it| it.to_string_lossy()).collect();
        let is_against = |text: &str| self.unless.iter().any(|it| text.starts_with(it));
        let begins_with_word = texts.first().is_some_and(|it| !it.starts_with('-'));
        !begins_with_word && !texts.iter().any(|text| is_against(text))
    }
}

/// How it is left.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Leave {
    /// What a person types at its prompt. Nothing if no such words are known.
    #[serde(default)]
    pub keys: String,
}

impl Adapter {
    /// What the title tells.
    pub fn read_title(&self, title: &str) -> Option<Hint> {
        let indent = title.len() - title.trim_start().len();
        let rule = self
            .title
            .iter()
            .find(|rule| rule.fits.fits(title.trim(), indent))?;
        Some(rule.means)
    }

    /// What the screen tells.
    pub fn read_screen(&self, sight: &Sight) -> Option<Hint> {
        rule::read(&self.screen, self.input_box.as_ref(), sight)
    }

    /// The number of the first screen rule, from one, that would fit everything.
    pub(crate) fn empty_rule(&self) -> Option<usize> {
        let at = self.screen.iter().position(ScreenRule::is_empty)?;
        Some(at + 1)
    }
}

impl Block {
    const KNOWN: [Self; 7] = [
        Self::Permission,
        Self::Question,
        Self::Login,
        Self::Limit,
        Self::Error,
        Self::Trust,
        Self::Panel,
    ];

    pub const fn word(self) -> &'static str {
        match self {
            Self::Permission => "permission",
            Self::Question => "question",
            Self::Login => "login",
            Self::Limit => "limit",
            Self::Error => "error",
            Self::Trust => "trust",
            Self::Panel => "panel",
            Self::Other => "other",
        }
    }

    /// What a program calls it in its own status.
    pub fn from_word(word: &str) -> Self {
        Self::known(word).unwrap_or(Self::Other)
    }

    fn known(word: &str) -> Option<Self> {
        Self::KNOWN.into_iter().find(|block| block.word() == word)
    }
}

impl fmt::Display for Hint {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(match self {
            Self::Prompt => "prompt",
            Self::Busy => "busy",
            Self::Blocked(block) => block.word(),
        })
    }
}

impl<'de> Deserialize<'de> for Hint {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let word = String::deserialize(deserializer)?;
        match word.as_str() {
            "prompt" => Ok(Self::Prompt),
            "busy" => Ok(Self::Busy),
            other => Block::known(other).map(Self::Blocked).ok_or_else(|| {
                de::Error::custom(format!(
                    "`{other}` means nothing; one of prompt, busy, permission, question, login, limit, \
                     error, trust, panel does"
                ))
            }),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_is_added_to_a_command_or_against_the_users_own_words() {
        let telling = Telling {
            arguments: vec!["--port".to_owned()],
            password: None,
            unless: vec!["--port".to_owned()],
        };
        let suits = |arguments: &[&str]| {
            let arguments: Vec<OsString> = arguments.iter().map(Into::into).collect();
            telling.suits(&arguments)
        };
        assert!(suits(&[]) && suits(&["-s", "ses_1"]));
        assert!(!suits(&["auth", "login"]) && !suits(&["-s", "x", "--port=7"]));
    }

    #[test]
    fn a_block_is_found_by_its_word_and_a_new_word_is_no_error() {
        assert_eq!(Block::from_word("permission"), Block::Permission);
        assert_eq!(Block::from_word("tea"), Block::Other);
    }
}
