//! A pause whose machine died with it: nobody there can undo it. What it holds has no package after a time that no pause takes, and
//! is handed out again by whoever sees it. Should its maker live after all, the ledger refuses what it seals.

use handoff_core::package::PackageState;
use handoff_core::{Hold, PackageId, ProjectId};
use handoff_store::{Store, StoreError, Transaction, holds, packages, read, tasks};

use super::broken_pauses::undo_pause;
use crate::error::EngineError;
use crate::pausing::{PartPause, PauseNote};

/// Undoes what such pauses hold, and says how much there was.
pub fn stale_pauses(store: &mut dyn Store, project: ProjectId) -> Result<usize, EngineError> {
    let stale = read(store, |tx| found(tx, project))?;
    let mut undone = 0;
    for note in &stale {
        // One that cannot be undone now is there at the next look, and keeps nobody from the others.
        undone += usize::from(undo_pause(note, store, project).is_ok());
    }
    Ok(undone)
}

/// What their makers would have noted.
fn found(tx: &mut Transaction<'_>, project: ProjectId) -> Result<Vec<PauseNote>, StoreError> {
    let mut stale = vec![];
    for task in tasks::held(tx, project)? {
        let Some((package, hold)) = task.hold.and_then(|it| Some((it.pause?, it))) else {
            continue;
        };
        if !is_stale(tx, &hold)? {
            continue;
        }
        let (task, part) = (
            task.id,
            PartPause {
                task: task.id,
                package,
            },
        );
        stale.push(match hold.whole {
            Some(whole) => PauseNote {
                parts: vec![part],
                ..PauseNote::of(whole)
            },
            None => PauseNote {
                tasks: vec![task],
                ..PauseNote::of(package)
            },
        });
    }
    for (batch, hold) in holds::of_batches(tx, project)? {
        if let Some(package) = hold.pause
            && is_stale(tx, &hold)?
        {
            stale.push(PauseNote {
                batch: Some(batch),
                ..PauseNote::of(package)
            });
        }
    }
    Ok(stale)
}

/// Whether a package of the pause was never sealed. One that was withdrawn or deleted since was: what a person did with it says
/// nothing about the hold.
fn is_stale(tx: &mut Transaction<'_>, hold: &Hold) -> Result<bool, StoreError> {
    for package in hold.due(tx.now.wall) {
        match packages::get(tx, package) {
            Err(StoreError::NotFound { .. }) => return Ok(true),
            found => found.map(drop)?,
        }
    }
    Ok(false)
}

pub(super) fn is_sealed(tx: &mut Transaction<'_>, id: PackageId) -> Result<bool, StoreError> {
    match packages::get(tx, id) {
        Ok(package) => Ok(!matches!(package.state, PackageState::Cancelled { .. })),
        Err(StoreError::NotFound { .. }) => Ok(false),
        Err(error) => Err(error),
    }
}
