//! Looking at a task.

use handoff_api::TaskDocument;
use handoff_core::task::Phase;
use handoff_core::{Action, Envelope, StreamId, Task, TaskName};
use handoff_store::{StoreError, events, read, tasks};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::failure::Failure;
use crate::operation::{Effect, Forwarded, Needs, Operation, Takes, permit};
use crate::project::Project;
use crate::workplace::Workplace;

/// Show one task with everything that is known about it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct SeeTask {
    /// Its name or id.
    pub task: String,
}

impl Operation for SeeTask {
    type Response = TaskDocument;

    const NAME: &'static str = "see_task";
    const EFFECT: Effect = Effect::Reads;
    const NEEDS: Needs = Needs::Action(Action::Read);
    const TAKES: Takes = Takes::Moment;
    const FORWARDED: Forwarded = Forwarded::FromSandbox;

    fn perform(self, here: &Workplace) -> Result<TaskDocument, Failure> {
        let (mut project, task) = self.find(here)?;
        let now = project.now()?.moment;
        Ok(project.document(&task, &now))
    }
}

/// A task with what a person reads beside it.
#[derive(Debug)]
pub struct TaskView {
    /// The task.
    pub document: TaskDocument,
    /// The tasks it waits for, by name and with their state: one that failed will be waited for until somebody retries it.
    pub waits_for: Vec<(TaskName, Phase)>,
    /// What happened to it, the oldest first.
    pub history: Vec<Envelope>,
}

impl SeeTask {
    /// The same with what is around it.
    pub fn look(self, here: &Workplace) -> Result<TaskView, Failure> {
        permit::<Self>(here)?;
        let (mut project, task) = self.find(here)?;
        let now = project.now()?.moment;
        let stream = StreamId::Task(task.id);
        let mut waits_for = vec![];
        for dependency in &task.pending {
            let other = read(&mut *project.store, |tx| tasks::get(tx, dependency.task))?;
            let state = project.document(&other, &now).state;
            waits_for.push((other.spec.name, state));
        }
        Ok(TaskView {
            document: project.document(&task, &now),
            waits_for,
            history: read(&mut *project.store, |tx| {
                events::history(tx, stream, u64::MAX)
            })?,
        })
    }

    /// A repository that is no project yet stays as it is, and has no task.
    fn find(&self, here: &Workplace) -> Result<(Project, Task), Failure> {
        let mut project = Project::peek(here)?.ok_or_else(|| StoreError::NotFound {
            what: format!("task {:?} in this project", self.task),
        })?;
        let task = project.task(&self.task)?;
        Ok((project, task))
    }
}
