//! A lease that is anchored in a holder process ends with it.

use handoff_core::task::Command;
use handoff_core::{Caller, IdempotencyKey, SessionId, TaskId};
use handoff_files::Lock;
use handoff_store::queue::{Change, Request, TaskRef, submit};
use handoff_store::{Store, read, tasks};

use crate::error::EngineError;
use crate::places::Places;

/// Gives back the tasks whose holder is dead, and says how many.
pub fn lost_holders(store: &mut dyn Store, places: &Places) -> Result<usize, EngineError> {
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
        submit(store, &request)?;
    }
    Ok(dead.len())
}

/// Leases whose holder is dead. The kernel knows: a lock that can be had is held by nobody.
pub fn dead_holders(
    store: &mut dyn Store,
    places: &Places,
) -> Result<Vec<(TaskId, SessionId)>, EngineError> {
    let mut dead = read(store, tasks::anchored)?;
    let mut failure = None;
    dead.retain(
        |(_, session)| match Lock::is_held(&places.holder_lock(*session)) {
            Ok(is_held) => !is_held,
            Err(error) => {
                failure = Some(error);
                false
            }
        },
    );
    match failure {
        Some(error) => Err(error.into()),
        None => Ok(dead),
    }
}
