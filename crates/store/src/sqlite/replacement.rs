//! A ledger, and what belongs to it, that takes the place of another: all of it or nothing, whoever is killed in between.
//!
//! What is new lies ready in a directory of the home. A note names it, and the directory that what was there before is moved to;
//! from the moment that the note is there, the new ledger counts. Whoever opens the store meanwhile finishes what the note says
//! first, in line: moving is repeated until the note is gone. Nothing is ever deleted.

use std::io;
use std::path::Path;

use handoff_files::atomic::{self, Mode};
use handoff_files::{Dir, DirError};
use rusqlite::config::DbConfig;
use rusqlite::{Connection, OpenFlags};
use serde::{Deserialize, Serialize};

use super::connection::{sql_error, unusable};
use super::files::regular;
use super::seen::SEEN;
use super::{DATABASE, Place, SHM, WAL};
use crate::error::StoreError;
use crate::sql::SqlErrorKind;

/// The file that says that a ledger takes the place of another.
pub(super) const NOTE: &str = "handoff.replacement";

/// So long is no note.
const LIMIT: u64 = 64 * 1024;

/// What takes whose place; all are plain names in the home.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Replacement<'a> {
    /// Where what is new lies ready.
    pub from: &'a str,
    /// Where what was there before is kept.
    pub kept: &'a str,
    /// What belongs to a ledger besides its own files: it leaves the home, whether there is a new one or not.
    pub names: &'a [&'a str],
}

/// What is still to be done, as long as it is there.
#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Note {
    from: String,
    kept: String,
    /// Moved out of the home; there is no new one.
    retired: Vec<String>,
    /// Moved into the home, behind the one that was there.
    put: Vec<String>,
}

impl Replacement<'_> {
    /// The log and its index go with their database.
    fn note(&self, from: &Dir) -> Result<Note, DirError> {
        let (mut retired, mut put) = (vec![], vec![]);
        for name in [WAL, SHM, SEEN, DATABASE].iter().chain(self.names) {
            let is_ready = from.entry(name)?.is_some();
            let list = if is_ready { &mut put } else { &mut retired };
            list.push((*name).to_owned());
        }
        Ok(Note {
            from: self.from.to_owned(),
            kept: self.kept.to_owned(),
            retired,
            put,
        })
    }
}

/// Puts what lies ready in the place of what is there, unless another process has the ledger open.
pub fn replace(home: &Path, replacement: &Replacement<'_>) -> Result<(), StoreError> {
    let place = Place::in_home(home);
    let _turn = place.line_up()?;
    finish_in_line(&place)?;
    alone(&place)?;
    let dir = open(home)?;
    let from = dir.dir(replacement.from).map_err(|error| at(home, error))?;
    let note = replacement.note(&from).map_err(|error| at(home, error))?;
    let text = serde_json::to_vec(&note).map_err(|error| at(home, error))?;
    atomic::create_new(&dir, NOTE, &text, Mode::Private).map_err(|error| at(home, error))?;
    finish_in_line(&place)
}

/// Refuses while another process has the ledger of a home open.
pub fn require_alone(home: &Path) -> Result<(), StoreError> {
    let place = Place::in_home(home);
    let _turn = place.line_up()?;
    alone(&place)
}

/// Whether a ledger is half-way into the place of another.
pub fn is_replacing(home: &Path) -> Result<bool, StoreError> {
    Ok(!is_absent(&Place::in_home(home).replacement)?)
}

/// Finishes what somebody began who was killed.
pub fn finish(home: &Path) -> Result<(), StoreError> {
    finish_in(&Place::in_home(home))
}

/// As [`finish`]; nearly always there is no note, and then it is one look.
pub(super) fn finish_in(place: &Place) -> Result<(), StoreError> {
    if is_absent(&place.replacement)? {
        return Ok(());
    }
    let _turn = place.line_up()?;
    finish_in_line(place)
}

fn is_absent(note: &Path) -> Result<bool, StoreError> {
    match note.symlink_metadata() {
        Ok(_) => Ok(false),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(true),
        Err(error) => Err(unusable(note, error)),
    }
}

/// Whoever has the turn may call this.
pub(super) fn finish_in_line(place: &Place) -> Result<(), StoreError> {
    if is_absent(&place.replacement)? {
        return Ok(());
    }
    let home = open(&place.home)?;
    let text = home
        .read(NOTE, LIMIT)
        .map_err(|error| at(&place.replacement, error))?;
    let note: Note =
        serde_json::from_slice(&text).map_err(|error| at(&place.replacement, error))?;
    let from = home
        .dir(&note.from)
        .map_err(|error| at(&place.home, error))?;
    let kept = home
        .create_dir(&note.kept)
        .map_err(|error| at(&place.home, error))?;
    for name in note.retired.iter().chain(&note.put) {
        let is_ready = note.put.contains(name);
        put(name, is_ready, [&home, &from, &kept])
            .map_err(|cause| at(&place.home.join(name), cause))?;
    }
    home.remove(NOTE)
        .map_err(|error| at(&place.replacement, error))
}

/// Each step is done once, whoever repeats it: what is ready is no longer there when it has been put.
fn put(name: &str, is_put: bool, [home, from, kept]: [&Dir; 3]) -> Result<(), AnyError> {
    let is_old_there = home.entry(name)?.is_some();
    let is_due = match is_put {
        true => from.entry(name)?.is_some(),
        false => is_old_there,
    };
    if is_due && is_old_there {
        home.move_new(name, kept, name)?;
    }
    if is_due && is_put {
        from.move_new(name, home, name)?;
    }
    Ok(())
}

type AnyError = Box<dyn std::error::Error + Send + Sync>;

fn at(path: &Path, cause: impl Into<AnyError>) -> StoreError {
    StoreError::Place {
        path: path.to_owned(),
        cause: cause.into(),
    }
}

fn open(home: &Path) -> Result<Dir, StoreError> {
    Dir::open(home).map_err(|error| at(home, error))
}

/// Every connection with a log shares a lock on the database as long as it is open; whoever wants all of it finds out. A file that
/// is no database any more is open to nobody.
fn alone(place: &Place) -> Result<(), StoreError> {
    // A link to nothing, or a pipe, is open to nobody either.
    let found = regular(&place.database).ok().flatten();
    if found.is_none_or(|found| found.len() == 0) {
        return Ok(());
    }
    match try_alone(&place.database).map_err(sql_error) {
        Err(cause) if cause.kind == SqlErrorKind::Busy => Err(StoreError::InUse { cause }),
        Err(cause) if cause.kind != SqlErrorKind::Damaged => Err(cause.into()),
        Ok(()) | Err(_) => Ok(()),
    }
}

fn try_alone(database: &Path) -> rusqlite::Result<()> {
    let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let connection = Connection::open_with_flags(database, flags)?;
    connection.set_db_config(DbConfig::SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, true)?;
    connection.busy_timeout(std::time::Duration::ZERO)?;
    connection.pragma_update(None, "locking_mode", "EXCLUSIVE")?;
    connection.execute_batch("BEGIN IMMEDIATE; ROLLBACK")
}
