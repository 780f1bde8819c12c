//! What goes to another store with its package: the task that was paused with it, or the batch with all that was paused in it.
//!
//! Ownership moves in one transaction. What is there now is called off here, and can be retried if it never arrives; what is not
//! paused with this very package any more stays. What has come to its end meanwhile is not called off: the package goes all the same.

use handoff_core::batch::BatchCommand;
use handoff_core::hold::{HoldScope, HoldWish};
use handoff_core::package::{PackageKind, Recipient};
use handoff_core::run::{Run, RunCommand, RunState};
use handoff_core::task::{Command, Part, Reason};
use handoff_core::{BatchId, Caller, Hold, PackageId, PackageRecord, RunId, Task, TaskId};

use super::{batch, command_task, hold, package, run};
use crate::error::StoreError;
use crate::store::Transaction;
use crate::{batches, holds, packages, runs, tasks};

/// Lets go of what was paused with a package that was given to another store.
pub(super) fn of(
    tx: &mut Transaction<'_>,
    id: PackageId,
    to: &Recipient,
    by: &Caller,
) -> Result<(), StoreError> {
    let Some(task) = packages::get(tx, id)?.label.task else {
        return Ok(());
    };
    let task = match tasks::get(tx, task) {
        // It belongs to a task of the store that it came from.
        Err(StoreError::NotFound { .. }) => return Ok(()),
        found => found?,
    };
    if let Some(run) = task.spec.part.and_then(Part::run) {
        return paused_run(tx, run, &task, id, to, by);
    }
    let held = match task.spec.part {
        Some(Part::FanIn { batch }) if batches::get(tx, batch)?.spec.run.is_none() => {
            holds::load(tx, HoldScope::Batch(batch))?.hold
        }
        None => task.hold.clone(),
        // Its results are awaited here: it stays held until somebody says what came of it.
        Some(Part::SubTask { .. } | Part::FanIn { .. } | Part::Phase { .. }) => None,
    };
    if !is_held_for(tx, held, task.id, id)? {
        return Ok(());
    }
    match task.spec.part.and_then(Part::batch) {
        Some(batch) => whole_batch(tx, batch, id, to, by),
        None => alone(tx, &task, id, to, by),
    }
}

/// Whether this package is what something is paused with. Where a person had held it before, the last one counts.
fn is_held_for(
    tx: &mut Transaction<'_>,
    held: Option<Hold>,
    task: TaskId,
    id: PackageId,
) -> Result<bool, StoreError> {
    let Some(held) = held else {
        return Ok(false);
    };
    let newest = || -> Result<_, StoreError> {
        let left = packages::of_task(tx, task)?;
        Ok(left.into_iter().rfind(is_pause).map(|it| it.label.id))
    };
    let pause = held.pause.map_or_else(newest, |pause| Ok(Some(pause)))?;
    Ok(pause == Some(id))
}

fn is_pause(package: &PackageRecord) -> bool {
    matches!(
        package.label.kind,
        PackageKind::Pause | PackageKind::Transfer
    )
}

/// A run that is paused with this package is called off: it goes on where the package is received. What comes back from there is
/// another run.
fn paused_run(
    tx: &mut Transaction<'_>,
    run: RunId,
    task: &Task,
    package: PackageId,
    to: &Recipient,
    by: &Caller,
) -> Result<(), StoreError> {
    let left = packages::of_task(tx, task.id)?;
    let newest = left.into_iter().rfind(is_pause).map(|it| it.label.id);
    let found = runs::lock(tx, run)?;
    let is_paused = matches!(found.state, RunState::Paused { .. });
    let is_last = Run::task_id(found.id, found.tasks) == task.id;
    if !is_paused || !is_last || newest != Some(package) {
        return Ok(());
    }
    let reason = reason(package, to);
    run::command_run(tx, found, &RunCommand::Cancel { reason }, by)
}

fn alone(
    tx: &mut Transaction<'_>,
    task: &Task,
    package: PackageId,
    to: &Recipient,
    by: &Caller,
) -> Result<(), StoreError> {
    let mut task = tasks::lock(tx, task.id)?;
    let reason = reason(package, to);
    command_task(tx, &mut task, &Command::Unpause { package }, by, None)?;
    if task.state.ending().is_some() {
        return Ok(());
    }
    command_task(tx, &mut task, &Command::Cancel { reason }, by, None).map(drop)
}

fn whole_batch(
    tx: &mut Transaction<'_>,
    id: BatchId,
    package: PackageId,
    to: &Recipient,
    by: &Caller,
) -> Result<(), StoreError> {
    for mut member in batch::lock_tasks(tx, id)? {
        let left = packages::of_task(tx, member.id)?;
        for paused in left.into_iter().filter(is_pause) {
            let package = paused.label.id;
            package::give_away(tx, package, to, by)?;
            command_task(tx, &mut member, &Command::Unpause { package }, by, None)?;
        }
    }
    if batches::get(tx, id)?.state.is_live() {
        let reason = reason(package, to);
        batch::command_batch(tx, id, &BatchCommand::Cancel { reason }, by, None)?;
    }
    let scope = HoldScope::Batch(id);
    hold(tx, scope, &HoldWish::Unpause(package), by, None).map(drop)
}

fn reason(package: PackageId, to: &Recipient) -> Option<Reason> {
    format!("handed to {to} with {package}").parse().ok()
}
