//! The batch into which a phase of a run was split: opened when the phase is proved, held and called off with the run, and heard of
//! when its results are there; each in the transaction of what it follows from.

use handoff_core::batch::{BatchCommand, BatchState, Manifest};
use handoff_core::hold::{HoldScope, HoldWish};
use handoff_core::run::{Cause, Run, RunEvent, RunState};
use handoff_core::task::{Ending, Reason};
use handoff_core::{Batch, BatchId, Caller};

use super::batch::{self, Wanted};
use super::{hold, run};
use crate::error::StoreError;
use crate::holds;
use crate::store::Transaction;
use crate::{batches, runs, tasks};

/// Why nothing of a batch is handed out whose run is paused.
const PAUSED: &str = "its run is paused";

/// The batch with its tasks, locked for a change: tasks first, as whoever ends one has it.
pub(super) fn lock(tx: &mut Transaction<'_>, id: BatchId) -> Result<Batch, StoreError> {
    batch::lock_tasks(tx, id)?;
    batches::lock(tx, id)
}

/// The event, or what happens instead because the batch that it asks for cannot be opened.
pub(super) fn possible(
    tx: &mut Transaction<'_>,
    run: &Run,
    event: RunEvent,
) -> Result<RunEvent, StoreError> {
    let RunEvent::FannedOut { batch, .. } = &event else {
        return Ok(event);
    };
    if known(tx, *batch)?.is_some() {
        return Ok(event);
    }
    let manifest = match wanted(run) {
        Ok(manifest) => manifest,
        Err(instead) => return Ok(*instead),
    };
    let opening = run.batch_opening(*batch, &manifest);
    let wanted = Wanted {
        project: run.project,
        manifest: &manifest,
        opening: &opening,
    };
    Ok(match batch::name_taken(tx, &wanted)? {
        Some(taken) => {
            let why = format!("its batch cannot be opened: {taken}");
            Run::unopened(Cause::NameTaken, &why)
        }
        None => event,
    })
}

/// What its phase described, or why there is nothing to open.
fn wanted(run: &Run) -> Result<Manifest, Box<RunEvent>> {
    let instead = |why: &str| Box::new(Run::unopened(Cause::InvalidResult, why));
    let manifest = run.batch_manifest();
    let manifest = manifest.ok_or_else(|| instead("its phase described no batch"))?;
    manifest.map_err(|error| instead(&format!("its batch cannot be read: {error}")))
}

fn known(tx: &mut Transaction<'_>, id: BatchId) -> Result<Option<Batch>, StoreError> {
    match batches::get(tx, id) {
        Ok(batch) => Ok(Some(batch)),
        Err(StoreError::NotFound { .. }) => Ok(None),
        Err(error) => Err(error),
    }
}

/// Opens the batch that a run waits for, unless it is open.
pub(super) fn open(tx: &mut Transaction<'_>, run: &Run, by: &Caller) -> Result<(), StoreError> {
    let RunState::FannedOut { batch } = run.state else {
        return Ok(());
    };
    if known(tx, batch)?.is_some() {
        return Ok(());
    }
    let Ok(manifest) = wanted(run) else {
        // It was looked at before the run was said to wait for it.
        let what = format!("{} waits for a batch that is described nowhere", run.id);
        return Err(StoreError::Inconsistent(what));
    };
    let opening = run.batch_opening(batch, &manifest);
    let wanted = Wanted {
        project: run.project,
        manifest: &manifest,
        opening: &opening,
    };
    batch::publish(tx, &wanted, by, None).map(drop)
}

/// What a run was told means something for the batch that it had.
pub(super) fn keep_up(
    tx: &mut Transaction<'_>,
    run: &Run,
    batch: BatchId,
    by: &Caller,
) -> Result<(), StoreError> {
    let scope = HoldScope::Batch(batch);
    let now = batches::get(tx, batch)?;
    let is_wanted = run.at.batch == Some(batch) && run.state.is_live();
    if !is_wanted {
        release(tx, scope, by)?;
        if now.state.is_live() {
            let reason: Option<Reason> = "its run does not wait for it any more".parse().ok();
            batch::command_batch(tx, batch, &BatchCommand::Cancel { reason }, by, None)?;
        }
        return Ok(());
    }
    match run.state {
        RunState::Paused { .. } => {
            let reason: Option<Reason> = PAUSED.parse().ok();
            hold(tx, scope, &HoldWish::Hold(reason.as_ref()), by, None).map(drop)
        }
        RunState::FannedOut { .. } => {
            release(tx, scope, by)?;
            go_on(tx, &now, by)
        }
        RunState::Working { .. }
        | RunState::Gated { .. }
        | RunState::Stopped { .. }
        | RunState::Done { .. }
        | RunState::Cancelled { .. } => Ok(()),
    }
}

/// What ended without success is opened again; what ended meanwhile is heard of.
fn go_on(tx: &mut Transaction<'_>, now: &Batch, by: &Caller) -> Result<(), StoreError> {
    match &now.state {
        BatchState::Open | BatchState::FanIn { .. } => Ok(()),
        BatchState::Ended {
            ending: Ending::Done,
            ..
        } => tell_run(tx, now, by),
        BatchState::Ended { .. } | BatchState::Cancelled { .. } => {
            let retry = BatchCommand::Retry { parts: vec![] };
            batch::command_batch(tx, now.id, &retry, by, None).map(drop)
        }
    }
}

/// Hands its tasks out again, unless somebody else holds them.
fn release(tx: &mut Transaction<'_>, scope: HoldScope, by: &Caller) -> Result<(), StoreError> {
    let held = holds::load(tx, scope)?.hold;
    let reason = held.as_ref().and_then(|it| it.reason.as_ref());
    if reason.is_some_and(|it| it.as_str() == PAUSED) {
        hold(tx, scope, &HoldWish::Unhold, by, None)?;
    }
    Ok(())
}

/// Lets the run that waits for a batch hear where it is.
pub(super) fn tell_run(
    tx: &mut Transaction<'_>,
    batch: &Batch,
    by: &Caller,
) -> Result<(), StoreError> {
    let Some(run) = batch.spec.run else {
        return Ok(());
    };
    let mut waiting = runs::lock(tx, run)?;
    let tasks = tasks::of_batch(tx, batch.id)?;
    let events = waiting.hear(batch, &tasks, tx.now.wall);
    run::change(tx, &mut waiting, events, by, None)
}
