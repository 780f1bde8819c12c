//! The latest time that the ledger has seen, so that turning the clock back revives nothing.
//!
//! Each event has the time of its change. The mark is the latest of them, from the event on behind which a person set the clock
//! right; before that it was ahead, and what it said counts only for what had expired by then.

use handoff_core::Timestamp;

use crate::column::{field, parsed};
use crate::error::StoreError;
use crate::sql::{RowLock, Value};
use crate::store::Transaction;

/// Where the latest time of a change is kept that left no event.
const CLOCK: &str = "package_clock";
/// Where the position is kept behind which events count.
const SINCE: &str = "package_clock_since";

/// The latest time that was seen.
pub(crate) fn mark(tx: &mut Transaction<'_>) -> Result<Option<Timestamp>, StoreError> {
    let since = number(tx, SINCE)?.unwrap_or(-1);
    // Without the sign SQLite reads all events behind the position and sorts them, instead of using the index of times.
    let rows = tx.query(
        "SELECT at FROM events WHERE +position > $1 ORDER BY at DESC LIMIT 1",
        &[since.into()],
        RowLock::None,
    )?;
    let newest = rows.first().map(|row| field(row.int(0))).transpose()?;
    let latest = newest.max(number(tx, CLOCK)?);
    Ok(latest.and_then(|at| Timestamp::from_millisecond(at).ok()))
}

/// Keeps the time of a change.
pub(crate) fn keep(tx: &mut Transaction<'_>) -> Result<(), StoreError> {
    keep_at(tx, tx.now.wall)
}

/// Keeps a time that was seen elsewhere.
pub(crate) fn keep_at(tx: &mut Transaction<'_>, seen: Timestamp) -> Result<(), StoreError> {
    let wall = seen.as_millisecond();
    let values: [Value; 2] = [CLOCK.into(), wall.to_string().into()];
    tx.execute(
        "INSERT INTO meta (name, value) VALUES ($1, $2) ON CONFLICT (name) DO UPDATE \
         SET value = excluded.value WHERE CAST(meta.value AS BIGINT) < CAST(excluded.value AS BIGINT)",
        &values,
    )?;
    Ok(())
}

/// Lets the mark begin again with the clock as it is now.
pub(crate) fn begin_again(tx: &mut Transaction<'_>) -> Result<(), StoreError> {
    let rows = tx.query(
        "SELECT COALESCE(MAX(position), -1) FROM events",
        &[],
        RowLock::None,
    )?;
    let newest = rows.first().map(|row| field(row.int(0))).transpose()?;
    let newest = newest.unwrap_or(-1);
    let wall = tx.now.wall.as_millisecond();
    for (name, value) in [(SINCE, newest), (CLOCK, wall)] {
        tx.execute(
            "INSERT INTO meta (name, value) VALUES ($1, $2) \
             ON CONFLICT (name) DO UPDATE SET value = excluded.value",
            &[name.into(), value.to_string().into()],
        )?;
    }
    Ok(())
}

fn number(tx: &mut Transaction<'_>, name: &str) -> Result<Option<i64>, StoreError> {
    let rows = tx.query(
        "SELECT value FROM meta WHERE name = $1",
        &[name.into()],
        RowLock::None,
    )?;
    rows.first().map(|row| parsed(row, 0)).transpose()
}
