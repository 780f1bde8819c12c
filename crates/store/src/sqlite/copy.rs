//! A whole copy of a database, made by the engine while others go on, and what a copy needs before it can be a store again.
//!
//! The engine writes what one read transaction sees, each table and index anew: numbers, identity, schema version and mark are those
//! of the original, free pages and the log are not in it. Copying the file page by page would begin anew with each commit of
//! somebody else, and take a damaged index along.

use std::path::Path;

use rusqlite::{Connection, OpenFlags};

use super::connection::{APPLICATION_ID, Sharing, create_private, int_pragma, sql_error, unusable};
use super::{Ambient, DATABASE, Place, SqliteStore, creation};
use crate::error::StoreError;
use crate::store::Mode;

/// Writes a copy; nothing may have this name.
pub(super) fn write(connection: &Connection, path: &Path) -> Result<(), StoreError> {
    let file = create_private(path)?;
    connection
        .execute("VACUUM INTO ?1", [path.to_string_lossy().as_ref()])
        .map_err(|error| {
            StoreError::unavailable("the copy of the database failed", sql_error(error))
        })?;
    // The engine does not sync what it writes here.
    file.sync_all().map_err(|error| unusable(path, error))
}

/// Opens a copy that lies in a directory of its own as a store: with a log, and with the newest schema.
pub fn take_in(directory: &Path, ambient: Ambient) -> Result<SqliteStore, StoreError> {
    let path = directory.join(DATABASE);
    let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let failed = |error| StoreError::unavailable("the copy could not be opened", sql_error(error));
    let connection = Connection::open_with_flags(&path, flags).map_err(failed)?;
    if int_pragma(&connection, "application_id").map_err(failed)? != APPLICATION_ID {
        return Err(StoreError::Foreign(path));
    }
    creation::take_log(&connection)?;
    connection.close().map_err(|(_, error)| failed(error))?;
    SqliteStore::open(directory, ambient)
}

impl SqliteStore {
    /// Writes a copy of the database as it is at one moment, while others go on. It is durable when this returns.
    pub fn copy_to(&mut self, path: &Path) -> Result<(), StoreError> {
        let (connection, sharing) = self.connected(Mode::Read)?;
        write(&connection, path)?;
        self.connection = Some(connection).filter(|_| sharing == Sharing::All);
        Ok(())
    }

    /// Brings everything into the one file of the database, which is durable when this returns, and closes it.
    pub fn fold_up(mut self) -> Result<(), StoreError> {
        let failed =
            |error| StoreError::unavailable("the log could not be folded up", sql_error(error));
        let (connection, _) = self.connected(Mode::Read)?;
        let left: i64 = connection
            .query_row("PRAGMA wal_checkpoint(TRUNCATE)", [], |row| row.get(0))
            .map_err(failed)?;
        if left != 0 {
            let what = "another process reads the copy".to_owned();
            return Err(StoreError::Inconsistent(what));
        }
        connection.close().map_err(|(_, error)| failed(error))?;
        let path = Place::in_home(&self.place.home).database;
        let file = std::fs::File::open(&path).map_err(|error| unusable(&path, error))?;
        file.sync_all().map_err(|error| unusable(&path, error))
    }
}
