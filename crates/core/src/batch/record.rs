//! A batch as its history makes it.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::event::{BatchCommand, BatchEvent, BatchRefusal};
use super::manifest::Estimate;
use crate::caller::Action;
use crate::task::{Ending, Reason};
use crate::{
    BatchId, BatchName, Caller, CommitId, PartName, ProjectId, RunId, Task, TaskId, TaskName,
};
use crate::{TaskState, Timestamp};

/// What a batch is. It does not change afterwards.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct BatchSpec {
    /// What people call it.
    pub name: BatchName,
    /// The commit that every part begins with.
    pub base: CommitId,
    /// Its parts, in the order in which their results are merged.
    pub parts: Vec<BatchPart>,
    /// The task that brings them together.
    pub fan_in: TaskId,
    /// How long that will take.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub fan_in_estimate: Option<Estimate>,
    /// The task that comes after, where it was published with the batch.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub next: Option<TaskId>,
    /// What comes after, by name.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub next_name: Option<TaskName>,
    /// Why it was split like this.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rationale: Option<Reason>,
    /// The run that waits for its results.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub run: Option<RunId>,
}

/// A part of a batch.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct BatchPart {
    /// What it is called within the batch.
    pub name: PartName,
    /// The task it is.
    pub task: TaskId,
    /// How long it will take, as people guessed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub estimate: Option<Estimate>,
}

/// Where a batch is.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub enum BatchState {
    /// Parts are worked on or wait.
    Open,
    /// All parts have ended; their results are brought together.
    FanIn {
        /// Since when that can be claimed.
        ready_at: Timestamp,
    },
    /// The fan-in has ended.
    Ended {
        /// When.
        at: Timestamp,
        /// How.
        ending: Ending,
    },
    /// It was called off.
    Cancelled {
        /// When.
        at: Timestamp,
        /// Why, if they said.
        reason: Option<Reason>,
    },
}

impl BatchState {
    /// The word for it, the same in every output.
    pub const fn word(&self) -> &'static str {
        match self {
            Self::Open => "open",
            Self::FanIn { .. } => "fan-in",
            Self::Ended { ending, .. } => ending.word(),
            Self::Cancelled { .. } => "cancelled",
        }
    }

    /// Whether it can still come to something by itself.
    pub const fn is_live(&self) -> bool {
        match self {
            Self::Open | Self::FanIn { .. } => true,
            Self::Ended { .. } | Self::Cancelled { .. } => false,
        }
    }
}

/// A batch as it is after its events so far.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Batch {
    /// Its identity.
    pub id: BatchId,
    /// Where it belongs.
    pub project: ProjectId,
    /// What it is.
    #[serde(flatten)]
    pub spec: BatchSpec,
    /// When it was opened.
    pub opened_at: Timestamp,
    /// Where it is.
    pub state: BatchState,
    /// The number of its last event.
    pub version: u64,
}

/// A history that no batch can have.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum HistoryError {
    /// The first event is not `Opened`, or there is none.
    #[error("the history of {0} does not begin with `opened`")]
    NoBeginning(BatchId),
    /// A number is missing or stands twice.
    #[error("the history of {batch} has event {found} where {expected} was due")]
    Gap {
        /// Whose history.
        batch: BatchId,
        /// The number that was due.
        expected: u64,
        /// The number found.
        found: u64,
    },
}

impl Batch {
    /// The batch right after it was opened.
    pub fn begin(id: BatchId, project: ProjectId, spec: BatchSpec, at: Timestamp) -> Self {
        Self {
            id,
            project,
            spec,
            opened_at: at,
            state: BatchState::Open,
            version: 1,
        }
    }

    /// Rebuilds a batch from its history: (number, time, event), oldest first.
    pub fn replay(
        id: BatchId,
        project: ProjectId,
        history: impl IntoIterator<Item = (u64, Timestamp, BatchEvent)>,
    ) -> Result<Self, HistoryError> {
        let mut history = history.into_iter();
        let Some((1, at, BatchEvent::Opened { spec })) = history.next() else {
            return Err(HistoryError::NoBeginning(id));
        };
        let mut batch = Self::begin(id, project, *spec, at);
        for (seq, at, event) in history {
            let expected = batch.version + 1;
            if seq != expected {
                return Err(HistoryError::Gap {
                    batch: id,
                    expected,
                    found: seq,
                });
            }
            batch.apply(event, at);
        }
        Ok(batch)
    }

    /// Takes one event in.
    pub fn apply(&mut self, event: BatchEvent, at: Timestamp) {
        self.version += 1;
        match event {
            BatchEvent::Opened { .. } => {}
            BatchEvent::FanInReady => self.state = BatchState::FanIn { ready_at: at },
            BatchEvent::FanInEnded { ending } => self.state = BatchState::Ended { at, ending },
            BatchEvent::Reopened | BatchEvent::Retried { .. } => self.state = BatchState::Open,
            BatchEvent::Cancelled { reason } => self.state = BatchState::Cancelled { at, reason },
        }
    }

    /// What its fan-in came to, if the batch has not heard of it yet.
    pub fn follow(&self, fan_in: &TaskState) -> Option<BatchEvent> {
        if let Some(ending) = fan_in.ending() {
            let has_heard =
                matches!(&self.state, BatchState::Ended { ending: it, .. } if *it == ending);
            let is_over = has_heard || matches!(self.state, BatchState::Cancelled { .. });
            return (!is_over).then_some(BatchEvent::FanInEnded { ending });
        }
        let is_open = matches!(self.state, BatchState::Open);
        let is_gathering = matches!(self.state, BatchState::FanIn { .. });
        match fan_in {
            TaskState::Waiting => (!is_open).then_some(BatchEvent::Reopened),
            TaskState::Queued
            | TaskState::Leased { .. }
            | TaskState::Running { .. }
            | TaskState::Done { .. }
            | TaskState::Failed { .. }
            | TaskState::Blocked { .. }
            | TaskState::Cancelled { .. } => (!is_gathering).then_some(BatchEvent::FanInReady),
        }
    }

    /// Decides a command. `tasks` are those of the batch, as they are now.
    pub fn decide(
        &self,
        command: &BatchCommand,
        by: &Caller,
        tasks: &[Task],
    ) -> Result<BatchEvent, BatchRefusal> {
        by.may(Action::Steer)?;
        match (command, &self.state) {
            (
                _,
                BatchState::Ended {
                    ending: Ending::Done,
                    ..
                },
            ) => Err(BatchRefusal::Done),
            (BatchCommand::Cancel { .. }, BatchState::Cancelled { .. }) => {
                Err(BatchRefusal::Cancelled)
            }
            (BatchCommand::Cancel { reason }, _) => Ok(BatchEvent::Cancelled {
                reason: reason.clone(),
            }),
            (BatchCommand::Retry { parts }, _) => self.retry(parts, tasks),
        }
    }

    fn retry(&self, wanted: &[PartName], tasks: &[Task]) -> Result<BatchEvent, BatchRefusal> {
        if let Some(name) = wanted.iter().find(|name| self.part(name).is_none()) {
            return Err(BatchRefusal::NoSuchPart(name.clone()));
        }
        let find = |id: TaskId| tasks.iter().find(|task| task.id == id);
        let ended_badly = |part: &&BatchPart| find(part.task).is_some_and(is_retriable);
        // Whoever names a part means that one, and not the fan-in behind it.
        let is_other = |name: &&PartName| !self.part(name).as_ref().is_some_and(ended_badly);
        if let Some(name) = wanted.iter().find(is_other) {
            return Err(BatchRefusal::NotRetriable(name.clone()));
        }
        let fan_in = find(self.spec.fan_in);
        if let Some(at_work) = fan_in.filter(|it| it.state.lease().is_some()) {
            return Err(BatchRefusal::Gathering(at_work.spec.name.clone()));
        }
        let chosen = self.with_relations(wanted, tasks);
        let parts = self
            .spec
            .parts
            .iter()
            .filter(|part| chosen.contains(&part.task));
        let parts: Vec<_> = parts
            .filter(ended_badly)
            .map(|it| it.name.clone())
            .collect();
        if parts.is_empty() && !fan_in.is_some_and(is_retriable) {
            return Err(BatchRefusal::NothingToRetry);
        }
        Ok(BatchEvent::Retried { parts })
    }

    /// The parts that are meant, with those that they need and that ended without success, and those that wait for any of
    /// them.
    fn with_relations(&self, wanted: &[PartName], tasks: &[Task]) -> Vec<TaskId> {
        let is_meant = |part: &&BatchPart| wanted.is_empty() || wanted.contains(&part.name);
        let meant = self.spec.parts.iter().filter(is_meant);
        let mut chosen: Vec<_> = meant.map(|it| it.task).collect();
        let parts: Vec<_> = tasks
            .iter()
            .filter(|it| it.id != self.spec.fan_in)
            .collect();
        grow(&mut chosen, &parts, |task, chosen| {
            let mut needing = parts.iter().filter(|it| chosen.contains(&it.id));
            is_retriable(task) && needing.any(|it| waits_for(it, &[task.id]))
        });
        grow(&mut chosen, &parts, waits_for);
        chosen
    }

    /// The part of this name.
    pub fn part(&self, name: &PartName) -> Option<&BatchPart> {
        self.spec.parts.iter().find(|part| part.name == *name)
    }
}

/// Adds what is wanted beside those that are chosen, until nothing is.
fn grow(chosen: &mut Vec<TaskId>, tasks: &[&Task], is_wanted: impl Fn(&Task, &[TaskId]) -> bool) {
    let next = |chosen: &[TaskId]| {
        let mut others = tasks.iter().filter(|it| !chosen.contains(&it.id));
        others.find(|it| is_wanted(it, chosen)).map(|it| it.id)
    };
    while let Some(id) = next(chosen) {
        chosen.push(id);
    }
}

fn waits_for(task: &Task, others: &[TaskId]) -> bool {
    task.spec.after.iter().any(|it| others.contains(&it.task))
}

fn is_retriable(task: &Task) -> bool {
    task.state
        .ending()
        .is_some_and(|ending| ending != Ending::Done)
}
