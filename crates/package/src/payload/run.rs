//! What a run of a workflow leaves that was paused: all that another store needs to go on with it.

use handoff_core::run::{AdoptedRun, Run, RunSpec, Step, Verdict};
use handoff_core::task::Brief;
use handoff_core::{AgentName, CommitId, FeatureName, JsonText, PhaseName, RunId, RunName, TaskId};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A run as it stood when it was paused.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct PausedRun {
    /// Which.
    pub id: RunId,
    /// What people call it.
    pub name: RunName,
    /// What is wanted.
    pub goal: Brief,
    /// The workflow as it was when the run began: JSON, as text.
    pub workflow: JsonText,
    /// The feature that it is for.
    pub feature: Option<FeatureName>,
    /// The agent of phases that name none.
    pub agent: Option<AgentName>,
    /// The commit that it began with.
    pub base: CommitId,
    /// Whether a person sits at its sessions and agrees to each phase.
    #[serde(default)]
    pub is_interactive: bool,
    /// What was proved, in order.
    pub proved: Vec<ProvedPhase>,
    /// The phase that it goes on with.
    pub next: PhaseName,
    /// The list of tests, as it is in the last commit that was proved.
    pub test_list: Option<Brief>,
}

/// A phase that was proved.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct ProvedPhase {
    /// Which.
    pub phase: PhaseName,
    /// The task that it was, where it was worked on.
    pub task: TaskId,
    /// What the referee found.
    pub verdict: Verdict,
}

impl PausedRun {
    /// What a run leaves. None if its workflow is too long to be carried.
    #[must_use]
    pub fn of(run: &Run, test_list: Option<Brief>) -> Option<Self> {
        let workflow = serde_json::to_string(&run.spec.workflow).ok()?;
        let proved = run.settled_steps().iter().map(|step| ProvedPhase {
            phase: step.phase.clone(),
            task: step.task,
            verdict: step.verdict.clone(),
        });
        Some(Self {
            id: run.id,
            name: run.spec.name.clone(),
            goal: run.spec.goal.clone(),
            workflow: JsonText::parse(&workflow).ok()?,
            feature: run.spec.feature.clone(),
            agent: run.spec.agent.clone(),
            base: run.spec.base.clone(),
            is_interactive: run.spec.is_interactive,
            proved: proved.collect(),
            next: run.at.phase.clone(),
            test_list,
        })
    }

    /// The commit that was proved last.
    #[must_use]
    pub fn head(&self) -> &CommitId {
        let proved = self.proved.last().map(|it| &it.verdict.commit);
        proved.unwrap_or(&self.base)
    }

    /// The run for a store that does not know it.
    pub fn adopted(&self) -> Result<AdoptedRun, serde_json::Error> {
        let steps = self.proved.iter().map(|proved| Step {
            phase: proved.phase.clone(),
            task: proved.task,
            verdict: proved.verdict.clone(),
        });
        Ok(AdoptedRun {
            spec: RunSpec {
                name: self.name.clone(),
                workflow: serde_json::from_str(self.workflow.as_str())?,
                goal: self.goal.clone(),
                feature: self.feature.clone(),
                agent: self.agent.clone(),
                base: self.base.clone(),
                is_interactive: self.is_interactive,
            },
            steps: steps.collect(),
            next: self.next.clone(),
        })
    }
}
