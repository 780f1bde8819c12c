//! A lease that is anchored in a holder process ends with it.

use handoff_core::task::Command;
use handoff_core::{Caller, IdempotencyKey, SessionId, TaskId, TaskName};
use handoff_files::Lock;
use handoff_session::catalogue;
use handoff_store::queue::{Change, Request, TaskRef, submit};
use handoff_store::{Store, read, tasks};

use crate::error::EngineError;
use crate::places::Places;
use crate::ticket::Ticket;

/// Gives back the tasks whose holder is dead, and names them.
pub fn lost_holders(store: &mut dyn Store, places: &Places) -> Result<Vec<TaskName>, EngineError> {
    let mut given_back = vec![];
    let dead = dead_holders(store, places)?;
    for (task, session) in &dead {
        let command = Command::LoseHolder { session: *session };
        let request = Request {
            by: Caller::Reconciler,
            key: IdempotencyKey::of_session(*session, *task, "lost"),
            change: Change::Tell {
                task: TaskRef::Id(*task),
                command,
            },
        };
        let receipt = submit(store, &request)?;
        given_back.extend(receipt.answer.into_task().map(|it| it.spec.name));
    }
    Ok(given_back)
}

/// Leases whose holder is dead. The kernel knows: a lock that can be had is held by nobody. One that said how it ended is not
/// among them: its work waits for a worker to judge it.
pub fn dead_holders(
    store: &mut dyn Store,
    places: &Places,
) -> Result<Vec<(TaskId, SessionId)>, EngineError> {
    let mut dead = read(store, tasks::anchored)?;
    let mut failure = None;
    dead.retain(|(_, session)| match is_dead(places, *session) {
        Ok(is_dead) => is_dead,
        Err(error) => {
            failure = Some(error);
            false
        }
    });
    match failure {
        Some(error) => Err(error),
        None => Ok(dead),
    }
}

/// The worker's lock is looked at first: it is held before and after there is a holder.
fn is_dead(places: &Places, session: SessionId) -> Result<bool, EngineError> {
    let is_held = Lock::is_held(&places.worker_lock(session))?
        || Lock::is_held(&places.holder_lock(session))?;
    Ok(!is_held && !is_finished(places, session)?)
}

/// Whether a session that a worker began has said how it ended.
pub(crate) fn is_finished(places: &Places, session: SessionId) -> Result<bool, EngineError> {
    if Ticket::read(places, session).is_none() {
        return Ok(false);
    }
    let known = catalogue::by_id(&places.of_sessions(), session).map_err(EngineError::Session)?;
    Ok(known.is_some_and(|known| known.record.ended.is_some()))
}
