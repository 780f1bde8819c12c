//! What can be wrong with a plan, and how bad it is.

use std::fmt;

use super::{CURRENT_STEP, PLAN, StepNumber};
use crate::markdown::LineNumber;

/// How bad a problem is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Severity {
    /// Worth knowing; the plan can be followed.
    Warning,
    /// The plan cannot be followed as it is.
    Error,
}

/// Something wrong, and where.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Problem {
    /// The line it is about.
    pub line: LineNumber,
    /// What it is; its text form is a sentence without a period.
    pub fault: Fault,
}

/// What is wrong.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Fault {
    /// A merge was left unfinished.
    #[error("a merge conflict is not resolved")]
    Conflict,
    /// A second section with the plan's title.
    #[error("there is a second section `{PLAN}`; the first is at line {first}")]
    SecondPlan {
        /// The first one.
        first: LineNumber,
    },
    /// Steps without a plan to stand in.
    #[error("there are boxes but no section `{PLAN}`")]
    NoPlanHeading,
    /// Everything below is code.
    #[error("the fenced code that begins here never ends")]
    OpenFence,
    /// Everything below is hidden.
    #[error("the comment that begins here never ends")]
    OpenComment,
    /// A box with something else in it.
    #[error("step {step} has the box `[{found}]`; it can be `[ ]`, `[>]`, `[x]` or `[!]`")]
    UnreadableBox {
        /// The step.
        step: StepNumber,
        /// What is in its box.
        found: String,
    },
    /// A box that begins no list item.
    #[error("this box begins no list item, so it is no step; put `- ` before it")]
    BareBox,
    /// A box and nothing behind it.
    #[error("step {step} has no text")]
    NoText {
        /// The step.
        step: StepNumber,
    },
    /// More than one `[>]`.
    #[error("step {step} is marked as current, and so is step {first}")]
    SecondCurrent {
        /// This one.
        step: StepNumber,
        /// The first one.
        first: StepNumber,
    },
    /// Nobody can tell what would unblock it.
    #[error("step {step} is blocked without a line `blocked: …` below it that says why")]
    NoReason {
        /// The step.
        step: StepNumber,
    },
    /// A done step around one that is not.
    #[error("step {step} is done, but step {below} in it is not")]
    DoneTooEarly {
        /// The outer one.
        step: StepNumber,
        /// The inner one.
        below: StepNumber,
    },
    /// The section for people says something else.
    #[error(
        "the section `{CURRENT_STEP}` says something else than the plan: step {current} is current"
    )]
    Disagrees {
        /// By the plan.
        current: StepNumber,
    },
    /// Only the first is kept up to date.
    #[error("there is a second section `{CURRENT_STEP}`; the first is at line {first}")]
    SecondCurrentSection {
        /// The first one.
        first: LineNumber,
    },
}

impl Problem {
    pub(super) const fn new(line: LineNumber, fault: Fault) -> Self {
        Self { line, fault }
    }

    /// How bad it is.
    #[must_use]
    pub const fn severity(&self) -> Severity {
        match self.fault {
            Fault::Conflict
            | Fault::SecondPlan { .. }
            | Fault::NoPlanHeading
            | Fault::OpenFence
            | Fault::OpenComment
            | Fault::UnreadableBox { .. }
            | Fault::BareBox
            | Fault::NoText { .. }
            | Fault::SecondCurrent { .. } => Severity::Error,
            Fault::NoReason { .. }
            | Fault::DoneTooEarly { .. }
            | Fault::Disagrees { .. }
            | Fault::SecondCurrentSection { .. } => Severity::Warning,
        }
    }

    /// Whether nobody can tell where the plan is or where it ends, so that an edit could go astray. What is wrong with
    /// single boxes is what edits are good for.
    pub(super) const fn is_structural(&self) -> bool {
        match self.fault {
            Fault::Conflict
            | Fault::SecondPlan { .. }
            | Fault::NoPlanHeading
            | Fault::OpenFence
            | Fault::OpenComment => true,
            Fault::UnreadableBox { .. }
            | Fault::BareBox
            | Fault::NoText { .. }
            | Fault::SecondCurrent { .. }
            | Fault::NoReason { .. }
            | Fault::DoneTooEarly { .. }
            | Fault::Disagrees { .. }
            | Fault::SecondCurrentSection { .. } => false,
        }
    }
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "line {}: {}", self.line, self.fault)
    }
}
