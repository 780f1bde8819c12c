//! A lease that is anchored in a holder process ends with it.

use handoff_core::task::Command;
use handoff_files::Lock;
use handoff_store::{read, tasks};

use crate::error::EngineError;
use crate::workshop::Workshop;

/// Gives back the tasks whose holder is dead, and says how many. The kernel knows: a lock that can be had is held by nobody.
pub fn lost_holders(workshop: &mut Workshop<'_>) -> Result<usize, EngineError> {
    let mut lost = 0;
    for (id, session) in read(workshop.store, tasks::anchored)? {
        if Lock::is_held(&workshop.places.holder_lock(session))? {
            continue;
        }
        let task = read(workshop.store, |tx| tasks::get(tx, id))?;
        workshop.repair(&task, Command::LoseHolder { session }, session)?;
        lost += 1;
    }
    Ok(lost)
}
