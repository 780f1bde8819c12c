//! What a batch is to be, after all checks.

use std::time::Duration;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::task::{Brief, Reason, TimeLimit, VerifyCommand};
use crate::time::millis;
use crate::{AgentName, BatchName, Ownership, PartName, TaskName};

/// What a batch is to be. There is no way to have one but [`Manifest::read`].
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Manifest {
    /// What to call it.
    pub name: BatchName,
    /// Its parts, in the order in which their results are merged.
    pub parts: Vec<PartSpec>,
    /// What brings them together.
    pub fan_in: FanInSpec,
    /// What comes after.
    pub next: Option<Successor>,
    /// Why it was split like this.
    pub rationale: Option<Reason>,
    /// What becomes of parts that want the same paths.
    pub overlap: OverlapRule,
    /// Where the repository is, if the manifest says so: an earlier tool wrote it down.
    pub workspace: Option<String>,
}

/// A part of a batch.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct PartSpec {
    /// What to call it.
    pub name: PartName,
    /// The same as a task of the project.
    pub task: TaskName,
    /// What is to be done.
    pub brief: Brief,
    /// The paths it may change.
    pub owns: Ownership,
    /// How long it will take, as people guess.
    pub estimate: Option<Estimate>,
    /// The parts that must be done first.
    pub after: Vec<PartName>,
    /// What proves the work.
    pub verify: Option<VerifyCommand>,
    /// Who is to do it.
    pub agent: Option<AgentName>,
    /// How long a session may take.
    pub limit: Option<TimeLimit>,
}

/// What brings the results together.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct FanInSpec {
    /// The task it is.
    pub task: TaskName,
    /// What is to be done with what needs judgement.
    pub brief: Brief,
    /// How long it will take.
    pub estimate: Option<Estimate>,
    /// What proves that the parts work together.
    pub verify: Option<VerifyCommand>,
    /// Who judges.
    pub agent: Option<AgentName>,
}

/// What comes after a batch.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub enum Successor {
    /// A task that somebody else adds; it is only spoken of.
    Named {
        /// Its name.
        task: TaskName,
    },
    /// A task that is published with the batch and waits for the fan-in to be done.
    Task {
        /// Its name.
        task: TaskName,
        /// What is to be done.
        brief: Brief,
        /// What proves the work.
        verify: Option<VerifyCommand>,
        /// Who is to do it.
        agent: Option<AgentName>,
    },
}

impl Successor {
    /// Its name.
    pub const fn task(&self) -> &TaskName {
        match self {
            Self::Named { task } | Self::Task { task, .. } => task,
        }
    }
}

/// What becomes of parts that want the same paths and do not wait for each other.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum OverlapRule {
    /// The batch is refused.
    #[default]
    Refuse,
    /// They run one after the other.
    Serialise,
}

/// How long something will take, as people guess.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema,
)]
#[serde(transparent)]
pub struct Estimate(
    #[serde(with = "millis")]
    #[schemars(with = "u64")]
    Duration,
);

impl Estimate {
    /// Nobody means more than a month of one agent's time.
    const MOST: Duration = Duration::from_secs(31 * 24 * 3600);

    /// From a number of minutes; none if it is not a time that anything can take.
    pub fn minutes(minutes: f64) -> Option<Self> {
        let span = Duration::try_from_secs_f64(minutes * 60.0).ok()?;
        let is_time = span >= Duration::from_millis(1) && span <= Self::MOST;
        is_time.then_some(Self(span))
    }

    /// As a span.
    pub const fn span(self) -> Duration {
        self.0
    }
}
