//! How a database comes to be: complete and durable under another name first, and only then under its own.
//!
//! SQLite passes over failed syncs while it changes a new file to a write-ahead log. So it does not sync here at all; we
//! do, by a descriptor that is older than anything written, which hears of every failure. Whoever sees the
//! database sees all of it. That its *name* is durable is made sure of before the first thing is
//! acknowledged in it (`log`).

use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};

use rusqlite::{Connection, OpenFlags};

use super::connection::{APPLICATION_ID, create_private, sql_error, unusable};
use super::files::regular;
use super::{Ambient, Place, log, replacement, schema};
use crate::error::StoreError;
use crate::sql::SqlError;

pub(super) fn create_if_missing(place: &Place, ambient: &Ambient) -> Result<(), StoreError> {
    if is_there(&place.database)? {
        return Ok(());
    }
    let _turn = place.line_up()?;
    // Whoever replaces the ledger may have died while none had its name.
    replacement::finish_in_line(place)?;
    if is_there(&place.database)? {
        return Ok(());
    }
    if is_there(&place.wal)? {
        let what = format!("`{}` has no database", place.wal.display());
        return Err(StoreError::Inconsistent(what));
    }
    let partial = place.database.with_extension("db.partial");
    remove_remains(&partial)?;
    let file = create_private(&partial)?;
    make(&partial, ambient)?;
    publish(&file, &partial, &place.database)?;
    log::sync_names(place)
}

/// An empty file is no database: it may be left from a full disk.
fn is_there(path: &Path) -> Result<bool, StoreError> {
    Ok(regular(path)?.is_some_and(|found| found.len() > 0))
}

/// What somebody left who was killed here.
fn remove_remains(partial: &Path) -> Result<(), StoreError> {
    for path in [partial.to_owned(), wal_of(partial)] {
        match std::fs::remove_file(&path) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => {
                return Err(unusable(&path, error));
            }
            Ok(()) | Err(_) => {}
        }
    }
    Ok(())
}

fn wal_of(database: &Path) -> PathBuf {
    let mut name = database.as_os_str().to_owned();
    name.push("-wal");
    name.into()
}

/// The log comes last: until then everything goes straight into the file.
fn make(path: &Path, ambient: &Ambient) -> Result<(), StoreError> {
    let failed =
        |error| StoreError::unavailable("the database could not be made", sql_error(error));
    let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let connection = Connection::open_with_flags(path, flags).map_err(failed)?;
    for (name, value) in [
        ("locking_mode", "EXCLUSIVE"),
        ("journal_mode", "OFF"),
        ("synchronous", "OFF"),
    ] {
        connection
            .pragma_update(None, name, value)
            .map_err(failed)?;
    }
    schema::create(&connection, ambient.fresh_id)?;
    connection
        .pragma_update(None, "application_id", APPLICATION_ID)
        .map_err(failed)?;
    take_log(&connection)?;
    connection.close().map_err(|(_, error)| failed(error))
}

/// Makes it a database with a write-ahead log.
pub(super) fn take_log(connection: &Connection) -> Result<(), StoreError> {
    let step = "the database does not take a write-ahead log";
    let mode: String = connection
        .query_row("PRAGMA journal_mode = WAL", [], |row| row.get(0))
        .map_err(|error| StoreError::unavailable(step, sql_error(error)))?;
    if mode == "wal" {
        return Ok(());
    }
    let cause = SqlError::other(format!("the journal mode is `{mode}`"));
    Err(StoreError::unavailable(step, cause))
}

fn publish(file: &File, partial: &Path, database: &Path) -> Result<(), StoreError> {
    file.sync_all().map_err(|error| unusable(partial, error))?;
    std::fs::rename(partial, database).map_err(|error| unusable(database, error))
}
