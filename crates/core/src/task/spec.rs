//! What was asked for when a task was added. It does not change afterwards.

use std::fmt;
use std::time::Duration;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::text::{Brief, VerifyCommand};
use crate::time::millis;
use crate::{AgentName, BatchId, Confinement, Ownership, Role, RunId, TaskId, TaskName};

/// What was asked for.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct TaskSpec {
    /// What people call it.
    pub name: TaskName,
    /// What is to be done.
    pub brief: Brief,
    /// Higher goes first.
    #[serde(default)]
    #[schemars(with = "i16")]
    pub priority: Priority,
    /// The paths it may change. Without it nothing is promised about overlap.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub owns: Option<Ownership>,
    /// What proves the work.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub verify: Option<VerifyCommand>,
    /// What it waits for.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub after: Vec<Dependency>,
    /// Which part of a batch or a run it is.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub part: Option<Part>,
    /// The agent that is to work on it; without it, whichever its worker has.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub agent: Option<AgentName>,
    /// How long a session may take.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub limit: Option<TimeLimit>,
    /// How its sessions are held, if a person said so.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sandbox: Option<Confinement>,
}

impl TaskSpec {
    /// A task that asks for nothing but what its brief says.
    pub fn new(name: TaskName, brief: Brief) -> Self {
        Self {
            name,
            brief,
            priority: Priority::default(),
            owns: None,
            verify: None,
            after: vec![],
            part: None,
            agent: None,
            limit: None,
            sandbox: None,
        }
    }

    /// As it is taken over from another store: nobody here has let it work in no sandbox.
    #[must_use]
    pub fn taken_over(&self) -> Self {
        Self {
            sandbox: self.sandbox.filter(|it| *it != Confinement::None),
            ..self.clone()
        }
    }

    /// What a session that works on it is there for.
    pub fn role(&self) -> Role {
        match self.part {
            None => Role::Main,
            // It works beside others that must not be disturbed: the runs of other people, and the person.
            Some(Part::SubTask { .. } | Part::Phase { .. }) => Role::SubTask,
            Some(Part::FanIn { .. }) => Role::FanIn,
        }
    }
}

/// How long a session may take, in milliseconds.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(transparent)]
pub struct TimeLimit(
    #[serde(with = "millis")]
    #[schemars(with = "u64")]
    pub Duration,
);

/// What a task is a part of.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "type", rename_all = "kebab-case")]
pub enum Part {
    /// One of several that are worked on side by side.
    SubTask {
        /// Of which batch.
        batch: BatchId,
    },
    /// The one that brings their results together.
    FanIn {
        /// Of which batch.
        batch: BatchId,
    },
    /// An attempt at a phase.
    Phase {
        /// Of which run.
        run: RunId,
    },
}

impl Part {
    /// The batch, if it is a part of one.
    pub const fn batch(self) -> Option<BatchId> {
        match self {
            Self::SubTask { batch } | Self::FanIn { batch } => Some(batch),
            Self::Phase { .. } => None,
        }
    }

    /// The run, if it is a part of one.
    pub const fn run(self) -> Option<RunId> {
        match self {
            Self::Phase { run } => Some(run),
            Self::SubTask { .. } | Self::FanIn { .. } => None,
        }
    }
}

/// Which of two ready tasks goes first: the higher one; equals go in the order they were added.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default, Serialize, Deserialize,
)]
#[serde(transparent)]
pub struct Priority(i16);

impl Priority {
    /// A priority; zero is ordinary.
    pub const fn new(level: i16) -> Self {
        Self(level)
    }

    /// As a number.
    pub const fn level(self) -> i16 {
        self.0
    }
}

impl fmt::Display for Priority {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(&self.0, f)
    }
}

/// Another task that must come to something first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Dependency {
    /// Which one.
    pub task: TaskId,
    /// What it must come to.
    pub until: Until,
}

/// How far a dependency must have come.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Until {
    /// Done, with success.
    Done,
    /// At an end, whichever: a fan-in also wants to hear of the parts that failed.
    Ended,
}

/// Each task once; of two demands on the same task the stricter one counts.
pub fn dependencies(demands: impl IntoIterator<Item = Dependency>) -> Vec<Dependency> {
    let mut kept: Vec<Dependency> = vec![];
    for demand in demands {
        match kept.iter_mut().find(|it| it.task == demand.task) {
            Some(there) if demand.until == Until::Done => there.until = Until::Done,
            Some(_) => {}
            None => kept.push(demand),
        }
    }
    kept
}

#[cfg(test)]
mod tests {
    use uuid::Uuid;

    use super::*;

    #[test]
    fn a_task_from_elsewhere_is_not_taken_out_of_the_sandbox() {
        let taken_over = |sandbox| {
            let spec = TaskSpec {
                sandbox,
                ..TaskSpec::new("fix".parse().unwrap(), "Fix it.".parse().unwrap())
            };
            spec.taken_over().sandbox
        };
        let held = Some(Confinement::Worktree);
        assert_eq!(taken_over(Some(Confinement::None)), None);
        assert_eq!((taken_over(held), taken_over(None)), (held, None));
    }

    #[test]
    fn of_two_demands_on_one_task_the_stricter_counts() {
        let on = |number, until| Dependency {
            task: TaskId::from_uuid(Uuid::from_u128(number)),
            until,
        };
        let given = [
            on(1, Until::Ended),
            on(2, Until::Ended),
            on(1, Until::Done),
            on(2, Until::Ended),
        ];
        assert_eq!(
            dependencies(given),
            [on(1, Until::Done), on(2, Until::Ended)]
        );
    }
}
