//! A lease that nobody renewed in time is over, and the ledger says so.

use handoff_core::lease::Standing;
use handoff_core::task::Command;
use handoff_core::{Caller, IdempotencyKey, Task, TaskName};
use handoff_session::catalogue;
use handoff_store::queue::{Change, Request, TaskRef, submit};
use handoff_store::{read, tasks};

use crate::adoption::session_of;
use crate::error::EngineError;
use crate::workshop::Workshop;

/// Gives back the tasks whose leases have run out, and names them.
pub fn expired_leases(workshop: &mut Workshop<'_>) -> Result<Vec<TaskName>, EngineError> {
    let project = workshop.project;
    let (now, leased) = read(workshop.store, |tx| {
        Ok((tx.now.moment.clone(), tasks::handed_out(tx, project)?))
    })?;
    let mut given_back = vec![];
    for task in leased {
        let is_over =
            { task.state.lease() }.is_some_and(|it| it.standing(&now) == Standing::Expired);
        if is_over && !is_known_here(workshop, &task)? {
            let is_given_back = expire(workshop, &task)?;
            given_back.extend(is_given_back.then_some(task.spec.name));
        }
    }
    Ok(given_back)
}

/// Whether its session was begun on this machine: its work is there, and whoever takes it over knows what it is worth.
fn is_known_here(workshop: &Workshop<'_>, task: &Task) -> Result<bool, EngineError> {
    let Some(session) = session_of(task) else {
        return Ok(false);
    };
    let places = workshop.places.of_sessions();
    let known = catalogue::by_id(&places, session).map_err(EngineError::Session)?;
    Ok(known.is_some())
}

/// Whether it was given back: whoever has it may have said in the same moment that they are there.
fn expire(workshop: &mut Workshop<'_>, task: &Task) -> Result<bool, EngineError> {
    let key = format!("{}/{}/expire", task.id, task.fence);
    let key: IdempotencyKey = key.parse().expect("ids and a word make a key");
    let request = Request {
        by: Caller::Reconciler,
        key,
        change: Change::Tell {
            task: TaskRef::Id(task.id),
            command: Command::Expire,
        },
    };
    let after = submit(workshop.store, &request)?.answer.into_task();
    Ok(after.is_some_and(|it| {
        it.state
            .lease()
            .is_none_or(|lease| lease.fence != task.fence)
    }))
}
