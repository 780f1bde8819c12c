//! Listing batches.

use handoff_api::{BatchRow, BatchesDocument};
use handoff_core::task::Ending;
use handoff_core::{Action, Batch};
use handoff_store::{StoreError, Transaction, batches, read, tasks};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::failure::Failure;
use crate::operation::{Effect, Needs, Operation, Takes};
use crate::project::Project;
use crate::workplace::Workplace;

/// The most that is listed at once.
const MOST: u32 = 1000;

/// List the batches of a project, newest first.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ListBatches {
    /// How many at most, from 1 to 1000.
    #[serde(default = "usual")]
    pub limit: u32,
}

const fn usual() -> u32 {
    20
}

impl Operation for ListBatches {
    type Response = BatchesDocument;

    const NAME: &'static str = "list_batches";
    const EFFECT: Effect = Effect::Reads;
    const NEEDS: Needs = Needs::Action(Action::Read);
    const TAKES: Takes = Takes::Moment;

    fn perform(self, here: &Workplace) -> Result<BatchesDocument, Failure> {
        if !(1..=MOST).contains(&self.limit) {
            return Err(Failure::usage(format!("`limit` is from 1 to {MOST}")));
        }
        match Project::peek(here)? {
            Some(mut project) => page(&mut project, self.limit),
            None => Ok(BatchesDocument {
                batches: vec![],
                has_more: false,
            }),
        }
    }
}

fn page(project: &mut Project, limit: u32) -> Result<BatchesDocument, Failure> {
    let id = project.id;
    Ok(read(&mut *project.store, |tx| {
        let mut found = batches::page(tx, id, None, limit + 1)?;
        let has_more = found.len() > limit as usize;
        found.truncate(limit as usize);
        let rows = found.iter().map(|batch| row(tx, batch));
        Ok(BatchesDocument {
            batches: rows.collect::<Result<_, StoreError>>()?,
            has_more,
        })
    })?)
}

/// A batch with how far its parts are.
pub fn row(tx: &mut Transaction<'_>, batch: &Batch) -> Result<BatchRow, StoreError> {
    let tasks = tasks::of_batch(tx, batch.id)?;
    let parts = tasks.iter().filter(|it| it.id != batch.spec.fan_in);
    let endings: Vec<_> = parts.filter_map(|it| it.state.ending()).collect();
    let done = endings.iter().filter(|it| **it == Ending::Done).count();
    Ok(BatchRow {
        id: batch.id.to_string(),
        name: batch.spec.name.to_string(),
        state: batch.state.word(),
        parts: batch.spec.parts.len(),
        done,
        trouble: endings.len() - done,
        opened_at: batch.opened_at,
    })
}
