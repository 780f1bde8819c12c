//! A baton is for whoever is going to do its task. One that is done or called off has none, and one whose task went on since it was
//! written is written again.

use std::path::Path;

use handoff_core::{Task, TaskName, TaskState};
use handoff_files::Dir;
use handoff_store::{StoreError, read, tasks};

use crate::baton;
use crate::error::EngineError;
use crate::workshop::Workshop;

/// Removes the batons of tasks that nobody will do any more, and says how many; others that are out of date are built anew. What the
/// ledger does not know is not ours to judge, and one that failed or is blocked is for the person who looks at it.
pub fn old_batons(workshop: &mut Workshop<'_>) -> Result<usize, EngineError> {
    let directory = workshop.places.batons(workshop.project);
    let names = match Dir::open(&directory) {
        Ok(dir) => dir.names()?,
        Err(error) if error.is_not_found() => return Ok(0),
        Err(error) => return Err(error.into()),
    };
    let (mut removed, mut stale) = (0, vec![]);
    for file in names {
        let name = Path::new(&file).file_stem().and_then(|name| name.to_str());
        let Some(name) = name.and_then(|name| name.parse().ok()) else {
            continue;
        };
        let Some(task) = known(workshop, &name)? else {
            continue;
        };
        let place = directory.join(&file);
        if is_over(&task) {
            // A view: one that cannot be removed now goes another time.
            std::fs::remove_file(place).ok();
            removed += 1;
        } else if baton::is_stale(&place, &task) {
            stale.push(task.id);
        }
    }
    baton::refresh(workshop, &stale);
    Ok(removed)
}

fn known(workshop: &mut Workshop<'_>, name: &TaskName) -> Result<Option<Task>, EngineError> {
    let project = workshop.project;
    match read(workshop.store, |tx| tasks::named(tx, project, name)) {
        Ok(task) => Ok(Some(task)),
        Err(StoreError::NotFound { .. }) => Ok(None),
        Err(error) => Err(error.into()),
    }
}

const fn is_over(task: &Task) -> bool {
    matches!(
        task.state,
        TaskState::Done { .. } | TaskState::Cancelled { .. }
    )
}
