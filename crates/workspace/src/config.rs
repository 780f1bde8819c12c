//! `.handoff/config.toml`: the language, the budget of prompts, and the checks of this repository.
//!
//! It is read as real TOML, and a mistake is told by its line. Other tools keep a file of the same name in the
//! same folder; one that has nothing of ours in it is theirs, is left alone and counts as absent.

use std::path::PathBuf;

use handoff_core::feature::CheckName;
use handoff_core::task::VerifyCommand;
use handoff_core::visible;
use handoff_files::DirError;
use toml::Spanned;
use toml::de::{DeTable, DeValue};

use crate::language::Language;
use crate::workspace::Workspace;

/// The file, in the workspace.
pub const FILE: &str = "config.toml";
const LIMIT: u64 = 256 * 1024;
const OURS: [&str; 3] = ["language", "budget", "checks"];
const ONE_LINE: &str =
    "a check is one line without control characters or invisible ones; put more into a script";

/// What a new workspace begins with.
pub(crate) const INITIAL: &str = "\
# The language of documents and prompts.
language = \"English\"

# How long the prompts of `handoff continue` may become, in tokens.
# budget = 2000

# Commands whose success proves the work: `handoff verify`.
# [checks]
# test = \"cargo test\"
";

/// The settings of a workspace.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Config {
    /// The language of the prose.
    pub language: Language,
    /// How long a prompt may become.
    pub budget: Budget,
    /// What proves the work, by name.
    pub checks: Vec<Check>,
    /// What is worth saying about the file.
    pub notices: Vec<Notice>,
}

/// A length of text in tokens, by the approximation of the prompts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Budget(usize);

/// A command whose success proves something.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Check {
    /// What it is called.
    pub name: CheckName,
    /// The command, for the shell.
    pub command: VerifyCommand,
}

/// Something about the file that is no mistake.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Notice {
    /// A key that means nothing.
    Unknown {
        /// Where it stands.
        line: usize,
        /// What it says.
        key: String,
    },
    /// The language stands there without quotes, as older tools wrote it.
    Unquoted {
        /// Where it stands.
        line: usize,
    },
    /// The file belongs to another tool.
    Foreign,
}

/// The settings cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum ConfigError {
    /// The file is there and cannot be read.
    #[error("cannot read the settings of the workspace")]
    Read(#[from] DirError),
    /// The file says something that cannot be meant.
    #[error("`{}` line {line}: {what}", .path.display())]
    Mistake {
        /// The file.
        path: PathBuf,
        /// Counted from one.
        line: usize,
        /// What is wrong.
        what: String,
    },
}

impl Budget {
    /// The least that says anything, and more than any assistant takes at once.
    pub const RANGE: std::ops::RangeInclusive<usize> = 200..=1_000_000;

    /// A budget within the range.
    #[must_use]
    pub fn new(tokens: usize) -> Option<Self> {
        Self::RANGE.contains(&tokens).then_some(Self(tokens))
    }

    /// How many tokens.
    #[must_use]
    pub const fn tokens(self) -> usize {
        self.0
    }
}

impl Default for Budget {
    fn default() -> Self {
        Self(2000)
    }
}

impl Config {
    /// Reads the settings of a workspace; no file is an empty one.
    pub fn load(workspace: &Workspace) -> Result<Self, ConfigError> {
        match workspace.dir().read_to_string(FILE, LIMIT) {
            Ok(text) => Self::parse(&text).map_err(|Mistake { line, what }| ConfigError::Mistake {
                path: workspace.dir().path().join(FILE),
                line,
                what,
            }),
            Err(error) if error.is_not_found() => Ok(Self::default()),
            Err(error) => Err(error.into()),
        }
    }

    /// As TOML, but for one thing: older tools wrote the language without quotes.
    fn parse(text: &str) -> Result<Self, Mistake> {
        let text = text.strip_prefix('\u{feff}').unwrap_or(text);
        Self::parse_strictly(text).or_else(|mistake| {
            let Some(quoted) = with_quoted_language(text, mistake.line) else {
                return Err(mistake);
            };
            let mut config = Self::parse_strictly(&quoted)?;
            let line = mistake.line;
            config.notices.push(Notice::Unquoted { line });
            Ok(config)
        })
    }

    fn parse_strictly(text: &str) -> Result<Self, Mistake> {
        let reader = Reader { text };
        let table = DeTable::parse(text).map_err(|error| {
            reader.mistake(error.span().map_or(0, |it| it.start), error.message())
        })?;
        let mut config = Self::default();
        let keys = || table.get_ref().keys().map(|key| key.get_ref().as_ref());
        if keys().next().is_some() && !keys().any(|key| OURS.contains(&key)) {
            config.notices.push(Notice::Foreign);
            return Ok(config);
        }
        for (key, value) in table.get_ref() {
            match key.get_ref().as_ref() {
                "language" => config.language = reader.language(value)?,
                "budget" => config.budget = reader.budget(value)?,
                "checks" => config.checks = reader.checks(value)?,
                other => config.notices.push(Notice::Unknown {
                    line: reader.line(key.span().start),
                    key: other.to_owned(),
                }),
            }
        }
        Ok(config)
    }
}

/// The text with quotes around the language, if that is what the line sets, in words that only lack them.
fn with_quoted_language(text: &str, line: usize) -> Option<String> {
    let mut lines: Vec<_> = text.split('\n').collect();
    let (before, behind) = lines.split_at_checked(line.checked_sub(1)?)?;
    let (key, rest) = behind.first()?.split_once('=')?;
    if before.iter().any(|line| line.trim_start().starts_with('[')) {
        return None; // It is a setting of a table, and none of ours.
    }
    let (value, comment) = rest.split_at(rest.find('#').unwrap_or(rest.len()));
    let value = value.trim();
    let is_wordy = |it: char| it.is_alphabetic() || matches!(it, ' ' | '-');
    let is_words = value.starts_with(char::is_alphabetic) && value.chars().all(is_wordy);
    if key.trim() != "language" || !is_words || matches!(value, "true" | "false") {
        return None;
    }
    let quoted = format!("language = \"{value}\" {comment}");
    lines[line - 1] = &quoted;
    Some(lines.join("\n"))
}

#[derive(Debug, PartialEq, Eq)]
struct Mistake {
    line: usize,
    what: String,
}

/// The text, to tell lines by.
#[derive(Clone, Copy)]
struct Reader<'text> {
    text: &'text str,
}

impl Reader<'_> {
    fn line(self, place: usize) -> usize {
        let before = &self.text.as_bytes()[..place.min(self.text.len())];
        before.iter().filter(|byte| **byte == b'\n').count() + 1
    }

    fn mistake(self, place: usize, what: impl Into<String>) -> Mistake {
        Mistake {
            line: self.line(place),
            what: what.into(),
        }
    }

    fn language(self, value: &Spanned<DeValue<'_>>) -> Result<Language, Mistake> {
        let text = self.string(value, "language")?;
        text.parse()
            .map_err(|error: crate::language::LanguageError| {
                self.mistake(value.span().start, error.to_string())
            })
    }

    fn budget(self, value: &Spanned<DeValue<'_>>) -> Result<Budget, Mistake> {
        let integer = value.get_ref().as_integer();
        let tokens = integer.and_then(|it| usize::from_str_radix(it.as_str(), it.radix()).ok());
        tokens.and_then(Budget::new).ok_or_else(|| {
            let (least, most) = (Budget::RANGE.start(), Budget::RANGE.end());
            let what = format!("`budget` is a number of tokens from {least} to {most}");
            self.mistake(value.span().start, what)
        })
    }

    fn checks(self, value: &Spanned<DeValue<'_>>) -> Result<Vec<Check>, Mistake> {
        let table = value.get_ref().as_table().ok_or_else(|| {
            self.mistake(
                value.span().start,
                "`checks` is a table of names and commands",
            )
        })?;
        let mut checks = table
            .iter()
            .map(|(name, command)| self.check(name, command));
        checks.by_ref().collect()
    }

    fn check(
        self,
        name: &Spanned<std::borrow::Cow<'_, str>>,
        command: &Spanned<DeValue<'_>>,
    ) -> Result<Check, Mistake> {
        let key = name.get_ref();
        let bad_name = |error: handoff_core::feature::CheckNameError| {
            let cause = std::error::Error::source(&error).map(ToString::to_string);
            self.mistake(
                name.span().start,
                format!("{error}: {}", cause.unwrap_or_default()),
            )
        };
        let text = self.command(command, key)?;
        Ok(Check {
            name: key.parse().map_err(bad_name)?,
            command: VerifyCommand::try_from(text.to_owned())
                .map_err(|error| self.mistake(command.span().start, error.to_string()))?,
        })
    }

    /// What runs is what a person saw when they allowed it: a second line, or a character that nobody sees, could read as
    /// part of a comment and run all the same.
    fn command<'value>(
        self,
        value: &'value Spanned<DeValue<'_>>,
        key: &str,
    ) -> Result<&'value str, Mistake> {
        let text = self.string(value, key)?;
        if visible::hidden(text).next().is_some() {
            let what = format!("`{key}`: {ONE_LINE}");
            return Err(self.mistake(value.span().start, what));
        }
        Ok(text)
    }

    fn string<'value>(
        self,
        value: &'value Spanned<DeValue<'_>>,
        key: &str,
    ) -> Result<&'value str, Mistake> {
        value
            .get_ref()
            .as_str()
            .ok_or_else(|| self.mistake(value.span().start, format!("`{key}` is a text in quotes")))
    }
}

#[cfg(test)]
mod tests;
