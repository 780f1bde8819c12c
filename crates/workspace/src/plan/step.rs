//! One step of a plan.

use std::fmt;

use crate::markdown::LineNumber;

/// A step's number in its plan, counted from one over all steps.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct StepNumber(usize);

impl StepNumber {
    /// The step at this place of the list of steps.
    pub(crate) const fn at(index: usize) -> Self {
        Self(index + 1)
    }

    pub(crate) const fn index(self) -> usize {
        self.0 - 1
    }

    /// The number.
    #[must_use]
    pub const fn get(self) -> usize {
        self.0
    }
}

impl fmt::Display for StepNumber {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

/// How far a step is, by its box.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Marker {
    /// `[x]`
    Done,
    /// `[>]`
    Current,
    /// `[ ]`
    Pending,
    /// `[!]`
    Blocked {
        /// From the line `blocked: …` below the step.
        reason: Option<String>,
    },
    /// Anything else: unfinished, whatever it was meant to say.
    Unknown {
        /// What stands in the box.
        found: String,
    },
}

/// One step.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Step {
    /// Its number.
    pub number: StepNumber,
    /// Where it stands.
    pub line: LineNumber,
    /// How many steps it is nested in.
    pub depth: usize,
    /// How far it is.
    pub marker: Marker,
    /// What is to be done.
    pub title: String,
    /// The lines below that belong to it, without their indentation.
    pub notes: Vec<String>,
    pub(super) spot: Spot,
}

/// Where the parts of a step are in the document, for editing.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Spot {
    /// The column of its list marker.
    pub(super) column: usize,
    /// The column of its text.
    pub(super) inner_column: usize,
    /// What stands in the box, in bytes of the text.
    pub(super) box_range: std::ops::Range<usize>,
    /// The first line behind it and its notes, in the list of lines.
    pub(super) end: usize,
    /// The line `blocked: …`, in the list of lines.
    pub(super) reason_line: Option<usize>,
}

impl Step {
    /// Whether it is done.
    #[must_use]
    pub fn is_done(&self) -> bool {
        self.marker == Marker::Done
    }

    pub(super) const fn line_index(&self) -> usize {
        self.line.get() - 1
    }
}
