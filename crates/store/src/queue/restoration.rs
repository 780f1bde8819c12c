//! What becomes of a ledger that takes the place of another, as a backup has it: what was said and handed out after the backup was
//! made is not known to it, and must not count again.

use handoff_core::caller::Action;
use handoff_core::task::Ending;
use handoff_core::{Caller, Fence, TaskEvent, Timestamp};

use super::record;
use crate::error::StoreError;
use crate::store::{Store, Transaction, write};
use crate::{audit, events, high_water, tasks};

/// What is known of the ledger before, and of the time.
#[derive(Debug, Clone, Copy)]
pub struct Beginning {
    /// No lease has this fence or a lower one from now on.
    pub fence: Fence,
    /// The latest time that was seen.
    pub seen: Timestamp,
    /// The last position that a follower may have seen.
    pub position: i64,
}

/// What was made void.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Voided {
    /// Tasks whose fences begin anew.
    pub tasks: usize,
    /// Those of them that somebody had.
    pub leases: usize,
}

/// Voids every lease, and leaves out every fence and position that somebody may have had after the backup. Only a person may do
/// this.
pub fn begin_again(
    store: &mut dyn Store,
    by: &Caller,
    beginning: Beginning,
) -> Result<Voided, StoreError> {
    by.may(Action::Destroy)?;
    write(store, |tx| {
        high_water::keep_at(tx, beginning.seen)?;
        let before = events::newest(tx)?.position;
        let mut voided = Voided::default();
        audit::each(tx, tasks::ids_after, |tx, id| {
            let mut task = tasks::lock(tx, id)?;
            // No lease of it is ever granted again.
            if task.state.ending() == Some(Ending::Done) {
                return Ok(());
            }
            voided.tasks += 1;
            voided.leases += usize::from(task.state.lease().is_some());
            let event = TaskEvent::Restored {
                fence: beginning.fence,
            };
            record::change(tx, &mut task, vec![event], by, None).map(drop)
        })?;
        skip_positions(tx, before, beginning.position)?;
        Ok(voided)
    })
}

/// The first new event moves behind the last position that is left out; all later ones follow it. Numbers of the embedded store
/// count up from the highest one.
fn skip_positions(tx: &mut Transaction<'_>, before: i64, left_out: i64) -> Result<(), StoreError> {
    let newest = events::newest(tx)?.position;
    let distance = left_out.saturating_sub(before);
    if newest == before || distance <= 0 {
        return Ok(());
    }
    // From the last one down, so that none takes the number of another.
    for position in (before + 1..=newest).rev() {
        tx.execute(
            "UPDATE events SET position = $1 WHERE position = $2",
            &[(position + distance).into(), position.into()],
        )?;
    }
    Ok(())
}
