//! The embedded store: one SQLite file in a state directory, written by many processes.
//!
//! - **In line.** A blocking kernel lock is taken before `BEGIN IMMEDIATE` and released after `COMMIT`. SQLite's
//!   own busy polling starves processes. The kernel lets whoever comes at the right moment overtake those who
//!   wait; so there is a door in front of it, and only the next in line is past the door.
//! - **Durable.** WAL with `synchronous=FULL`, always. `NORMAL` loses acknowledged rows when power fails.
//! - **Quick to leave.** The last process to close does not checkpoint: a call costs one `fdatasync`. The log is kept short
//!   instead (`log`), because whoever opens next must read it.
//! - **Heard.** Closing the lock file is the bell: the kernel tells watchers, also about a writer that
//!   was killed right after its commit.
//! - **Local only.** On network file systems SQLite corrupts itself; they are refused by type.

mod connection;
mod copy;
mod creation;
mod files;
mod log;
mod replacement;
mod schema;
mod seen;

pub use copy::take_in;
pub use replacement::{Replacement, finish, is_replacing, replace, require_alone};

use std::path::{Path, PathBuf};
use std::rc::Rc;
use std::time::Duration;

use handoff_core::time::Clock;
use handoff_core::{Now, StoreId, Timestamp};
use handoff_files::{Dir, Filesystem, Lock, Wake, Watch, WatchError};
use rusqlite::Connection;

use crate::audit::{Fault, FaultKind};
use crate::error::StoreError;
use crate::sql::{Following, Row, RowLock, Sql, SqlError, SqlErrorKind, Value};
use crate::store::{Bell, Mode, Ring, Store, StoreInfo, Transaction};
use connection::{Sharing, outcome_of_commit, sql_error, told_by_the_disk};
use files::Files;

const _: () = assert!(
    rusqlite::ffi::SQLITE_VERSION_NUMBER >= 3_051_003,
    "SQLite before 3.51.3 corrupts a WAL that several processes write"
);

/// The database in a home.
const DATABASE: &str = "handoff.db";
/// Its write-ahead log.
const WAL: &str = "handoff.db-wal";
/// The shared index of the log.
const SHM: &str = "handoff.db-shm";
/// The file whose lock the next writer has while it waits for its turn.
const DOOR: &str = "handoff.door";
/// The file whose lock writers take; closing it rings the bell.
const TURNSTILE: &str = "handoff.lock";

/// Readers meet writers only for moments (recovery, a checkpoint's last step).
const BUSY_TIMEOUT: Duration = Duration::from_secs(5);

/// The file that is closed by a writer whenever the ledger in `home` may have changed.
#[must_use]
pub fn bell_file(home: &Path) -> PathBuf {
    home.join(TURNSTILE)
}

/// What a store needs from outside.
#[derive(Clone)]
pub struct Ambient {
    /// The clocks.
    pub clock: Rc<dyn Clock>,
    /// The identity of a store that is made now. An existing one keeps its own.
    pub fresh_id: StoreId,
}

/// An embedded store.
pub struct SqliteStore {
    place: Place,
    ambient: Ambient,
    info: StoreInfo,
    /// Gone after an error whose outcome is unknown: the next transaction reads anew what is on disk. Never one that
    /// keeps others out.
    connection: Option<Connection>,
    /// The files that the connection has open.
    files: Files,
    /// How many transactions of this process were recorded.
    commits: u32,
}

/// Where the files of a store are.
#[derive(Debug, Clone)]
pub(crate) struct Place {
    home: PathBuf,
    database: PathBuf,
    wal: PathBuf,
    shm: PathBuf,
    door: PathBuf,
    turnstile: PathBuf,
    /// Says that another ledger takes the place of this one.
    replacement: PathBuf,
}

impl Place {
    fn in_home(home: &Path) -> Self {
        Self {
            home: home.to_owned(),
            database: home.join(DATABASE),
            wal: home.join(WAL),
            shm: home.join(SHM),
            door: home.join(DOOR),
            turnstile: home.join(TURNSTILE),
            replacement: home.join(replacement::NOTE),
        }
    }

    /// The database, its log, and the shared index of the log.
    fn files(&self) -> [&Path; 3] {
        [&self.database, &self.wal, &self.shm]
    }

    /// Waits for its turn. Whoever was in must pass the door again, behind all who wait there.
    fn line_up(&self) -> Result<Lock, StoreError> {
        let door = take(&self.door)?;
        let turn = take(&self.turnstile)?;
        door.release();
        Ok(turn)
    }
}

fn take(path: &Path) -> Result<Lock, StoreError> {
    Lock::acquire(path, "write").map_err(|error| {
        if error.is_out_of_space() {
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
    })
}

impl SqliteStore {
    /// Opens the store of a home, making both if they are not there.
    pub fn open(home: &Path, ambient: Ambient) -> Result<Self, StoreError> {
        prepare_home(home)?;
        let place = Place::in_home(home);
        let opened = connection::open(&place, &ambient)?;
        Ok(Self {
            place,
            ambient,
            info: opened.info,
            connection: Some(opened.connection).filter(|_| opened.sharing == Sharing::All),
            files: opened.files,
            commits: 0,
        })
    }

    fn connected(&mut self, mode: Mode) -> Result<(Connection, Sharing), StoreError> {
        if let Some(connection) = self.connection.take() {
            return Ok((connection, Sharing::All));
        }
        let opened = connection::open(&self.place, &self.ambient)?;
        if mode == Mode::Write && opened.sharing == Sharing::Nobody {
            let cause = SqlError {
                kind: SqlErrorKind::NoSpace,
                source: "the disk has no room for the index of the database".into(),
            };
            return Err(StoreError::NoSpace { cause });
        }
        self.files = opened.files;
        Ok((opened.connection, opened.sharing))
    }
}

impl Drop for SqliteStore {
    fn drop(&mut self) {
        if let Some(connection) = self
            .connection
            .take()
            .filter(|_| self.commits >= log::GOES_ON)
            && let Ok(Some(_turn)) = Lock::try_acquire(&self.place.turnstile, "write")
        {
            log::leave_short(&connection);
        }
    }
}

fn prepare_home(home: &Path) -> Result<(), StoreError> {
    let failed = |cause: Box<dyn std::error::Error + Send + Sync>| StoreError::Place {
        path: home.to_owned(),
        cause,
    };
    // Before anything is made there: of a path that does not exist yet, its nearest ancestor tells.
    match Filesystem::of(home).map_err(|error| failed(error.into()))? {
        Filesystem::Local => Dir::create_private(home)
            .map(drop)
            .map_err(|error| failed(error.into())),
        other @ (Filesystem::Network { .. } | Filesystem::Fuse) => {
            Err(StoreError::NetworkFilesystem {
                path: home.to_owned(),
                kind: other.to_string(),
            })
        }
    }
}

impl Store for SqliteStore {
    fn info(&self) -> &StoreInfo {
        &self.info
    }

    fn transaction(
        &mut self,
        mode: Mode,
        work: &mut dyn FnMut(&mut Transaction<'_>) -> Result<(), StoreError>,
    ) -> Result<(), StoreError> {
        let _turn = match mode {
            Mode::Write => Some(self.place.line_up()?),
            Mode::Read => None,
        };
        let (mut connection, sharing) = self.connected(mode)?;
        // The connection is dropped with the error: the next transaction opens what is there then.
        let still_the_same = || match sharing {
            Sharing::All => self.files.still_those_of(&self.place),
            Sharing::Nobody => Ok(()),
        };
        let replaced = "the store cannot be used";
        still_the_same().map_err(|cause| StoreError::unavailable(replaced, cause))?;
        if mode == Mode::Write {
            log::make_ready(&connection, &self.place, self.commits)?;
        }
        begin(&connection, mode).map_err(|error| told_by_the_disk(error, &self.place))?;
        let now = to_the_millisecond(self.ambient.clock.now());
        let outcome = work(&mut Transaction {
            sql: &mut connection,
            now,
        });
        let outcome = match outcome {
            // Looked at behind the commit too: it may have gone to a file without a name.
            Ok(()) => commit(&connection).and_then(|()| match mode {
                Mode::Read => Ok(()),
                Mode::Write => {
                    still_the_same().map_err(|cause| StoreError::OutcomeUnknown { cause })
                }
            }),
            Err(error) => Err(error),
        };
        let is_settled = outcome.is_ok() || rollback(&connection).is_ok();
        if mode == Mode::Write && outcome.is_ok() {
            self.commits = self.commits.saturating_add(1);
            seen::note(&connection, &self.place);
        }
        let is_known = !matches!(outcome, Err(StoreError::OutcomeUnknown { .. }));
        if is_settled && is_known && sharing == Sharing::All {
            self.connection = Some(connection);
        }
        outcome.map_err(|error| told_by_the_disk(error, &self.place))
    }

    /// A log that was damaged or removed takes its events along.
    fn lost(&mut self) -> Result<Option<Fault>, StoreError> {
        // Read first: what is noted meanwhile is newer than what was read.
        let Some(seen) = seen::read(&self.place.home) else {
            return Ok(None);
        };
        let (connection, sharing) = self.connected(Mode::Read)?;
        let newest =
            seen::newest(&connection).map_err(|error| StoreError::from(sql_error(error)))?;
        self.connection = Some(connection).filter(|_| sharing == Sharing::All);
        let what = format!("the newest event is {newest}, and event {seen} was acknowledged");
        Ok((newest < seen).then(|| FaultKind::EventsMissing.fault(what)))
    }

    fn bell(&self) -> Result<Box<dyn Bell>, StoreError> {
        match Watch::on(&self.place.turnstile) {
            Ok(watch) => Ok(Box::new(TurnstileBell(watch))),
            Err(WatchError::Exhausted(..)) => Ok(Box::new(PollingBell)),
            Err(error @ (WatchError::Watch(..) | WatchError::Wait(..))) => Err(StoreError::Place {
                path: self.place.turnstile.clone(),
                cause: error.into(),
            }),
        }
    }
}

fn begin(connection: &Connection, mode: Mode) -> Result<(), StoreError> {
    let sql = match mode {
        Mode::Read => "BEGIN DEFERRED",
        Mode::Write => "BEGIN IMMEDIATE",
    };
    connection
        .execute_batch(sql)
        .map_err(|error| StoreError::unavailable("a transaction could not begin", sql_error(error)))
}

/// The point of no return.
fn commit(connection: &Connection) -> Result<(), StoreError> {
    connection
        .execute_batch("COMMIT")
        .map_err(outcome_of_commit)
}

/// SQLite may have rolled back by itself, then there is nothing to do. A connection that cannot roll back is dropped, which
/// rolls back as well.
fn rollback(connection: &Connection) -> rusqlite::Result<()> {
    if connection.is_autocommit() {
        Ok(())
    } else {
        connection.execute_batch("ROLLBACK")
    }
}

/// Events keep milliseconds; a row must not know more than its events.
fn to_the_millisecond(now: Now) -> Now {
    let wall = Timestamp::from_millisecond(now.wall.as_millisecond()).unwrap_or(now.wall);
    Now { wall, ..now }
}

struct TurnstileBell(Watch);

impl Bell for TurnstileBell {
    fn wait(&mut self, patience: Duration) -> Result<Ring, StoreError> {
        match self.0.wait(Some(patience)) {
            Ok(Wake::Changed | Wake::Interrupted) => Ok(Ring::Rung),
            Ok(Wake::TimedOut) => Ok(Ring::Silent),
            Ok(Wake::Gone) => Err(cannot_wait("the lock file was removed".into())),
            Err(error) => Err(cannot_wait(error.into())),
        }
    }
}

fn cannot_wait(source: Box<dyn std::error::Error + Send + Sync>) -> StoreError {
    StoreError::Unavailable {
        step: "waiting for changes".to_owned(),
        cause: SqlError::other(source),
    }
}

/// Looks again and again where the kernel has no watch left to give.
struct PollingBell;

/// How often: quick enough for a person, slow enough to cost nothing.
const POLL_INTERVAL: Duration = Duration::from_millis(500);

impl Bell for PollingBell {
    fn wait(&mut self, patience: Duration) -> Result<Ring, StoreError> {
        std::thread::park_timeout(patience.min(POLL_INTERVAL));
        Ok(Ring::Rung)
    }
}

static FOLLOWING: Following = Following {
    transaction: "0",
    after: "0 = $1 AND position > $2 AND 0 < $3",
    order: "position",
    newest_first: "position DESC",
    number: None,
};

impl Sql for Connection {
    fn execute(&mut self, sql: &str, values: &[Value]) -> Result<u64, SqlError> {
        let mut statement = self.prepare_cached(sql).map_err(sql_error)?;
        let changed = statement
            .execute(rusqlite::params_from_iter(values))
            .map_err(sql_error)?;
        Ok(changed as u64)
    }

    fn query(&mut self, sql: &str, values: &[Value], _lock: RowLock) -> Result<Vec<Row>, SqlError> {
        let mut statement = self.prepare_cached(sql).map_err(sql_error)?;
        let columns = statement.column_count();
        let rows = statement
            .query_map(rusqlite::params_from_iter(values), |row| {
                (0..columns)
                    .map(|place| row.get(place))
                    .collect::<Result<_, _>>()
                    .map(Row)
            })
            .map_err(sql_error)?;
        rows.collect::<Result<_, _>>().map_err(sql_error)
    }

    fn line_up(&mut self, _project: &str) -> Result<(), SqlError> {
        Ok(())
    }

    fn following(&self) -> &'static Following {
        &FOLLOWING
    }

    /// Writers stand in line, so whatever can be seen is final.
    fn horizon(&mut self) -> Result<i64, SqlError> {
        Ok(1)
    }
}
