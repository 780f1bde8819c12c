//! A check: a command of the repository whose success proves something, and what the tool saw when it ran one.

use std::time::Duration;

use serde::{Deserialize, Serialize};

use crate::check_limits::CheckLimit;
use crate::checked_text::checked_text;
use crate::text::VerifyCommand;
use crate::{TaskName, TreeState, visible};

/// What a repository calls a check, such as `test` or `lint`.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct CheckName(String);

/// A text that names no check.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("not a name for a check")]
pub struct CheckNameError(#[from] crate::name::NameError);

checked_text!(CheckName, CheckNameError, |text| {
    text.parse::<TaskName>()
        .map(drop)
        .map_err(CheckNameError::from)
});

/// The end of what a command printed, without control characters.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(transparent)]
pub struct OutputTail(String);

impl OutputTail {
    /// The longest one, in bytes.
    pub const LIMIT: usize = 4096;

    /// Keeps the end of `text`, from the start of a line where it is cut.
    pub fn of(text: &str) -> Self {
        // A line that overwrites itself, as a progress bar does, becomes several.
        let text = text.replace("\r\n", "\n");
        let lines = text.trim_end().split(visible::is_line_end);
        let lines: Vec<_> = lines.map(visible::without_hidden).collect();
        let text = lines.join("\n");
        if text.len() <= Self::LIMIT {
            return Self(text);
        }
        let cut = text.ceil_char_boundary(text.len() - Self::LIMIT);
        let line = text[cut..].find('\n').map_or(cut, |end| cut + end + 1);
        Self(text[line..].to_owned())
    }

    /// As text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

/// How a command ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub enum CheckOutcome {
    /// With success.
    Passed,
    /// With another exit code.
    Failed {
        /// Which.
        code: i32,
    },
    /// By a signal.
    Killed {
        /// Which.
        signal: i32,
    },
    /// It took too long and was ended, as records of earlier versions say it.
    TimedOut,
    /// It was ended because it used more than it may.
    OverLimit {
        /// Of what.
        limit: CheckLimit,
    },
}

impl CheckOutcome {
    /// The bound that was crossed, where that is known.
    pub const fn limit(self) -> Option<CheckLimit> {
        match self {
            Self::OverLimit { limit } => Some(limit),
            Self::Passed | Self::Failed { .. } | Self::Killed { .. } | Self::TimedOut => None,
        }
    }

    /// Whether it took too long.
    pub const fn is_timed_out(self) -> bool {
        matches!(
            self,
            Self::TimedOut
                | Self::OverLimit {
                    limit: CheckLimit::Time { .. }
                }
        )
    }
}

/// What the tool saw when it ran a check.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct CheckRun {
    /// Which check.
    pub check: CheckName,
    /// The command as it was run.
    pub command: VerifyCommand,
    /// How it ended.
    pub outcome: CheckOutcome,
    /// How long it took.
    pub took: Duration,
    /// The code it ran on. None when the code changed meanwhile: then it proves nothing.
    pub tree: Option<TreeState>,
    /// The end of what it printed.
    pub output: OutputTail,
}

impl CheckRun {
    /// Whether it proves that the check passes on this state of the code.
    pub fn proves(&self, tree: &TreeState) -> bool {
        let ran_on = self.tree.as_ref();
        self.outcome == CheckOutcome::Passed && ran_on.is_some_and(|it| it.is_same_code(tree))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_tail_is_whole_lines_without_control_characters() {
        let tail = OutputTail::of("a\u{1b}[31m\r\n\n\tb\u{e0041}\u{ad}\n1%\r2%\n");
        assert_eq!(tail.as_str(), "a[31m\n\n\tb\n1%\n2%");
        let long = "line\n".repeat(2000);
        let tail = OutputTail::of(&long);
        assert!(tail.as_str().len() <= OutputTail::LIMIT && tail.as_str().starts_with("line\n"));
    }

    #[test]
    fn a_tail_of_wide_characters_is_cut_between_them() {
        let tail = OutputTail::of(&"\u{20ac}".repeat(3000));
        assert!(tail.as_str().len() <= OutputTail::LIMIT && !tail.as_str().is_empty());
    }

    #[test]
    fn outcomes_that_were_stored_before_there_were_limits_are_read() {
        let table = [
            ("{\"type\":\"passed\"}", CheckOutcome::Passed),
            ("{\"type\":\"timed_out\"}", CheckOutcome::TimedOut),
            (
                "{\"type\":\"failed\",\"code\":2}",
                CheckOutcome::Failed { code: 2 },
            ),
        ];
        for (text, expected) in table {
            assert_eq!(
                serde_json::from_str::<CheckOutcome>(text).unwrap(),
                expected
            );
        }
        let verified = "{\"type\":\"verified\",\"command\":\"true\",\"exit_code\":0}";
        let read: crate::task::Evidence = serde_json::from_str(verified).unwrap();
        assert_eq!(serde_json::to_string(&read).unwrap(), verified);
    }
}
