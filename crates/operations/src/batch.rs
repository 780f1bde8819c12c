//! Batches as they are listed.

use handoff_api::BatchRow;
use handoff_core::Batch;
use handoff_core::task::Ending;
use handoff_store::{StoreError, Transaction, tasks};

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
