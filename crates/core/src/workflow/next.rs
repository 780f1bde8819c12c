//! Where a run goes on when a phase is proved.

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::PhaseName;
use crate::checked_text::checked_text;
use crate::name::NameError;
use crate::ownership::RepoPath;

/// What a phase came to: a word.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct Outcome(String);

checked_text!(Outcome, NameError, |text| text
    .parse::<PhaseName>()
    .map(drop));

/// Where a run goes on.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum Next {
    /// At once, there.
    Goal(Goal),
    /// When the results of a batch are together.
    FanOut(FanOut),
}

/// A place to go on.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub enum Goal {
    /// This phase.
    Phase {
        /// Which.
        phase: PhaseName,
    },
    /// Nowhere: the run is done.
    End,
}

/// The work is split into a batch, and the run waits for its results.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct FanOut {
    /// Where the batch is described.
    pub manifest: ManifestSource,
    /// Where it goes on with all results.
    pub join: Goal,
    /// Where it goes on if parts did not end well; without it a person is asked.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub degraded: Option<Goal>,
}

/// Where a phase leaves the manifest of a batch.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub enum ManifestSource {
    /// In the field `batch` of its result.
    Result,
    /// In a file that it committed.
    File {
        /// Which.
        path: RepoPath,
    },
}

impl ManifestSource {
    /// The field of a result that has it.
    pub const FIELD: &str = "batch";
    /// How a definition names it.
    pub(super) const RESULT: &str = "result";
    /// How a definition names a file.
    pub(super) const FILE: &str = "file:";
}

impl fmt::Display for ManifestSource {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Result => f.write_str(Self::RESULT),
            Self::File { path } => write!(f, "{}{path}", Self::FILE),
        }
    }
}

impl Next {
    /// Everywhere it can lead.
    pub fn goals(&self) -> Vec<&Goal> {
        match self {
            Self::Goal(goal) => vec![goal],
            Self::FanOut(fan_out) => [Some(&fan_out.join), fan_out.degraded.as_ref()]
                .into_iter()
                .flatten()
                .collect(),
        }
    }

    /// The fan-out, where it is one.
    pub const fn fan_out(&self) -> Option<&FanOut> {
        match self {
            Self::Goal(_) => None,
            Self::FanOut(fan_out) => Some(fan_out),
        }
    }
}

impl Goal {
    /// The word that means the end.
    pub(super) const END: &str = "end";

    /// The phase, unless it is the end.
    pub const fn phase(&self) -> Option<&PhaseName> {
        match self {
            Self::Phase { phase } => Some(phase),
            Self::End => None,
        }
    }
}

impl fmt::Display for Goal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Phase { phase } => fmt::Display::fmt(phase, f),
            Self::End => f.write_str(Self::END),
        }
    }
}

impl fmt::Display for Next {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Goal(goal) => fmt::Display::fmt(goal, f),
            Self::FanOut(fan_out) => fmt::Display::fmt(fan_out, f),
        }
    }
}

impl fmt::Display for FanOut {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { manifest, join, .. } = self;
        write!(f, "a batch ({manifest}), then {join}")?;
        match &self.degraded {
            Some(degraded) => write!(f, ", or {degraded} if parts are missing"),
            None => f.write_str(", or a person if parts are missing"),
        }
    }
}
