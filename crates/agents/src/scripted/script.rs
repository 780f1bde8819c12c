//! A parsed script: steps with the names that messages use for them.

use std::fmt;

use super::action::Action;
use super::when::When;

/// What a scripted agent does, in order.
#[derive(Debug, Clone, PartialEq)]
pub struct Script {
    pub steps: Vec<Step>,
}

/// One action, and the condition under which it is taken.
#[derive(Debug, Clone, PartialEq)]
pub struct Step {
    pub name: StepName,
    /// The line of the script on which the step begins.
    pub line: usize,
    pub when: Option<When>,
    pub action: Action,
}

/// Where a step stands: `3` for the third, `3.on.1.2` for the second one after answer 1 of it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StepName(String);

impl StepName {
    /// The name of step `number`, counted from one, of the list `list`; the script's own list has
    /// the empty name.
    pub(super) fn in_list(list: &str, number: usize) -> Self {
        if list.is_empty() {
            Self(number.to_string())
        } else {
            Self(format!("{list}.{number}"))
        }
    }

    pub(super) fn list(&self, key: &str) -> String {
        format!("{}.{key}", self.0)
    }
}

impl fmt::Display for StepName {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "step {}", self.0)
    }
}
