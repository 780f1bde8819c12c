//! Where a store is, in a form that fits on a command line, and the state it is in.

use std::fmt;
use std::path::PathBuf;
use std::rc::Rc;
use std::str::FromStr;
use std::time::Duration;

use anyhow::{Context as _, Result, bail};
use handoff_core::{Cursor, Envelope, ProjectId, StoreId};
use handoff_process::{SystemClock, mint};
use handoff_store::events::{self, Following};
use handoff_store::postgres::PostgresStore;
use handoff_store::sqlite::{Ambient, SqliteStore};
use handoff_store::{Bell, Store, audit, read};

/// Where a store is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Door {
    Sqlite(PathBuf),
    Postgres(String),
}

impl Door {
    pub(super) fn open(&self) -> Result<Box<dyn Store>> {
        let fresh_id = StoreId::from_uuid(mint());
        Ok(match self {
            Self::Sqlite(home) => {
                let clock = Rc::new(SystemClock::read()?);
                Box::new(SqliteStore::open(home, Ambient { clock, fresh_id })?)
            }
            Self::Postgres(url) => Box::new(PostgresStore::connect(url.parse()?, fresh_id)?),
        })
    }

    /// Follows how many events there are.
    pub(super) fn watch(&self) -> Result<Watch> {
        let store = self.open()?;
        let bell = store.bell()?;
        Ok(Watch {
            store,
            bell,
            newest: Cursor::START,
            count: 0,
        })
    }

    /// What the file itself says about its pages; a server has no such question.
    pub(super) fn integrity_faults(&self) -> Result<Vec<String>> {
        let Self::Sqlite(home) = self else {
            return Ok(Vec::new());
        };
        let connection = rusqlite::Connection::open(home.join("handoff.db"))?;
        let mut check = connection.prepare("PRAGMA integrity_check")?;
        let lines: Vec<String> = check
            .query_map([], |row| row.get(0))?
            .collect::<Result<_, _>>()?;
        Ok(lines.into_iter().filter(|line| line != "ok").collect())
    }
}

impl fmt::Display for Door {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Sqlite(home) => write!(f, "sqlite:{}", home.display()),
            Self::Postgres(url) => f.write_str(url),
        }
    }
}

impl FromStr for Door {
    type Err = anyhow::Error;

    fn from_str(text: &str) -> Result<Self> {
        match text.strip_prefix("sqlite:") {
            Some(home) => Ok(Self::Sqlite(home.into())),
            None if text.starts_with("postgres:") => Ok(Self::Postgres(text.to_owned())),
            None => bail!("`{text}` leads to no store"),
        }
    }
}

/// How many events a store has, as they come.
pub(super) struct Watch {
    store: Box<dyn Store>,
    bell: Box<dyn Bell>,
    newest: Cursor,
    count: usize,
}

impl Watch {
    pub(super) fn count(&mut self) -> Result<usize> {
        let wanted = Following {
            since: self.newest,
            project: None,
            limit: 5_000,
        };
        let page = read(&mut *self.store, |tx| events::since(tx, wanted))?;
        self.newest = page.last().map_or(self.newest, |last| last.cursor);
        self.count += page.len();
        Ok(self.count)
    }

    /// Waits until there may be more, for a moment.
    pub(super) fn wait(&mut self) -> Result<()> {
        self.bell.wait(Duration::from_millis(50))?;
        Ok(())
    }
}

/// Everything a store holds, read by a process that starts afresh.
#[derive(Debug)]
pub(super) struct Ledger {
    pub(super) tasks: usize,
    pub(super) events: Vec<Envelope>,
    /// What audit and integrity check complain about.
    pub(super) faults: Vec<String>,
}

impl Ledger {
    pub(super) fn read(door: &Door) -> Result<Self> {
        let mut store = door.open().context("the store does not open")?;
        let audit = read(&mut *store, audit::audit)?;
        let mut faults: Vec<String> = audit.faults.iter().map(ToString::to_string).collect();
        faults.extend(door.integrity_faults()?);
        Ok(Self {
            tasks: audit.tasks,
            events: every_event(&mut *store)?,
            faults,
        })
    }
}

fn every_event(store: &mut dyn Store) -> Result<Vec<Envelope>> {
    const PAGE: u32 = 5_000;
    let mut all: Vec<Envelope> = Vec::new();
    loop {
        let wanted = Following {
            since: all.last().map_or(Cursor::START, |last| last.cursor),
            project: None,
            limit: PAGE,
        };
        let page = read(store, |tx| events::since(tx, wanted))?;
        if page.is_empty() {
            return Ok(all);
        }
        all.extend(page);
    }
}

/// A project that no repository has: most faults need none.
pub(super) fn fresh_project() -> ProjectId {
    ProjectId::from_uuid(mint())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::clerk::Clerk;
    use crate::history::Act;

    #[test]
    fn a_door_is_found_again_by_its_text() {
        for text in ["sqlite:/tmp/x y", "postgres:///db?host=/tmp"] {
            assert_eq!(text.parse::<Door>().unwrap().to_string(), text);
        }
        assert!("mysql:x".parse::<Door>().is_err());
    }

    #[test]
    fn a_row_changed_by_hand_is_a_fault() {
        let scratch = tempfile::tempdir().unwrap();
        let door = Door::Sqlite(scratch.path().join("home"));
        let history = scratch.path().join("history");
        let mut clerk = Clerk::open(&door, fresh_project(), &history).unwrap();
        let name = "one".to_owned();
        clerk.ask("k", &Act::Add { name }).unwrap();
        assert_eq!(Ledger::read(&door).unwrap().faults, [""; 0]);

        let file = scratch.path().join("home/handoff.db");
        let tamper = "UPDATE tasks SET body = replace(body, '\"fence\":0', '\"fence\":7')";
        let connection = rusqlite::Connection::open(file).unwrap();
        assert_eq!(connection.execute(tamper, []).unwrap(), 1);
        assert_eq!(Ledger::read(&door).unwrap().faults.len(), 1);
    }
}
