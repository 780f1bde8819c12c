//! The store as callers hold it: transactions, and a bell that rings when something may have changed.

use std::fmt;
use std::time::Duration;

use handoff_core::{Now, StoreId};

use crate::audit::Fault;
use crate::error::StoreError;
use crate::sql::{Act, Row, RowLock, Sql, Value};

/// An open ledger. Two implementations: [`crate::sqlite::SqliteStore`] and
/// [`crate::postgres::PostgresStore`].
pub trait Store {
    /// What this store is.
    fn info(&self) -> &StoreInfo;

    /// Runs `work` in one transaction. It may run more than once, and only the last time counts:
    /// it must not do anything that a rollback cannot take back.
    ///
    /// An error of `work` undoes everything. [`StoreError::OutcomeUnknown`] is only ever returned from here.
    fn transaction(
        &mut self,
        mode: Mode,
        work: &mut dyn FnMut(&mut Transaction<'_>) -> Result<(), StoreError>,
    ) -> Result<(), StoreError>;

    /// What was acknowledged and is not there any more, as far as somebody noted it elsewhere. A server sees to that itself.
    fn lost(&mut self) -> Result<Option<Fault>, StoreError> {
        Ok(None)
    }

    /// A bell to wait on. Take it before looking at what you wait for.
    fn bell(&self) -> Result<Box<dyn Bell>, StoreError>;
}

/// Whether a transaction changes anything.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Mode {
    /// It only looks. Each statement sees what was committed before it.
    Read,
    /// It may change things, durably.
    Write,
}

/// What a store is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StoreInfo {
    /// Its identity, kept in itself.
    pub id: StoreId,
    /// Which engine.
    pub kind: StoreKind,
    /// Where it is, without any password.
    pub location: String,
    /// The engine's own version.
    pub engine: String,
    /// The version of our schema.
    pub schema: i64,
}

/// Which engine a store runs on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum StoreKind {
    /// Embedded.
    Sqlite,
    /// A server.
    Postgres,
}

impl fmt::Display for StoreKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Sqlite => "sqlite",
            Self::Postgres => "postgres",
        })
    }
}

/// Rings when something may have changed, also when the process that changed it was killed right afterwards.
pub trait Bell {
    /// Waits for a ring that came after the last one heard, at most for `patience`.
    fn wait(&mut self, patience: Duration) -> Result<Ring, StoreError>;
}

/// How waiting for the bell ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Ring {
    /// It rang: look again.
    Rung,
    /// It did not.
    Silent,
}

/// A transaction in progress, with the time it has.
pub struct Transaction<'a> {
    pub(crate) sql: &'a mut dyn Sql,
    /// The time of everything in it; leases run on this clock and no other.
    ///
    /// `wall` is that of the beginning, for all events of a transaction. `moment` is read again under each lock: a decision about
    /// a lease must not be older than the lock that it was made under, or a lease is granted before the one before it ends.
    pub now: Now,
}

impl Transaction<'_> {
    pub(crate) fn execute(&mut self, sql: &str, values: &[Value]) -> Result<u64, StoreError> {
        Ok(self.sql.execute(sql, values)?)
    }

    pub(crate) fn execute_all(&mut self, acts: &[Act]) -> Result<Vec<u64>, StoreError> {
        Ok(self.sql.execute_all(acts)?)
    }

    pub(crate) fn query(
        &mut self,
        sql: &str,
        values: &[Value],
        lock: RowLock,
    ) -> Result<Vec<Row>, StoreError> {
        let rows = self.sql.query(sql, values, lock)?;
        self.catch_up();
        Ok(rows)
    }

    /// See [`Sql::line_up`].
    pub(crate) fn line_up(&mut self, project: &str) -> Result<(), StoreError> {
        self.sql.line_up(project)?;
        self.catch_up();
        Ok(())
    }

    /// A server whose clock is set back does not take a decision back.
    fn catch_up(&mut self) {
        if let Some(moment) = self.sql.moment_under_lock()
            && moment.elapsed > self.now.moment.elapsed
        {
            self.now.moment = moment;
        }
    }
}

/// Looks.
pub fn read<T>(
    store: &mut dyn Store,
    mut work: impl FnMut(&mut Transaction<'_>) -> Result<T, StoreError>,
) -> Result<T, StoreError> {
    run(store, Mode::Read, &mut work)
}

/// Changes things in one transaction.
pub(crate) fn write<T>(
    store: &mut dyn Store,
    mut work: impl FnMut(&mut Transaction<'_>) -> Result<T, StoreError>,
) -> Result<T, StoreError> {
    run(store, Mode::Write, &mut work)
}

fn run<T>(
    store: &mut dyn Store,
    mode: Mode,
    work: &mut dyn FnMut(&mut Transaction<'_>) -> Result<T, StoreError>,
) -> Result<T, StoreError> {
    let mut answer = None;
    store.transaction(mode, &mut |tx| {
        answer = Some(work(tx)?);
        Ok(())
    })?;
    Ok(answer.expect("a transaction that succeeds has run its work"))
}
