//! Workflows and their runs as JSON.

use handoff_core::batch::BatchPart;
use handoff_core::run::{Run, RunState, Weaker};
use handoff_core::task::Ending;
use handoff_core::{Batch, Task, Timestamp, Workflow};
use schemars::JsonSchema;
use serde::Serialize;

/// A workflow in a list.
#[derive(Debug, Serialize, JsonSchema)]
pub struct WorkflowRow {
    /// What it is called.
    pub name: String,
    /// `built-in`, or the file it is in.
    pub origin: String,
    /// Its phases, in order.
    pub phases: Vec<String>,
    /// What it is good for.
    pub description: String,
}

/// The workflows that can be run here.
#[derive(Debug, Serialize, JsonSchema)]
pub struct WorkflowsDocument {
    /// By name.
    pub workflows: Vec<WorkflowRow>,
}

impl WorkflowsDocument {
    /// Its schema.
    pub const SCHEMA: &str = "handoff.workflows/1";
}

/// What a phase gets and what it hands over, as JSON Schema.
#[derive(Debug, Serialize, JsonSchema)]
pub struct ContractDocument {
    /// Which.
    pub phase: String,
    /// What its session is told.
    pub takes: serde_json::Value,
    /// What it hands over; none if nothing is asked for.
    pub gives: Option<serde_json::Value>,
}

/// The contracts of a workflow.
#[derive(Debug, Serialize, JsonSchema)]
pub struct ContractsDocument {
    /// Which workflow.
    pub workflow: String,
    /// Those of its phases, in order.
    pub phases: Vec<ContractDocument>,
}

impl ContractsDocument {
    /// Its schema.
    pub const SCHEMA: &str = "handoff.workflow-contracts/1";

    /// What the phases of a workflow take and give.
    pub fn of(workflow: &Workflow) -> Self {
        let phases = workflow.phases.iter().map(|phase| {
            let contract = workflow.contract(phase);
            ContractDocument {
                phase: phase.name.to_string(),
                takes: contract.takes,
                gives: contract.gives,
            }
        });
        Self {
            workflow: workflow.name.to_string(),
            phases: phases.collect(),
        }
    }
}

/// A workflow, whole.
#[derive(Debug, Serialize)]
pub struct WorkflowDocument {
    /// `built-in`, or the file it is in.
    pub origin: String,
    /// Whether its commands may run.
    pub is_trusted: bool,
    /// What it is.
    #[serde(flatten)]
    pub workflow: Workflow,
}

impl WorkflowDocument {
    /// Its schema.
    pub const SCHEMA: &str = "handoff.workflow/1";
}

/// A mistake in a definition.
#[derive(Debug, Serialize, JsonSchema)]
pub struct FlawDocument {
    /// Where, counted from one.
    pub line: usize,
    /// The phase it concerns.
    pub phase: Option<String>,
    /// What is wrong.
    pub message: String,
}

/// What a check of a definition found.
#[derive(Debug, Serialize, JsonSchema)]
pub struct WorkflowCheckDocument {
    /// Which.
    pub name: String,
    /// Everything that is wrong with it.
    pub problems: Vec<FlawDocument>,
}

impl WorkflowCheckDocument {
    /// Its schema.
    pub const SCHEMA: &str = "handoff.workflow-check/1";
}

/// A proved phase.
#[derive(Debug, Serialize, JsonSchema)]
pub struct RunStepDocument {
    /// Which.
    pub phase: String,
    /// What it came to.
    pub outcome: String,
    /// The commit that was proved.
    pub commit: String,
    /// The line of the test list that it was about.
    pub item: Option<String>,
    /// The test that it was about.
    pub test: Option<String>,
    /// How many tests passed, failed and were skipped.
    pub tests: Option<(u64, u64, u64)>,
    /// The batch whose results these are, where the phase was split into one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub batch: Option<String>,
    /// Why the proof is a weaker one, if it is: `inline tests`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub weaker: Option<&'static str>,
}

/// The batch into which a phase was split.
#[derive(Debug, Serialize, JsonSchema)]
pub struct RunBatchDocument {
    /// Its identity.
    pub id: String,
    /// What people call it.
    pub name: String,
    /// `open`, `fan-in`, `done`, `failed`, `blocked` or `cancelled`.
    pub state: &'static str,
    /// How many parts it has.
    pub parts: usize,
    /// How many of them have ended.
    pub ended: usize,
    /// Those that ended without success.
    pub missing: Vec<String>,
}

impl RunBatchDocument {
    /// As it is now; `tasks` are those of the batch.
    pub fn of(batch: &Batch, tasks: &[Task]) -> Self {
        let ending = |part: &BatchPart| {
            let task = tasks.iter().find(|it| it.id == part.task);
            task.and_then(|it| it.state.ending())
        };
        let parts = &batch.spec.parts;
        let is_missing = |part: &&BatchPart| ending(part).is_some_and(|it| it != Ending::Done);
        Self {
            id: batch.id.to_string(),
            name: batch.spec.name.to_string(),
            state: batch.state.word(),
            parts: parts.len(),
            ended: parts.iter().filter(|it| ending(it).is_some()).count(),
            missing: { parts.iter().filter(is_missing) }
                .map(|it| it.name.to_string())
                .collect(),
        }
    }
}

/// A run of a workflow.
#[derive(Debug, Serialize, JsonSchema)]
pub struct RunDocument {
    /// Its identity.
    pub id: String,
    /// What people call it.
    pub name: String,
    /// Which workflow.
    pub workflow: String,
    /// `working`, `fanned-out`, `gated`, `stopped`, `paused`, `done` or `cancelled`.
    pub state: &'static str,
    /// Why it stopped, or was called off.
    pub reason: Option<String>,
    /// What kind of failure it stopped for.
    pub cause: Option<&'static str>,
    /// The task that its phase is, while it is at work.
    pub task: Option<String>,
    /// The phase at which it is.
    pub phase: String,
    /// How often that was tried.
    pub attempt: u32,
    /// Why the last attempt was refused.
    pub refused: Option<String>,
    /// What is wanted.
    pub goal: String,
    /// The branch on which its work is.
    pub branch: String,
    /// The commit it began with.
    pub base: String,
    /// The commit that was proved last.
    pub head: String,
    /// When it began.
    pub begun_at: Timestamp,
    /// Until when its gate waits.
    pub gate_until: Option<Timestamp>,
    /// What a person is asked at its gate.
    pub ask: Option<String>,
    /// How many tokens its sessions used, as far as their agents say.
    pub tokens: u64,
    /// The batch that it waits for, or about whose results a person is asked; not in lists.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub batch: Option<RunBatchDocument>,
    /// What was proved so far.
    pub steps: Vec<RunStepDocument>,
    /// The package that it was paused with, in the answer to that.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub package: Option<String>,
}

impl RunDocument {
    /// Its schema.
    pub const SCHEMA: &str = "handoff.run/1";

    /// As it is now.
    pub fn of(run: &Run) -> Self {
        let steps = run.steps.iter().map(|step| RunStepDocument {
            phase: step.phase.to_string(),
            outcome: step.verdict.outcome.to_string(),
            commit: step.verdict.commit.to_string(),
            item: step.verdict.item.clone(),
            test: step.verdict.test.as_ref().map(ToString::to_string),
            tests: step.verdict.tests,
            batch: step.verdict.batch.map(|it| it.to_string()),
            weaker: step.verdict.weaker.map(Weaker::word),
        });
        let (mut reason, mut cause, mut task, mut gate_until) = (None, None, None, None);
        match &run.state {
            RunState::Working { task: it } => task = Some(it.to_string()),
            RunState::Gated { until } => gate_until = Some(*until),
            RunState::Stopped {
                cause: kind,
                reason: why,
                ..
            } => {
                cause = Some(kind.word());
                reason = Some(why.to_string());
            }
            RunState::Cancelled { reason: why, .. } => {
                reason = why.as_ref().map(ToString::to_string);
            }
            RunState::FannedOut { .. } | RunState::Paused { .. } | RunState::Done { .. } => {}
        }
        Self {
            id: run.id.to_string(),
            name: run.spec.name.to_string(),
            workflow: run.spec.workflow.name.to_string(),
            state: run.state.word(),
            reason,
            cause,
            task,
            phase: run.at.phase.to_string(),
            attempt: run.at.number,
            refused: run.at.refused.as_ref().map(|it| it.reason.to_string()),
            goal: run.spec.goal.to_string(),
            branch: format!("handoff/{}", run.spec.name),
            base: run.spec.base.to_string(),
            head: run.head().to_string(),
            begun_at: run.begun_at,
            gate_until,
            ask: asked(run),
            tokens: run.spent,
            batch: None,
            steps: steps.collect(),
            package: None,
        }
    }
}

/// What a person is asked at the gate of a run.
fn asked(run: &Run) -> Option<String> {
    let said = run.phase().ask.as_ref().map(ToString::to_string);
    let altered = run.steps.last().map_or(&[][..], |it| &it.verdict.alters);
    let names: Vec<_> = altered.iter().map(|it| format!("`{it}`")).collect();
    match names.as_slice() {
        [] => said,
        names => Some(format!(
            "Tests that were there before are to ask for something else: {}. Is that wanted?",
            names.join(", ")
        )),
    }
}

/// The runs of a project.
#[derive(Debug, Serialize, JsonSchema)]
pub struct RunsDocument {
    /// Newest first.
    pub runs: Vec<RunDocument>,
}

impl RunsDocument {
    /// Its schema.
    pub const SCHEMA: &str = "handoff.runs/1";
}
