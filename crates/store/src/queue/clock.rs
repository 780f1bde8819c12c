//! Setting the clock of packages right after it was ahead, without reviving what expired meanwhile.

use handoff_core::caller::Action;
use handoff_core::{Caller, PackageId};

use super::package;
use crate::error::StoreError;
use crate::store::{Store, Transaction, write};
use crate::{high_water, packages};

/// So many packages are read at a time.
const PAGE: u32 = 1_000;

/// Lets packages expire by the clock as it is now. What had expired by the latest time that was seen is recorded as expired
/// first, in the same transaction; answers with how many those are. Only a person may do this.
pub fn set_clock_right(store: &mut dyn Store, by: &Caller) -> Result<usize, StoreError> {
    by.may(Action::Trust)?;
    write(store, |tx| {
        let mark = packages::clock(tx)?;
        high_water::begin_again(tx)?;
        let mut expired = 0;
        let mut after = String::new();
        loop {
            let page = packages::ids_after(tx, &after, PAGE)?;
            let Some(last) = page.last() else {
                return Ok(expired);
            };
            after = last.to_string();
            for id in page {
                expired += usize::from(expire(tx, id, mark, by)?);
            }
        }
    })
}

fn expire(
    tx: &mut Transaction<'_>,
    id: PackageId,
    mark: handoff_core::Timestamp,
    by: &Caller,
) -> Result<bool, StoreError> {
    let package = packages::lock(tx, id)?;
    let Some(expired) = package.expired_by(mark) else {
        return Ok(false);
    };
    package::record(tx, package, vec![expired], by, None)?;
    Ok(true)
}
