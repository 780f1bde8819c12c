//! Runs of workflows: listing them, looking at one.

use handoff_api::{RunBatchDocument, RunDocument, RunsDocument};
use handoff_core::Action;
use handoff_core::run::{Run, RunState};
use handoff_store::{StoreError, batches, read, runs, tasks};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::failure::Failure;
use crate::operation::{Effect, Needs, Operation, Takes};
use crate::project::Project;
use crate::workplace::Workplace;

/// So many of the newest are listed.
const LISTED: u32 = 50;

/// List the runs of workflows in a project, newest first.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ListRuns {}

/// Show a run: what was proved, where it stands, and what it waits for.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct SeeRun {
    /// Its name or id.
    pub run: String,
}

impl Operation for ListRuns {
    type Response = RunsDocument;

    const NAME: &'static str = "list_runs";
    const EFFECT: Effect = Effect::Reads;
    const NEEDS: Needs = Needs::Action(Action::Read);
    const TAKES: Takes = Takes::Moment;

    fn perform(self, here: &Workplace) -> Result<RunsDocument, Failure> {
        let found = match Project::peek(here)? {
            Some(mut project) => {
                let id = project.id;
                read(&mut *project.store, |tx| runs::page(tx, id, None, LISTED))?
            }
            None => vec![],
        };
        Ok(RunsDocument {
            runs: found.iter().map(RunDocument::of).collect(),
        })
    }
}

impl Operation for SeeRun {
    type Response = RunDocument;

    const NAME: &'static str = "see_run";
    const EFFECT: Effect = Effect::Reads;
    const NEEDS: Needs = Needs::Action(Action::Read);
    const TAKES: Takes = Takes::Moment;

    fn perform(self, here: &Workplace) -> Result<RunDocument, Failure> {
        let mut project = Project::peek(here)?.ok_or_else(|| StoreError::NotFound {
            what: format!("run {:?} in this project", self.run),
        })?;
        let run = project.run(&self.run)?;
        document(&run, here)
    }
}

/// A run with the batch that it waits for, or about whose results a person is asked.
pub fn document(run: &Run, here: &Workplace) -> Result<RunDocument, Failure> {
    let is_asked = matches!(run.state, RunState::Gated { .. });
    let last = run.steps.last().filter(|_| is_asked);
    let batch = run.at.batch.or_else(|| last?.verdict.batch);
    let batch = match batch {
        None => None,
        Some(batch) => {
            let mut project = Project::open(here)?;
            Some(read(&mut *project.store, |tx| {
                let tasks = tasks::of_batch(tx, batch)?;
                Ok(RunBatchDocument::of(&batches::get(tx, batch)?, &tasks))
            })?)
        }
    };
    Ok(RunDocument {
        batch,
        ..RunDocument::of(run)
    })
}
