//! The write-ahead log: short enough to be read by whoever comes alone, and there after a power loss.
//!
//! Whoever opens the store while nobody else has it open reads the whole log. SQLite's own checkpoints do not help against
//! that: how far they came is known to the shared index only, which is made anew by the next process. So a
//! writer folds a long log back *before* its transaction, and the transaction then starts the log
//! from the front. The file keeps its length: writing over what is there already costs a sync less
//! than growing, because nothing but the data has to reach the disk.

use std::time::Duration;

use handoff_files::Dir;
use rusqlite::Connection;

use super::connection::sql_error;
use super::{BUSY_TIMEOUT, Place};
use crate::error::StoreError;
use crate::sql::SqlErrorKind;

/// How many pages of 4 KiB a log may have for a process that writes once and goes: read in half a millisecond.
const SHORT: i64 = 128;

/// The same for one that goes on writing. While it has the store open nobody needs to read the log, and
/// folding back costs as much as a commit.
const LONG: i64 = 1_024;

/// Commits after which a process is taken for one that goes on writing.
pub(super) const GOES_ON: u32 = 8;

/// What the file is cut to when it has grown beyond it, in bytes.
pub(super) const LENGTH_KEPT: i64 = LONG * 4_120 + 32;

/// The last one out does not wait longer than this for readers.
const LEAVING_TIMEOUT: Duration = Duration::from_millis(20);

/// Called in line before a transaction that writes.
pub(super) fn make_ready(
    connection: &Connection,
    place: &Place,
    commits: u32,
) -> Result<(), StoreError> {
    keep_names(place)?;
    let limit = if commits < GOES_ON { SHORT } else { LONG };
    if unfolded(connection)? > limit {
        fold_back(connection)?;
    }
    Ok(())
}

/// An empty log was made a moment ago, and the database perhaps as well: nothing was acknowledged in them yet. Their names
/// must be durable before something is, and whoever made them may have been killed before he saw to it.
fn keep_names(place: &Place) -> Result<(), StoreError> {
    if place.wal.metadata().is_ok_and(|wal| wal.len() > 0) {
        return Ok(());
    }
    sync_names(place)
}

/// The names in the home are on stable storage after this.
pub(super) fn sync_names(place: &Place) -> Result<(), StoreError> {
    Dir::open(&place.home)
        .and_then(|home| home.sync())
        .map_err(|error| StoreError::Place {
            path: place.home.clone(),
            cause: error.into(),
        })
}

/// How many pages of the log are not in the database.
fn unfolded(connection: &Connection) -> Result<i64, StoreError> {
    let mut look = connection
        .prepare_cached("PRAGMA wal_checkpoint(NOOP)")
        .map_err(sql_error)?;
    let pages = look.query_row([], |row| Ok(row.get::<_, i64>(1)? - row.get::<_, i64>(2)?));
    Ok(pages.map_err(sql_error)?)
}

/// Readers in the way leave some of it for the next writer, and so does a full disk. Any other failure tells of a disk that
/// must not be written on.
fn fold_back(connection: &Connection) -> Result<(), StoreError> {
    let folded = connection.query_row("PRAGMA wal_checkpoint(PASSIVE)", [], |_| Ok(()));
    match folded.map_err(sql_error) {
        Err(error) if !matches!(error.kind, SqlErrorKind::NoSpace | SqlErrorKind::Busy) => {
            let step = "the log could not be folded back";
            Err(StoreError::unavailable(step, error))
        }
        Ok(()) | Err(_) => Ok(()),
    }
}

/// Leaves a short log behind, unless others are at work: then it is theirs. Nothing depends on it but the time that the
/// next process takes to open the store.
pub(super) fn leave_short(connection: &Connection) {
    if !unfolded(connection).is_ok_and(|pages| pages > SHORT) {
        return;
    }
    connection.busy_timeout(LEAVING_TIMEOUT).ok();
    connection
        .query_row("PRAGMA wal_checkpoint(TRUNCATE)", [], |_| Ok(()))
        .ok();
    connection.busy_timeout(BUSY_TIMEOUT).ok();
}
