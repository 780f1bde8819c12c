//! The plan of a feature: the steps in `STATE.md`, what is wrong with them, and the one that is current.
//!
//! The parser is strict and never guesses: a box that it cannot read is unfinished and a problem with its line, because a
//! plan that looks complete by mistake ends the work. Reading decides nothing but [`Plan::verdict`]; writing is
//! [`edit()`], which changes single lines and copies all others byte for byte.

mod checkbox;
mod current_line;
mod edit;
#[cfg(test)]
mod examples;
#[cfg(test)]
mod faults;
mod find;
mod insert;
mod parse;
mod problem;
#[cfg(test)]
mod properties;
mod sentence;
mod step;
mod verdict;

use crate::markdown::Markdown;

pub use edit::{Edit, EditError, Edited, Place, Then, edit};
pub use find::{FindError, StepWord};
pub use problem::{Fault, Problem, Severity};
pub use sentence::{Sentence, SentenceError};
pub use step::{Marker, Step, StepNumber};
pub use verdict::Verdict;

/// The section with the steps.
pub const PLAN: &str = "Execution Plan";
/// The section that repeats the current step for people and older tools.
pub const CURRENT_STEP: &str = "Current Step";
/// How the line begins that stands in place of a plan until there is one: ours, and that of older tools.
pub const NO_PLAN_YET: [&str; 2] = ["There is no plan yet", "Not yet generated"];

/// What is wrong with any document in which something was left unfinished: a merge, fenced code, a comment.
#[must_use]
pub fn damage(text: &str) -> Vec<Problem> {
    parse::damage(&Markdown::parse(text))
}

/// A plan as it was read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Plan {
    /// The steps, in order; nested ones count like all others.
    pub steps: Vec<Step>,
    /// What is wrong, by line.
    pub problems: Vec<Problem>,
}

impl Plan {
    /// Reads the plan from the text of `STATE.md`.
    #[must_use]
    pub fn parse(text: &str) -> Self {
        parse::plan(text)
    }

    /// How many steps are done.
    #[must_use]
    pub fn done(&self) -> usize {
        self.steps.iter().filter(|step| step.is_done()).count()
    }

    /// The step with this number.
    #[must_use]
    pub fn step(&self, number: StepNumber) -> Option<&Step> {
        self.steps.get(number.index())
    }

    /// What makes it invalid.
    pub fn errors(&self) -> impl Iterator<Item = &Problem> {
        let is_error = |problem: &&Problem| problem.severity() == Severity::Error;
        self.problems.iter().filter(is_error)
    }
}
