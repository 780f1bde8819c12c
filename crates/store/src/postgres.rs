//! The team store: a PostgreSQL server, 15 or newer.
//!
//! Claimers pass over each other's rows (`FOR UPDATE SKIP LOCKED`), leases run on the server's clock, and `NOTIFY` is a
//! hint with a slow poll behind it. The notification comes after the commit, not within it:
//! inside, it would make all commits of the database stand in line.
//!
//! Only a unix socket or the loopback is spoken to as yet. What goes over a network needs TLS with
//! verified certificates, which comes with team mode; until then such an address is refused.

mod acts;
mod address;
mod bell;
mod connection;
mod patience;
mod schema;
mod sharing;

use std::collections::HashMap;

use ::postgres::fallible_iterator::FallibleIterator as _;
use ::postgres::types::ToSql;
use ::postgres::{Client, SimpleQueryMessage, Statement};
use handoff_core::time::{Moment, Nanos};
use handoff_core::{Now, StoreId, Timeline, Timestamp};

use crate::error::StoreError;
use crate::sql::{Act, Following, Row, RowLock, Sql, SqlError, Value};
use crate::store::{Bell, Mode, Store, StoreInfo, Transaction};
use acts::together;
pub use address::{Address, Password};
use bell::ServerBell;
use connection::{outcome_of_commit, sql_error};
pub use patience::Patience;
use patience::Waiting;
pub use sharing::Connections;

/// A store on a server. A server that restarts is waited for, and what it had not committed is done again.
pub struct PostgresStore {
    address: Address,
    info: StoreInfo,
    access: Access,
    seed: u64,
}

/// How a process gets at its server.
#[derive(Debug, Clone)]
pub struct Access {
    /// How long it waits for one that is away. One that was never reached is waited for no longer than [`Patience::BRIEF`].
    pub patience: Patience,
    /// With whom it shares a connection.
    pub connections: Connections,
}

impl Default for Access {
    fn default() -> Self {
        Self {
            patience: Patience::BRIEF,
            connections: Connections::default(),
        }
    }
}

/// A connection with the statements it has prepared.
struct Session {
    client: Client,
    statements: HashMap<String, Statement>,
    /// Whether the transaction in progress has changed anything.
    has_written: bool,
    /// The server's clock under the newest lock of the transaction in progress.
    locked_at: Option<Moment>,
}

/// The server's clock in microseconds.
const CLOCK: &str = "(extract(epoch FROM clock_timestamp()) * 1000000)::bigint";

/// The point of no return, and the hint to followers behind it, in one message. A notification takes a transaction number, and so
/// its own commit would wait for the disk a second time; it need not survive anything.
const COMMIT_AND_NOTIFY: &str =
    "COMMIT; BEGIN; SET LOCAL synchronous_commit = off; NOTIFY handoff; COMMIT";

impl PostgresStore {
    /// Connects, and makes the schema if it is not there. `fresh_id` is the identity of a store that is
    /// made now.
    pub fn connect(address: Address, fresh_id: StoreId) -> Result<Self, StoreError> {
        Self::connect_with(address, fresh_id, Access::default())
    }

    /// The same, with a connection that is shared.
    pub fn connect_with(
        address: Address,
        fresh_id: StoreId,
        access: Access,
    ) -> Result<Self, StoreError> {
        let (_, seed) = fresh_id.as_uuid().as_u64_pair();
        let mut patience = access.patience;
        if !access.connections.were_made() {
            patience = patience.at_most_brief();
        }
        let mut waiting = Waiting::new(patience, seed);
        loop {
            match Self::look(&address, fresh_id, &access.connections) {
                Ok(info) => {
                    return Ok(Self {
                        address,
                        info,
                        access,
                        seed,
                    });
                }
                Err(error) => waiting.outwait(error)?,
            }
        }
    }

    fn look(
        address: &Address,
        fresh_id: StoreId,
        connections: &Connections,
    ) -> Result<StoreInfo, StoreError> {
        let mut turn = connections.turn();
        let mut session = connected(turn.session.take(), address)?;
        let info = schema::bring_up_to_date(&mut session.client, address, fresh_id)?;
        turn.session = Some(session);
        Ok(info)
    }

    fn attempt(
        &self,
        mode: Mode,
        work: &mut dyn FnMut(&mut Transaction<'_>) -> Result<(), StoreError>,
    ) -> Result<(), StoreError> {
        let mut turn = self.access.connections.turn();
        let mut session = connected(turn.session.take(), &self.address)?;
        let now = session.begin(mode)?;
        let outcome = match work(&mut Transaction {
            sql: &mut session,
            now,
        }) {
            Ok(()) => session.commit(),
            Err(error) => Err(error),
        };
        // A connection that cannot roll back is dropped, and the server rolls back.
        let is_settled = outcome.is_ok() || session.client.batch_execute("ROLLBACK").is_ok();
        if is_settled && !matches!(outcome, Err(StoreError::OutcomeUnknown { .. })) {
            turn.session = Some(session);
        }
        outcome
    }
}

fn connected(session: Option<Session>, address: &Address) -> Result<Session, StoreError> {
    match session {
        Some(session) if !session.client.is_closed() => Ok(session),
        Some(_) | None => connection::connect(address).map(Session::new),
    }
}

impl Store for PostgresStore {
    fn info(&self) -> &StoreInfo {
        &self.info
    }

    /// Until COMMIT is sent, a connection that breaks takes everything back: so all of it is done again on the next one.
    fn transaction(
        &mut self,
        mode: Mode,
        work: &mut dyn FnMut(&mut Transaction<'_>) -> Result<(), StoreError>,
    ) -> Result<(), StoreError> {
        let mut waiting = Waiting::new(self.access.patience, self.seed);
        loop {
            match self.attempt(mode, work) {
                Ok(()) => return Ok(()),
                Err(error) => waiting.outwait(error)?,
            }
        }
    }

    fn bell(&self) -> Result<Box<dyn Bell>, StoreError> {
        let mut waiting = Waiting::new(self.access.patience, self.seed);
        loop {
            match ServerBell::listen(&self.address) {
                Ok(bell) => return Ok(Box::new(bell)),
                Err(error) => waiting.outwait(error)?,
            }
        }
    }
}

impl Session {
    fn new(client: Client) -> Self {
        Self {
            client,
            statements: HashMap::new(),
            has_written: false,
            locked_at: None,
        }
    }

    /// Begins, and reads the server's clock in the same round trip. A writer shows itself to followers by
    /// its lock on the ledger before it gets a transaction number.
    fn begin(&mut self, mode: Mode) -> Result<Now, StoreError> {
        let begin = match mode {
            Mode::Read => "BEGIN ISOLATION LEVEL READ COMMITTED READ ONLY",
            Mode::Write => {
                "BEGIN ISOLATION LEVEL READ COMMITTED; LOCK TABLE handoff.events IN ROW EXCLUSIVE MODE"
            }
        };
        (self.has_written, self.locked_at) = (false, None);
        let failed = |cause| StoreError::unavailable("a transaction could not begin", cause);
        let answer = self
            .client
            .simple_query(&format!("{begin}; SELECT {CLOCK}"))
            .map_err(|e| failed(sql_error(e)))?;
        let micros = answer.iter().find_map(|message| {
            let SimpleQueryMessage::Row(row) = message else {
                return None;
            };
            row.get(0)?.parse::<i64>().ok()
        });
        let micros = micros.ok_or_else(|| failed(SqlError::other("the server told no time")))?;
        let time = || {
            Some(Now {
                wall: Timestamp::from_millisecond(micros / 1000).ok()?,
                moment: server_moment(micros)?,
            })
        };
        time().ok_or_else(|| failed(SqlError::other("the server's clock is out of range")))
    }

    fn statement(&mut self, sql: &str) -> Result<Statement, SqlError> {
        if let Some(statement) = self.statements.get(sql) {
            return Ok(statement.clone());
        }
        let statement = self.client.prepare(sql).map_err(sql_error)?;
        self.statements.insert(sql.to_owned(), statement.clone());
        Ok(statement)
    }

    /// Followers of a transaction that changed nothing have nothing to look at, and its outcome is known whatever happens.
    fn commit(&mut self) -> Result<(), StoreError> {
        if self.has_written {
            let committed = self.client.batch_execute(COMMIT_AND_NOTIFY);
            return committed.map_err(outcome_of_commit);
        }
        let failed = |error| StoreError::unavailable("a look could not be ended", sql_error(error));
        self.client.batch_execute("COMMIT").map_err(failed)
    }

    fn read_clock(&mut self, clock: Option<&Value>) -> Result<(), SqlError> {
        let Some(Value::Int(micros)) = clock else {
            return Err(SqlError::other("the server told no time"));
        };
        let moment = server_moment(*micros);
        let moment = moment.ok_or_else(|| SqlError::other("the server's clock is out of range"))?;
        self.locked_at = Some(moment);
        Ok(())
    }

    fn changed(&mut self, sql: &str, values: &[Value]) -> Result<Vec<::postgres::Row>, SqlError> {
        self.has_written = true;
        let statement = self.statement(sql)?;
        let rows = self
            .client
            .query_raw(&statement, values)
            .map_err(sql_error)?;
        rows.collect().map_err(sql_error)
    }
}

fn server_moment(micros: i64) -> Option<Moment> {
    let nanos = Nanos(micros.checked_mul(1000)?);
    Some(Moment {
        timeline: Timeline::of_server(),
        elapsed: nanos,
        awake: nanos,
    })
}

/// The same rows, each with the clock as it was read when the row was locked. A query that locks is never merged with the one
/// around it, so its rows are locked before anything around it is computed.
fn timed(sql: &str, lock: &str) -> String {
    format!("SELECT locked.*, {CLOCK} FROM ({sql} {lock}) AS locked")
}

/// The oldest of our own transactions that is still running, or the next one to come.
///
/// `pg_snapshot_xmin` would be simpler, but it waits for every transaction of every database on the server. Ours are known by
/// their lock on the ledger, which they take before they have a number (see `Session::begin`). Lock tables tell only the
/// lower 32 bits of a number; a running one is never far from the snapshot's.
const HORIZON: &str = "\
    WITH latest AS (SELECT pg_snapshot_xmax(pg_current_snapshot())::text::bigint AS number) \
    SELECT least(latest.number, (SELECT min(latest.number - \
        ((latest.number - holder.transactionid::text::bigint) & 4294967295)) \
        FROM pg_locks ledger JOIN pg_locks holder USING (virtualtransaction) \
        WHERE ledger.relation = 'handoff.events'::regclass AND ledger.mode = 'RowExclusiveLock' \
        AND ledger.database = (SELECT oid FROM pg_database WHERE datname = current_database()) \
        AND holder.locktype = 'transactionid' AND holder.mode = 'ExclusiveLock' \
        AND ((latest.number - holder.transactionid::text::bigint) & 4294967295) < 2147483648)) \
    FROM latest";

static FOLLOWING: Following = Following {
    transaction: "transaction",
    after: "(transaction, position) > ($1, $2) AND transaction < $3",
    order: "transaction, position",
    newest_first: "transaction DESC, position DESC",
    // One who got its number first and then waited for somebody to be done with the same stream comes after them. No follower has
    // gone past them meanwhile: it stays below the one who waits.
    number: Some(
        "greatest(pg_current_xact_id()::text::bigint, \
         (SELECT transaction FROM events WHERE stream = $STREAM ORDER BY seq DESC LIMIT 1))",
    ),
};

impl Sql for Session {
    fn execute(&mut self, sql: &str, values: &[Value]) -> Result<u64, SqlError> {
        self.has_written = true;
        let statement = self.statement(sql)?;
        let values: Vec<_> = values
            .iter()
            .map(|value| value as &(dyn ToSql + Sync))
            .collect();
        self.client.execute(&statement, &values).map_err(sql_error)
    }

    fn execute_all(&mut self, acts: &[Act]) -> Result<Vec<u64>, SqlError> {
        let (sql, values) = together(acts);
        let rows = self.changed(&sql, &values)?;
        let row = rows
            .first()
            .ok_or_else(|| SqlError::other("the server counted nothing"))?;
        (0..row.len())
            .map(|place| row.try_get::<_, i64>(place).map_err(sql_error))
            .map(|count| Ok(count?.unsigned_abs()))
            .collect()
    }

    fn query(&mut self, sql: &str, values: &[Value], lock: RowLock) -> Result<Vec<Row>, SqlError> {
        let statement = match lock {
            RowLock::None => self.statement(sql)?,
            RowLock::Wait => self.statement(&timed(sql, "FOR UPDATE"))?,
            RowLock::Skip => self.statement(&timed(sql, "FOR UPDATE SKIP LOCKED"))?,
        };
        let rows = self
            .client
            .query_raw(&statement, values)
            .map_err(sql_error)?;
        let rows = rows.map(|row| {
            (0..row.len())
                .map(|place| row.try_get(place))
                .collect::<Result<Vec<Value>, _>>()
        });
        let mut rows: Vec<Vec<Value>> = rows.collect().map_err(sql_error)?;
        if lock != RowLock::None {
            for row in &mut rows {
                self.read_clock(row.pop().as_ref())?;
            }
        }
        Ok(rows.into_iter().map(Row).collect())
    }

    fn line_up(&mut self, project: &str) -> Result<(), SqlError> {
        let sql = format!(
            "SELECT {CLOCK} FROM (SELECT pg_advisory_xact_lock(hashtext($1)::bigint)::text AS lock OFFSET 0) AS line \
             WHERE lock IS NOT NULL"
        );
        let statement = self.statement(&sql)?;
        let row = self
            .client
            .query_one(&statement, &[&project])
            .map_err(sql_error)?;
        let clock = row.try_get(0).map_err(sql_error)?;
        self.read_clock(Some(&clock))
    }

    fn moment_under_lock(&self) -> Option<Moment> {
        self.locked_at.clone()
    }

    fn following(&self) -> &'static Following {
        &FOLLOWING
    }

    fn horizon(&mut self) -> Result<i64, SqlError> {
        let statement = self.statement(HORIZON)?;
        let row = self.client.query_one(&statement, &[]).map_err(sql_error)?;
        row.try_get(0).map_err(sql_error)
    }
}
