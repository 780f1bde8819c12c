//! The floor on SQLite: in line like the product, durable like the product, and nothing more.

use std::path::{Path, PathBuf};

use anyhow::Result;
use handoff_core::ProjectId;
use handoff_files::Lock;
use rusqlite::{Connection, OptionalExtension as _, params};

use super::raw;
use super::worker::Drainer;

pub(super) const DATABASE: &str = "raw.db";

pub(super) struct RawSqlite {
    connection: Connection,
    door: PathBuf,
    turnstile: PathBuf,
    project: String,
}

impl RawSqlite {
    pub(super) fn open(home: &Path, project: ProjectId) -> Result<Self> {
        let connection = Connection::open(home.join(DATABASE))?;
        connection.pragma_update(None, "synchronous", "FULL")?;
        Ok(Self {
            connection,
            door: home.join("raw.door"),
            turnstile: home.join("raw.lock"),
            project: project.to_string(),
        })
    }

    fn in_line<T>(&mut self, work: impl FnOnce(&Self) -> Result<T>) -> Result<T> {
        let door = Lock::acquire(&self.door, "write")?;
        let _turn = Lock::acquire(&self.turnstile, "write")?;
        door.release();
        self.connection.execute_batch("BEGIN IMMEDIATE")?;
        let done = work(self)?;
        self.connection.execute_batch("COMMIT")?;
        Ok(done)
    }

    fn change(&self, number: i64, state: &str) -> Result<()> {
        let mut change = self.connection.prepare_cached(raw::CHANGE)?;
        change.execute(params![state, raw::task_body(), number])?;
        let mut append = self.connection.prepare_cached(raw::APPEND)?;
        append.execute(params![number, raw::event_body()])?;
        Ok(())
    }
}

impl Drainer for RawSqlite {
    type Claimed = i64;

    fn claim(&mut self) -> Result<Option<i64>> {
        self.in_line(|it| {
            let mut find = it.connection.prepare_cached(raw::FIND)?;
            let found = find
                .query_row([&it.project], |row| {
                    row.get::<_, String>(1)?;
                    row.get(0)
                })
                .optional()?;
            if let Some(number) = found {
                it.change(number, "leased")?;
            }
            Ok(found)
        })
    }

    fn complete(&mut self, number: i64) -> Result<()> {
        self.in_line(|it| {
            let mut look = it.connection.prepare_cached(raw::LOOK)?;
            look.query_row([number], |row| row.get::<_, String>(0))?;
            it.change(number, "done")
        })
    }
}
