//! A run as its history makes it.

use serde::{Deserialize, Serialize};

use super::cause::Cause;
use super::event::Verdict;
use super::follow::GATE_WAITS;
use crate::id::derived;
use crate::task::{Brief, Part, Reason, TaskSpec};
use crate::workflow::{Phase, Proof, Workflow};
use crate::{
    AgentName, BatchId, CommitId, FeatureName, PhaseName, ProjectId, RunId, RunName, TaskId,
    Timestamp,
};

/// What a run is. It does not change afterwards.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct RunSpec {
    /// What people call it.
    pub name: RunName,
    /// The workflow as it was when the run began: editing its file changes later runs only.
    pub workflow: Workflow,
    /// What is wanted, in the person's words.
    pub goal: Brief,
    /// The feature that it is for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub feature: Option<FeatureName>,
    /// The agent of phases that name none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub agent: Option<AgentName>,
    /// The commit it begins with.
    pub base: CommitId,
    /// Whether a person sits at its sessions and agrees to each phase.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub is_interactive: bool,
}

/// Where a run is.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub enum RunState {
    /// A task is there for its phase.
    Working {
        /// Which.
        task: TaskId,
    },
    /// It waits for the results of a batch.
    FannedOut {
        /// Which.
        batch: BatchId,
    },
    /// A phase is proved, and a person must agree before it goes on.
    Gated {
        /// Until when they can.
        until: Timestamp,
    },
    /// It cannot go on by itself.
    Stopped {
        /// When it stopped.
        at: Timestamp,
        /// What kind of failure it was.
        #[serde(default = "Cause::unsaid")]
        cause: Cause,
        /// Why.
        reason: Reason,
    },
    /// A person stopped it for a while.
    Paused {
        /// When.
        at: Timestamp,
    },
    /// It came to its end.
    Done {
        /// When.
        at: Timestamp,
    },
    /// It was called off.
    Cancelled {
        /// When.
        at: Timestamp,
        /// Why, if they said.
        reason: Option<Reason>,
    },
}

impl RunState {
    /// The word for it, the same in every output.
    pub const fn word(&self) -> &'static str {
        match self {
            Self::Working { .. } => "working",
            Self::FannedOut { .. } => "fanned-out",
            Self::Gated { .. } => "gated",
            Self::Stopped { .. } => "stopped",
            Self::Paused { .. } => "paused",
            Self::Done { .. } => "done",
            Self::Cancelled { .. } => "cancelled",
        }
    }

    /// Since when it waits for a person at a gate, if it does.
    pub fn gated_since(&self) -> Option<Timestamp> {
        match self {
            Self::Gated { until } => Some(until.saturating_sub(GATE_WAITS).unwrap_or(*until)),
            Self::Working { .. }
            | Self::FannedOut { .. }
            | Self::Stopped { .. }
            | Self::Paused { .. }
            | Self::Done { .. }
            | Self::Cancelled { .. } => None,
        }
    }

    /// Whether it can still come to something.
    pub const fn is_live(&self) -> bool {
        match self {
            Self::Working { .. }
            | Self::FannedOut { .. }
            | Self::Gated { .. }
            | Self::Stopped { .. }
            | Self::Paused { .. } => true,
            Self::Done { .. } | Self::Cancelled { .. } => false,
        }
    }
}

/// A proved phase.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Step {
    /// Which phase.
    pub phase: PhaseName,
    /// The task that it was.
    pub task: TaskId,
    /// What the referee found.
    pub verdict: Verdict,
}

/// The phase at which a run is.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Attempt {
    /// Which phase.
    pub phase: PhaseName,
    /// How often it was tried since it was proved last, with this time.
    pub number: u32,
    /// Why it was not proved the last time.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub refused: Option<Refused>,
    /// The batch into which it was split and whose results are not there yet.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub batch: Option<BatchId>,
}

/// Why an attempt was not accepted.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Refused {
    /// What kind of failure it was.
    #[serde(default = "Cause::unsaid")]
    pub cause: Cause,
    /// Why.
    pub reason: Reason,
    /// What the session left, if that is known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub left: Option<CommitId>,
}

/// What a run has used up.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Used {
    /// Tasks.
    pub tasks: u32,
    /// Tokens.
    pub tokens: u64,
}

/// A run as it is after its events so far.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Run {
    /// Its identity.
    pub id: RunId,
    /// Where it belongs.
    pub project: ProjectId,
    /// What it is.
    #[serde(flatten)]
    pub spec: RunSpec,
    /// When it began.
    pub begun_at: Timestamp,
    /// Where it is.
    pub state: RunState,
    /// What was proved so far, in order.
    pub steps: Vec<Step>,
    /// Where it goes on.
    pub at: Attempt,
    /// How many tasks it has had.
    pub tasks: u32,
    /// How many tokens its sessions used, as far as their agents say.
    #[serde(default)]
    pub spent: u64,
    /// What it had used when a person last told it to try again: its budget counts from there.
    #[serde(default)]
    pub before: Used,
    /// The number of its last event.
    pub version: u64,
}

impl Step {
    /// Whether it is the result of a batch into which the phase was split.
    pub const fn is_join(&self) -> bool {
        self.verdict.batch.is_some()
    }
}

impl Run {
    /// The commit that was proved last.
    pub fn head(&self) -> &CommitId {
        let proved = self.steps.last().map(|it| &it.verdict.commit);
        proved.unwrap_or(&self.spec.base)
    }

    /// The phase at which it is.
    pub fn phase(&self) -> &Phase {
        let phase = self.spec.workflow.phase(&self.at.phase);
        phase.unwrap_or_else(|| self.spec.workflow.first())
    }

    /// The last proof of a phase; what a batch made of it does not count as one.
    pub fn last(&self, phase: &PhaseName) -> Option<&Step> {
        let mut steps = self.steps.iter().rev().filter(|it| !it.is_join());
        steps.find(|it| it.phase == *phase)
    }

    /// What was proved in the cycle at which it is, newest first: with the plan that began it, and nothing before.
    fn since_plan(&self) -> impl Iterator<Item = &Step> {
        let is_plan = |step: &Step| {
            let phase = self.spec.workflow.phase(&step.phase);
            phase.is_some_and(|it| it.proof == Proof::Plan)
        };
        let begun = self.steps.iter().rposition(is_plan).unwrap_or(0);
        self.steps[begun..].iter().rev()
    }

    /// What was found when the test of this cycle was written.
    pub fn cycle_test(&self) -> Option<&Verdict> {
        let mut found = self.since_plan().map(|it| &it.verdict);
        found.find(|it| it.test.is_some())
    }

    /// What its plan came to; nothing where none is made.
    pub fn cycle_plan(&self) -> Option<&Verdict> {
        let oldest = self.since_plan().last()?;
        let phase = self.spec.workflow.phase(&oldest.phase)?;
        (phase.proof == Proof::Plan).then_some(&oldest.verdict)
    }

    /// How many proofs there are without the phase that was proved last: with it goes what its batch made.
    pub(super) fn steps_before_last(&self) -> usize {
        let joins = self.steps.last().is_some_and(Step::is_join);
        self.steps.len().saturating_sub(1 + usize::from(joins))
    }

    /// The proofs that count without anything of this store: a phase whose batch is still open is to be done again.
    pub fn settled_steps(&self) -> &[Step] {
        let open = usize::from(self.at.batch.is_some());
        &self.steps[..self.steps.len() - open.min(self.steps.len())]
    }

    /// The task with this number, whoever asks: a repeat finds the same one.
    pub fn task_id(id: RunId, number: u32) -> TaskId {
        TaskId::from_uuid(derived(&format!("{id}/{number}")))
    }

    /// What the session of a phase is asked to do, as a task.
    pub fn task_spec(&self, phase: &Phase, number: u32) -> TaskSpec {
        TaskSpec {
            part: Some(Part::Phase { run: self.id }),
            agent: phase.agent.clone().or_else(|| self.spec.agent.clone()),
            limit: phase.limit,
            ..TaskSpec::new(
                self.spec.name.task(number, &phase.name),
                phase.prompt.clone(),
            )
        }
    }
}
