//! Putting a task into the queue.

use handoff_api::Receipt;
use handoff_core::ownership::PathPattern;
use handoff_core::task::{
    Brief, Dependency, Priority, TaskSpec, Until, VerifyCommand, dependencies,
};
use handoff_core::{Action, Confinement, IdempotencyKey, Ownership, TaskId, TaskName};
use handoff_store::queue::{Change, TaskRef};
use handoff_store::{read, tasks};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::change_task;
use crate::failure::Failure;
use crate::operation::{Effect, Forwarded, Needs, Operation, Takes};
use crate::project::Project;
use crate::workplace::Workplace;

/// Put a task into the queue, for whoever takes it: a worker, or an agent that claims it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct AddTask {
    /// What to call it: a-z, 0-9, `.`, `_`, `-`.
    pub name: TaskName,
    /// What is to be done.
    pub brief: Brief,
    /// Higher goes first; zero is ordinary.
    #[serde(default)]
    pub priority: i16,
    /// The paths that it may change: `src/lib.rs`, `src/` or `docs/**/*.md`; none leaves it free.
    #[serde(default)]
    pub own: Vec<String>,
    /// The tasks that must be done first, by name or id.
    #[serde(default)]
    pub after: Vec<String>,
    /// The tasks that must have ended first, however.
    #[serde(default)]
    pub after_end: Vec<String>,
    /// A shell command whose success proves the work.
    #[serde(default)]
    pub check: Option<VerifyCommand>,
    /// How its sessions are held. Only a person takes them out of the sandbox.
    #[serde(default)]
    pub sandbox: Option<Confinement>,
    /// Repeating a request with the same key does nothing new and gives the same answer.
    #[serde(default)]
    pub key: Option<IdempotencyKey>,
}

impl Operation for AddTask {
    type Response = Receipt;

    const NAME: &'static str = "add_task";
    const EFFECT: Effect = Effect::Changes;
    const NEEDS: Needs = Needs::Action(Action::Add);
    const TAKES: Takes = Takes::Moment;
    const FORWARDED: Forwarded = Forwarded::FromSandbox;

    fn perform(self, here: &Workplace) -> Result<Receipt, Failure> {
        let owns = ownership(&self.own)?;
        let mut project = Project::open(here)?;
        let mut after = demands(&mut project, &self.after, Until::Done)?;
        after.extend(demands(&mut project, &self.after_end, Until::Ended)?);
        let spec = TaskSpec {
            priority: Priority::new(self.priority),
            owns,
            verify: self.check,
            sandbox: self.sandbox,
            after: dependencies(after),
            ..TaskSpec::new(self.name, self.brief)
        };
        let id = TaskId::from_uuid(handoff_process::mint());
        let change = Change::Add {
            id,
            project: project.id,
            spec,
        };
        change_task(&mut project, change, self.key)
    }
}

/// What a task owns; nothing named leaves it free.
fn ownership(patterns: &[String]) -> Result<Option<Ownership>, Failure> {
    if patterns.is_empty() {
        return Ok(None);
    }
    let patterns = patterns.iter().map(|text| {
        let parsed = text.parse::<PathPattern>();
        parsed.map_err(|error| Failure::usage(format!("{text:?} cannot be owned")).because(&error))
    });
    let patterns = patterns.collect::<Result<_, _>>()?;
    let owned = Ownership::new(patterns);
    owned
        .map(Some)
        .map_err(|error| Failure::usage("these paths cannot be owned").because(&error))
}

/// The tasks that must have come so far.
pub fn demands(
    project: &mut Project,
    names: &[String],
    until: Until,
) -> Result<Vec<Dependency>, Failure> {
    let mut found = vec![];
    for name in names {
        let task = match project.task_ref(name)? {
            TaskRef::Id(id) => id,
            TaskRef::Named { project: id, name } => {
                read(&mut *project.store, |tx| tasks::named(tx, id, &name))?.id
            }
        };
        found.push(Dependency { task, until });
    }
    Ok(found)
}
