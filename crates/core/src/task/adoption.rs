//! A task that was begun in another store. What was proved there counts here: whoever takes it over trusts who sealed it.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::event::{Evidence, TaskEvent};
use super::spec::TaskSpec;
use super::state::TaskState;
use super::{Reason, Summary, Task};
use crate::hold::Hold;
use crate::{Caller, Fence, PackageId, Role, Timestamp};

/// A task as it is handed over.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct AdoptedTask {
    /// What was asked for.
    pub spec: TaskSpec,
    /// What its last attempt proved, if it has ended.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub evidence: Vec<Evidence>,
    /// How it ended, if it has.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ending: Option<AdoptedEnding>,
    /// What keeps it from being handed out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub hold: Option<AdoptedHold>,
}

/// How a task ended in another store.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "type", rename_all = "snake_case")]
pub enum AdoptedEnding {
    /// With success.
    Done {
        /// What was said about it.
        summary: Option<Summary>,
    },
    /// Without.
    Failed {
        /// Why.
        reason: Reason,
    },
    /// Until a person helps.
    Blocked {
        /// What is needed.
        reason: Reason,
    },
    /// By decision.
    Cancelled {
        /// Why, if they said.
        reason: Option<Reason>,
    },
}

/// A hold that comes along.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct AdoptedHold {
    /// Why, if they said.
    pub reason: Option<Reason>,
    /// The package of the pause that put it on; none if somebody wants it for its own sake.
    pub pause: Option<PackageId>,
}

impl AdoptedTask {
    /// A task as it stands.
    pub fn of(task: &Task) -> Self {
        let ending = AdoptedEnding::of(&task.state);
        Self {
            spec: task.spec.clone(),
            // An attempt that was broken off proves nothing to the next one.
            evidence: ending
                .as_ref()
                .map_or_else(Vec::new, |_| task.evidence.clone()),
            ending,
            hold: task.hold.as_ref().map(|hold| AdoptedHold {
                reason: hold.reason.clone(),
                pause: hold.pause,
            }),
        }
    }

    /// A task that is paused by itself: whatever it waited for has come, and whatever it is a part of stays where it is.
    ///
    /// None of one that works beside others: by itself it would be anybody's task, with rights that it never had.
    pub fn alone(task: &Task, package: PackageId) -> Option<Self> {
        if task.spec.role() == Role::SubTask {
            return None;
        }
        Some(Self {
            spec: TaskSpec {
                after: vec![],
                part: None,
                ..task.spec.clone()
            },
            evidence: vec![],
            ending: None,
            hold: Some(AdoptedHold {
                reason: "paused".parse().ok(),
                pause: Some(package),
            }),
        })
    }

    /// What happened to it behind its beginning, as far as it matters here. `begun` is the task as it is by then: what it waits
    /// for may have ended it already.
    pub fn past(&self, begun: &Task, by: &Caller, at: Timestamp) -> Vec<TaskEvent> {
        let fence = Fence::NONE;
        let proofs = self.evidence.iter().cloned();
        let proofs = proofs.map(|evidence| TaskEvent::Evidenced { fence, evidence });
        let hold = self.hold.clone().map(|hold| TaskEvent::Held {
            hold: Hold {
                reason: hold.reason,
                by: by.clone(),
                since: at,
                pause: hold.pause,
                whole: None,
            },
        });
        let is_open = begun.state.ending().is_none();
        let ending = self.ending.clone().filter(|_| is_open);
        let ending = ending.map(AdoptedEnding::event);
        proofs.chain(hold).chain(ending).collect()
    }
}

impl AdoptedEnding {
    fn of(state: &TaskState) -> Option<Self> {
        match state {
            TaskState::Done { summary, .. } => Some(Self::Done {
                summary: summary.clone(),
            }),
            TaskState::Failed { reason, .. } => Some(Self::Failed {
                reason: reason.clone(),
            }),
            TaskState::Blocked { reason, .. } => Some(Self::Blocked {
                reason: reason.clone(),
            }),
            TaskState::Cancelled { reason, .. } => Some(Self::Cancelled {
                reason: reason.clone(),
            }),
            TaskState::Waiting
            | TaskState::Queued
            | TaskState::Leased { .. }
            | TaskState::Running { .. } => None,
        }
    }

    fn event(self) -> TaskEvent {
        let fence = None;
        match self {
            Self::Done { summary } => TaskEvent::Completed { fence, summary },
            Self::Failed { reason } => TaskEvent::Failed { fence, reason },
            Self::Blocked { reason } => TaskEvent::Blocked { fence, reason },
            Self::Cancelled { reason } => TaskEvent::Cancelled { reason },
        }
    }
}

#[cfg(test)]
mod tests {
    use uuid::Uuid;

    use super::*;
    use crate::task::Part;
    use crate::{BatchId, ProjectId, RunId, TaskId};

    #[test]
    fn what_works_beside_others_is_not_carried_alone() {
        let id = Uuid::from_u128(1);
        let (batch, run) = (BatchId::from_uuid(id), RunId::from_uuid(id));
        for (part, is_carried) in [
            (None, true),
            (Some(Part::FanIn { batch }), true),
            (Some(Part::SubTask { batch }), false),
            (Some(Part::Phase { run }), false),
        ] {
            let spec = TaskSpec {
                part,
                ..TaskSpec::new("fix".parse().unwrap(), "B".parse().unwrap())
            };
            let (task, project) = (TaskId::from_uuid(id), ProjectId::from_uuid(id));
            let task = Task::begin(task, project, spec, Timestamp::UNIX_EPOCH);
            let carried = AdoptedTask::alone(&task, PackageId::from_uuid(id));
            assert_eq!(carried.is_some(), is_carried, "{part:?}");
        }
    }
}
