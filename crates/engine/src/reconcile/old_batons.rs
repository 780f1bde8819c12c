//! A baton is for whoever is going to do its task. One that is done or called off has none.

use std::path::Path;

use handoff_core::{TaskName, TaskState};
use handoff_files::Dir;
use handoff_store::{StoreError, read, tasks};

use crate::error::EngineError;
use crate::workshop::Workshop;

/// Removes the batons of tasks that nobody will do any more, and says how many. What the ledger does not know is not ours to
/// judge, and one that failed or is blocked is for the person who looks at it.
pub fn old_batons(workshop: &mut Workshop<'_>) -> Result<usize, EngineError> {
    let directory = workshop.places.batons(workshop.project);
    let names = match Dir::open(&directory) {
        Ok(dir) => dir.names()?,
        Err(error) if error.is_not_found() => return Ok(0),
        Err(error) => return Err(error.into()),
    };
    let mut removed = 0;
    for file in names {
        let name = Path::new(&file).file_stem().and_then(|name| name.to_str());
        let Some(name) = name.and_then(|name| name.parse().ok()) else {
            continue;
        };
        if is_over(workshop, &name)? {
            // A view: one that cannot be removed now goes another time.
            std::fs::remove_file(directory.join(&file)).ok();
            removed += 1;
        }
    }
    Ok(removed)
}

fn is_over(workshop: &mut Workshop<'_>, name: &TaskName) -> Result<bool, EngineError> {
    let project = workshop.project;
    match read(workshop.store, |tx| tasks::named(tx, project, name)) {
        Ok(task) => Ok(matches!(
            task.state,
            TaskState::Done { .. } | TaskState::Cancelled { .. }
        )),
        Err(StoreError::NotFound { .. }) => Ok(false),
        Err(error) => Err(error.into()),
    }
}
