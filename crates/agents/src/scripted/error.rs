//! Why a script cannot be played, and where it says so.

use std::fmt;

use super::action::Action;
use super::script::StepName;

/// A mistake in a script.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ScriptError {
    pub position: Position,
    /// The step the mistake is in; none for the file as a whole.
    pub step: Option<StepName>,
    pub problem: Problem,
}

/// A place in the text of a script, both counted from one; columns in characters.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Position {
    pub line: usize,
    pub column: usize,
}

#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Problem {
    /// Not TOML, or a value that its key does not take; in the words of the TOML reader.
    #[error("{0}")]
    Value(String),
    #[error("unknown key `{0}`; a script consists of `[[step]]` tables")]
    UnknownTopLevelKey(String),
    #[error("the script has no `[[step]]`")]
    NoSteps,
    #[error("`{0}` must be a list of steps")]
    NotAList(String),
    #[error("a step must be a table")]
    NotATable,
    #[error("the step does nothing; give it one of {}", keys())]
    NoAction,
    #[error("unknown action `{key}`; the actions are {}", keys())]
    UnknownAction { key: String },
    #[error("`{first}` and `{second}` are two actions; make them two steps")]
    TwoActions {
        first: &'static str,
        second: &'static str,
    },
    #[error("`repeat` needs the steps to repeat, as `[[step.steps]]`")]
    NothingToRepeat,
    #[error("`on` must be a table from answers to steps")]
    OnNotATable,
    #[error(
        "`on.{answer}` can never be chosen; use a number from 1 to {choices}, `other`, or with \
         `answer = \"key\"` also `esc`"
    )]
    NoSuchAnswer { answer: String, choices: usize },
}

fn keys() -> String {
    let quoted: Vec<String> = Action::KEYS.iter().map(|key| format!("`{key}`")).collect();
    quoted.join(", ")
}

impl Position {
    /// The place of the byte at `offset`; an offset past the end is the end.
    pub(super) fn of(offset: usize, text: &str) -> Self {
        let before = text.get(..offset).unwrap_or(text);
        let line_start = before.rfind('\n').map_or(0, |newline| newline + 1);
        Self {
            line: before.matches('\n').count() + 1,
            column: before[line_start..].chars().count() + 1,
        }
    }
}

impl fmt::Display for Position {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "line {}, column {}", self.line, self.column)
    }
}

impl fmt::Display for ScriptError {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{}: ", self.position)?;
        if let Some(step) = &self.step {
            write!(formatter, "{step}: ")?;
        }
        self.problem.fmt(formatter)
    }
}

impl std::error::Error for ScriptError {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn position_counts_characters_not_bytes() {
        let text = "a\nhéé x";
        let offset = text.find('x').unwrap();
        assert_eq!(Position::of(offset, text), Position { line: 2, column: 5 });
        assert_eq!(Position::of(99, "ab"), Position { line: 1, column: 3 });
    }
}
