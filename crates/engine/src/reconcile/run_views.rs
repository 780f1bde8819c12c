//! A run that was killed between its end and what git shows of it.

use handoff_core::RunId;
use handoff_files::Dir;
use handoff_store::{StoreError, read, runs};

use crate::error::EngineError;
use crate::phase;
use crate::workshop::Workshop;

/// Shows runs in git that are over and were not shown to their end, and says how many. Each has a place of its referee, which goes
/// when all is shown: what is there is all there is to be done.
pub fn run_views(workshop: &mut Workshop<'_>) -> Result<usize, EngineError> {
    let names = match Dir::open(&phase::referees(workshop)) {
        Ok(dir) => dir.names()?,
        Err(error) if error.is_not_found() => return Ok(0),
        Err(error) => return Err(error.into()),
    };
    let mut shown = 0;
    for id in names.iter().filter_map(|it| it.to_str()?.parse().ok()) {
        shown += usize::from(show(workshop, id)?);
    }
    Ok(shown)
}

fn show(workshop: &mut Workshop<'_>, id: RunId) -> Result<bool, EngineError> {
    let run = match read(workshop.store, |tx| runs::get(tx, id)) {
        Ok(run) => run,
        // Of another ledger that shares the place.
        Err(StoreError::NotFound { .. }) => return Ok(false),
        Err(error) => return Err(error.into()),
    };
    let is_ours = run.project == workshop.project && !run.state.is_live();
    if is_ours {
        phase::show_in_git(workshop, &run)?;
    }
    Ok(is_ours)
}
