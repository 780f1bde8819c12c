//! Opening the file, and what SQLite's errors mean.

use std::fs::{File, OpenOptions};
use std::io;
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::Path;

use handoff_files::filesystem;
use rusqlite::config::DbConfig;
use rusqlite::ffi;
use rusqlite::types::{FromSql, FromSqlError, FromSqlResult, ToSqlOutput, ValueRef};
use rusqlite::{Connection, ErrorCode, OpenFlags, ToSql};

use super::files::Files;
use super::{Ambient, BUSY_TIMEOUT, Place, creation, log, replacement, schema};
use crate::error::StoreError;
use crate::sql::{SqlError, SqlErrorKind, Value};
use crate::store::{StoreInfo, StoreKind};

/// SQLite's mark for whose file this is: "hdof".
pub(super) const APPLICATION_ID: i64 = 0x6864_6f66;

/// An open database.
pub(super) struct Opened {
    pub(super) connection: Connection,
    pub(super) info: StoreInfo,
    pub(super) sharing: Sharing,
    pub(super) files: Files,
}

/// Who else may use the database meanwhile.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Sharing {
    /// Everybody, by an index in shared memory.
    All,
    /// Nobody, for one look: the index is in our own memory, because the disk has no room for the shared one.
    Nobody,
}

pub(super) fn open(place: &Place, ambient: &Ambient) -> Result<Opened, StoreError> {
    match try_open(place, ambient, Sharing::All) {
        Err(StoreError::NoSpace { .. }) => try_open(place, ambient, Sharing::Nobody),
        opened => opened,
    }
}

fn try_open(place: &Place, ambient: &Ambient, sharing: Sharing) -> Result<Opened, StoreError> {
    let failed = |error| {
        let step = "the database could not be opened";
        told_by_the_disk(StoreError::unavailable(step, sql_error(error)), place)
    };
    replacement::finish_in(place)?;
    creation::create_if_missing(place, ambient)?;
    let before = Files::of(place)?;
    let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let connection = Connection::open_with_flags(&place.database, flags).map_err(failed)?;
    configure(&connection, sharing).map_err(failed)?;
    if int_pragma(&connection, "application_id").map_err(failed)? != APPLICATION_ID {
        return Err(StoreError::Foreign(place.database.clone()));
    }
    let id = schema::bring_up_to_date(&connection, place, schema::MIGRATIONS)?;
    let info = StoreInfo {
        id,
        kind: StoreKind::Sqlite,
        location: place.database.display().to_string(),
        engine: format!("SQLite {}", rusqlite::version()),
        schema: crate::migration::latest(schema::MIGRATIONS),
    };
    // The log and its index are open by now: the schema was read.
    let files = Files::of(place)?;
    if !files.have_database_of(&before) {
        let cause = SqlError::other("the database was replaced while it was opened");
        return Err(StoreError::unavailable("another one is there now", cause));
    }
    Ok(Opened {
        connection,
        info,
        sharing,
        files,
    })
}

/// SQLite would make the file with the umask's rights, and the WAL copies them.
pub(super) fn create_private(path: &Path) -> Result<File, StoreError> {
    OpenOptions::new()
        .write(true)
        .create_new(true)
        .mode(0o600)
        .open(path)
        .map_err(|error| unusable(path, error))
}

/// What the system's word about a file means.
pub(super) fn unusable(path: &Path, error: io::Error) -> StoreError {
    if error.kind() == io::ErrorKind::StorageFull {
        let cause = SqlError {
            kind: SqlErrorKind::NoSpace,
            source: error.into(),
        };
        return StoreError::NoSpace { cause };
    }
    StoreError::Place {
        path: path.to_owned(),
        cause: error.into(),
    }
}

fn configure(connection: &Connection, sharing: Sharing) -> rusqlite::Result<()> {
    if sharing == Sharing::Nobody {
        connection.pragma_update(None, "locking_mode", "EXCLUSIVE")?;
        connection.pragma_update(None, "query_only", true)?;
    }
    connection.busy_timeout(BUSY_TIMEOUT)?;
    connection.set_db_config(DbConfig::SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, true)?;
    connection.pragma_update(None, "synchronous", "FULL")?;
    connection.pragma_update(None, "wal_autocheckpoint", 0)?;
    connection.pragma_update(None, "journal_size_limit", log::LENGTH_KEPT)?;
    Ok(())
}

pub(super) fn int_pragma(connection: &Connection, name: &str) -> rusqlite::Result<i64> {
    connection.pragma_query_value(None, name, |row| row.get(0))
}

/// What an error on COMMIT means. That the disk is full is found out while frames are written, before the one that makes
/// them count; any other failure may have come after it.
pub(super) fn outcome_of_commit(error: rusqlite::Error) -> StoreError {
    let is_full = error.sqlite_error_code() == Some(ErrorCode::DiskFull);
    let cause = sql_error(error);
    if is_full {
        StoreError::NoSpace { cause }
    } else {
        StoreError::OutcomeUnknown { cause }
    }
}

/// SQLite says the same of a shared index that cannot grow whether the disk is full or broken. The disk knows.
pub(super) fn told_by_the_disk(error: StoreError, place: &Place) -> StoreError {
    let StoreError::Unavailable { step, cause } = error else {
        return error;
    };
    if cannot_grow(&cause) && is_full(&place.database) {
        StoreError::NoSpace { cause }
    } else {
        StoreError::Unavailable { step, cause }
    }
}

fn cannot_grow(cause: &SqlError) -> bool {
    let error = cause.source.downcast_ref::<rusqlite::Error>();
    let code = error.and_then(|error| error.sqlite_error());
    code.is_some_and(|code| code.extended_code == ffi::SQLITE_IOERR_SHMSIZE)
}

/// The shared index grows by 32 KiB.
fn is_full(path: &Path) -> bool {
    filesystem::free_space(path).is_ok_and(|free| free < 64 * 1024)
}

pub(super) fn sql_error(error: rusqlite::Error) -> SqlError {
    let code = error.sqlite_error().map(|it| (it.code, it.extended_code));
    let kind = match code {
        Some((ErrorCode::DiskFull, _)) => SqlErrorKind::NoSpace,
        Some((ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked, _)) => SqlErrorKind::Busy,
        Some((ErrorCode::DatabaseCorrupt | ErrorCode::NotADatabase, _)) => SqlErrorKind::Damaged,
        Some((
            ErrorCode::ConstraintViolation,
            ffi::SQLITE_CONSTRAINT_UNIQUE | ffi::SQLITE_CONSTRAINT_PRIMARYKEY,
        )) => SqlErrorKind::Taken,
        Some(_) | None => SqlErrorKind::Other,
    };
    SqlError {
        kind,
        source: error.into(),
    }
}

impl ToSql for Value {
    fn to_sql(&self) -> rusqlite::Result<ToSqlOutput<'_>> {
        Ok(match self {
            Self::Null => ToSqlOutput::Borrowed(ValueRef::Null),
            Self::Int(number) => ToSqlOutput::Borrowed(ValueRef::Integer(*number)),
            Self::Text(text) => ToSqlOutput::Borrowed(ValueRef::Text(text.as_bytes())),
            Self::Bytes(bytes) => ToSqlOutput::Borrowed(ValueRef::Blob(bytes)),
        })
    }
}

impl FromSql for Value {
    fn column_result(value: ValueRef<'_>) -> FromSqlResult<Self> {
        match value {
            ValueRef::Null => Ok(Self::Null),
            ValueRef::Integer(number) => Ok(Self::Int(number)),
            ValueRef::Text(_) => value.as_str().map(Self::from),
            ValueRef::Blob(bytes) => Ok(Self::Bytes(bytes.to_vec())),
            ValueRef::Real(_) => Err(FromSqlError::InvalidType),
        }
    }
}
