//! What would come of a request: it is decided and written as any other, and then undone.

use handoff_core::Now;

use super::{Performed, Receipt, Request, may_be_repeat, name_taken, perform, recorded_answer};
use crate::error::StoreError;
use crate::events::Keyed;
use crate::store::{Mode, Store, read};

/// Finds out what would come of a request, and changes nothing.
pub fn rehearse(store: &mut dyn Store, request: &Request) -> Result<Receipt, StoreError> {
    let digest = request.change.digest()?;
    let keyed = Keyed {
        key: &request.key,
        digest: &digest,
    };
    let (answer, now, is_repeat) = match undone(store, request, &keyed) {
        Ok((done, now)) => (done.answer, now, false),
        Err(error) if may_be_repeat(&error) => {
            let known = read(store, |tx| {
                Ok((recorded_answer(tx, &keyed)?, tx.now.clone()))
            })?;
            match known {
                (Some(answer), now) => (answer, now, true),
                (None, _) => {
                    let named = read(store, |tx| name_taken(tx, &request.change, &error))?;
                    return Err(named.unwrap_or(error));
                }
            }
        }
        Err(error) => return Err(error),
    };
    Ok(Receipt {
        answer,
        now,
        is_repeat,
    })
}

/// Carries it out in a transaction that comes to nothing.
fn undone(
    store: &mut dyn Store,
    request: &Request,
    keyed: &Keyed<'_>,
) -> Result<(Performed, Now), StoreError> {
    let mut performed = None;
    let outcome = store.transaction(Mode::Write, &mut |tx| {
        performed = None;
        performed = Some((perform(tx, request, keyed)?, tx.now.clone()));
        Err(StoreError::Inconsistent("a rehearsal is undone".to_owned()))
    });
    match (performed, outcome) {
        (Some(performed), _) => Ok(performed),
        (None, Err(error)) => Err(error),
        (None, Ok(())) => Err(StoreError::Inconsistent("nothing was rehearsed".to_owned())),
    }
}
