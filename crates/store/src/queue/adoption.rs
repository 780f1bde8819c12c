//! Taking over what was begun in another store: a task, or a batch with all its tasks, as it stood when it was paused there.

use handoff_core::batch::Batch;
use handoff_core::caller::Action;
use handoff_core::hold::{HoldScope, HoldWish};
use handoff_core::task::TaskSpec;
use handoff_core::{Caller, Task};

use super::change::{ArrivingBatch, ArrivingTask};
use super::{Answer, Performed, batch, hold, record};
use crate::error::StoreError;
use crate::events::Keyed;
use crate::store::Transaction;
use crate::{batches, tasks};

/// Takes a task over. Its hold is what says that it waits for its package to be received.
pub(super) fn task(
    tx: &mut Transaction<'_>,
    arriving: &ArrivingTask,
    by: &Caller,
    keyed: &Keyed<'_>,
) -> Result<Performed, StoreError> {
    // What was proved elsewhere is believed, and it goes on: that is more than a new task.
    by.may(Action::Steer)?;
    let (adopted, now) = (&arriving.task, tx.now.wall);
    stands_alone(&adopted.spec)?;
    let begun = Task::begin(
        arriving.id,
        arriving.project,
        adopted.spec.taken_over(),
        now,
    );
    let mut task = record::publish(tx, begun, by, None)?;
    let past = adopted.past(&task, by, now);
    let is_recorded = record::change(tx, &mut task, past, by, Some(keyed))?;
    Ok(Performed {
        answer: Answer::Task(Box::new(task)),
        is_recorded,
    })
}

/// Refuses a task that names others: they are of the store that it comes from, and whatever has their ids here is not meant.
fn stands_alone(spec: &TaskSpec) -> Result<(), StoreError> {
    if spec.part.is_none() && spec.after.is_empty() {
        return Ok(());
    }
    let what = format!(
        "task here that `{}` could wait for or be a part of",
        spec.name
    );
    Err(StoreError::NotFound { what })
}

/// Takes a batch over: all of it, or nothing.
pub(super) fn batch(
    tx: &mut Transaction<'_>,
    arriving: &ArrivingBatch,
    by: &Caller,
    keyed: &Keyed<'_>,
) -> Result<Performed, StoreError> {
    by.may(Action::Steer)?;
    let (id, package) = (arriving.id, arriving.package);
    let adopted = arriving.batch.under(id, package);
    let begun = Batch::begin(id, arriving.project, adopted.spec, tx.now.wall);
    let specs = adopted.tasks.iter();
    let specs = specs.map(|it| (it.id, it.task.spec.taken_over())).collect();
    batch::insert(tx, &begun, specs, by, Some(keyed))?;
    let scope = HoldScope::Batch(id);
    hold(tx, scope, &HoldWish::paused(package), by, None)?;
    for member in &adopted.tasks {
        let mut task = tasks::lock(tx, member.id)?;
        let past = member.task.past(&task, by, tx.now.wall);
        record::change(tx, &mut task, past, by, None)?;
    }
    batches::get(tx, id).map(batch::performed)
}

/// Whose name is in the way of a batch that arrives.
pub(super) fn names_taken(
    tx: &mut Transaction<'_>,
    arriving: &ArrivingBatch,
) -> Result<Option<StoreError>, StoreError> {
    let (project, batch) = (arriving.project, &arriving.batch);
    let tasks = batch.tasks.iter().map(|it| &it.task.spec.name);
    batch::names_taken(tx, project, &batch.spec.name, tasks)
}
