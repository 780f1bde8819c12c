//! The floor on SQLite: durable like the product, and in line like it. Without a line SQLite's own polling makes the floor
//! several times slower, with waits of seconds: a floor that is easy to reach.

use std::path::{Path, PathBuf};

use anyhow::Result;
use handoff_core::ProjectId;
use handoff_files::Lock;
use rusqlite::{Connection, OptionalExtension as _, params};

use super::raw::{self, Found, Step};
use super::worker::Drainer;

pub(super) struct RawSqlite {
    connection: Connection,
    door: PathBuf,
    turnstile: PathBuf,
    project: String,
}

impl RawSqlite {
    pub(super) fn open(home: &Path, project: ProjectId) -> Result<Self> {
        let connection = Connection::open(home.join("handoff.db"))?;
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

    fn change(&self, found: &Found, step: Step) -> Result<()> {
        let mut change = self.connection.prepare_cached(step.sql())?;
        change.execute(params![step.task(), found.number])?;
        let mut append = self.connection.prepare_cached(raw::APPEND)?;
        let (id, project) = (&found.id, &self.project);
        append.execute(params![id, step.seq(), project, raw::key(), step.event()])?;
        Ok(())
    }
}

impl Drainer for RawSqlite {
    type Claimed = Found;

    fn claim(&mut self) -> Result<Option<Found>> {
        self.in_line(|it| {
            let mut find = it.connection.prepare_cached(raw::FIND)?;
            let found = find
                .query_row([&it.project], |row| {
                    row.get::<_, String>(2)?;
                    Ok(Found {
                        number: row.get(0)?,
                        id: row.get(1)?,
                    })
                })
                .optional()?;
            if let Some(found) = &found {
                it.change(found, Step::Claim)?;
            }
            Ok(found)
        })
    }

    fn complete(&mut self, found: Found) -> Result<()> {
        self.in_line(|it| {
            let mut look = it.connection.prepare_cached(raw::LOOK)?;
            look.query_row([&found.id], |row| row.get::<_, String>(0))?;
            it.change(&found, Step::Complete)
        })
    }
}
