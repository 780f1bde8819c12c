//! A session that a worker began and that has lost its right to work is ended: its task was called off, or is somebody
//! else's by now.

use std::time::Duration;

use handoff_files::Lock;
use handoff_session::{Client, Known, Standing, catalogue};
use handoff_store::{StoreError, read, tasks};

use crate::error::EngineError;
use crate::places::Attempt;
use crate::ticket::Ticket;
use crate::workshop::Workshop;

/// Ends such sessions, and names the attempts of those that could not be ended. One that somebody attends to is theirs.
pub fn stray_sessions(workshop: &mut Workshop<'_>) -> Result<Vec<Attempt>, EngineError> {
    let places = workshop.places.of_sessions();
    let sessions = catalogue::all(&places).map_err(EngineError::Session)?;
    let project = workshop.project;
    let live = sessions
        .into_iter()
        .filter(|it| it.standing == Standing::Live && it.record.project == project);
    let mut left = vec![];
    for known in live {
        if let Some(attempt) = stray(workshop, &known)?
            && Client::new(&known.record.socket)
                .stop(Duration::ZERO)
                .is_err()
        {
            left.push(attempt);
        }
    }
    Ok(left)
}

/// The attempt of a session that has lost its right and that nobody attends to.
fn stray(workshop: &mut Workshop<'_>, known: &Known) -> Result<Option<Attempt>, EngineError> {
    let session = known.record.id;
    let Some(ticket) = Ticket::read(&workshop.places, session) else {
        return Ok(None);
    };
    if Lock::is_held(&workshop.places.worker_lock(session))? {
        return Ok(None);
    }
    let task = match read(workshop.store, |tx| tasks::get(tx, ticket.task)) {
        Ok(task) => task,
        // Of another ledger: not ours to judge.
        Err(StoreError::NotFound { .. }) => return Ok(None),
        Err(error) => return Err(error.into()),
    };
    let lease = task.state.lease();
    let has_right = lease.is_some_and(|lease| lease.fence == ticket.fence);
    Ok((!has_right).then_some(Attempt {
        task: ticket.task,
        fence: ticket.fence,
    }))
}
