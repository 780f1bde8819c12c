//! A store of the product, opened as the product opens it.

use std::fmt;
use std::path::PathBuf;
use std::rc::Rc;
use std::str::FromStr;

use anyhow::{Context as _, Result, bail};
use handoff_core::lease::Ttl;
use handoff_core::task::{Command, TaskSpec};
use handoff_core::{Caller, IdempotencyKey, ProjectId, StoreId, Task, TaskId};
use handoff_process::{SystemClock, mint};
use handoff_store::Store;
use handoff_store::postgres::PostgresStore;
use handoff_store::queue::{Agents, Change, Request, TaskRef, TenureWish, submit};
use handoff_store::sqlite::{Ambient, SqliteStore};
use postgres::NoTls;
use rusqlite::Connection;

/// Where a store is, as a word on a command line: a directory, or a URL.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Place {
    Sqlite(PathBuf),
    Postgres(String),
}

impl FromStr for Place {
    type Err = std::convert::Infallible;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        Ok(if text.starts_with("postgres:") {
            Self::Postgres(text.to_owned())
        } else {
            Self::Sqlite(text.into())
        })
    }
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Sqlite(home) => fmt::Display::fmt(&home.display(), f),
            Self::Postgres(url) => f.write_str(url),
        }
    }
}

impl Place {
    /// The engine, as tables name it.
    pub(crate) fn engine(&self) -> &'static str {
        match self {
            Self::Sqlite(_) => "SQLite",
            Self::Postgres(_) => "PostgreSQL",
        }
    }

    /// Runs SQL behind the product's back.
    pub(crate) fn execute(&self, sql: &str) -> Result<()> {
        match self {
            Self::Sqlite(_) => self.file()?.execute_batch(sql)?,
            Self::Postgres(_) => self.server()?.batch_execute(sql)?,
        }
        Ok(())
    }

    /// The first column of what SQL finds.
    pub(crate) fn query(&self, sql: &str) -> Result<Vec<String>> {
        match self {
            Self::Sqlite(_) => {
                let file = self.file()?;
                let mut statement = file.prepare(sql)?;
                let rows = statement.query_map([], |row| row.get(0))?;
                Ok(rows.collect::<Result<_, _>>()?)
            }
            Self::Postgres(_) => {
                let rows = self.server()?.query(sql, &[])?;
                Ok(rows.iter().map(|row| row.get(0)).collect())
            }
        }
    }

    fn file(&self) -> Result<Connection> {
        let Self::Sqlite(home) = self else {
            bail!("{self} is no file");
        };
        Ok(Connection::open(home.join("handoff.db"))?)
    }

    fn server(&self) -> Result<postgres::Client> {
        let mut client = postgres::Client::connect(&self.to_string(), NoTls)?;
        client.batch_execute("SET search_path = handoff")?;
        Ok(client)
    }
}

/// An open store, and the project of it that is measured.
pub(crate) struct Ledger {
    pub(crate) store: Box<dyn Store>,
    pub(crate) project: ProjectId,
}

impl Ledger {
    pub(crate) fn open(place: &Place, project: ProjectId) -> Result<Self> {
        let fresh_id = StoreId::from_uuid(mint());
        let store: Box<dyn Store> = match place {
            Place::Sqlite(home) => {
                let clock = Rc::new(SystemClock::read()?);
                Box::new(SqliteStore::open(home, Ambient { clock, fresh_id })?)
            }
            Place::Postgres(url) => Box::new(PostgresStore::connect(url.parse()?, fresh_id)?),
        };
        Ok(Self { store, project })
    }

    pub(crate) fn add(&mut self, name: &str, brief: &str) -> Result<Task> {
        let spec = TaskSpec::new(name.parse()?, brief.parse()?);
        let change = Change::Add {
            id: TaskId::from_uuid(mint()),
            project: self.project,
            spec,
        };
        self.submit(change)?.context("a task was added")
    }

    pub(crate) fn claim(&mut self) -> Result<Option<Task>> {
        self.submit(Change::ClaimNext {
            project: self.project,
            tenure: timed(),
            agents: Agents::default(),
        })
    }

    pub(crate) fn claim_this(&mut self, task: &Task) -> Result<Task> {
        let change = Change::Claim {
            task: TaskRef::Id(task.id),
            tenure: timed(),
        };
        self.submit(change)?.context("a task was claimed")
    }

    pub(crate) fn tell(&mut self, task: &Task, command: Command) -> Result<Task> {
        let change = Change::Tell {
            task: TaskRef::Id(task.id),
            command,
        };
        self.submit(change)?.context("a task was told")
    }

    fn submit(&mut self, change: Change) -> Result<Option<Task>> {
        let key: IdempotencyKey = mint().simple().to_string().parse()?;
        let request = Request {
            by: Caller::Person,
            key,
            change,
        };
        Ok(submit(&mut *self.store, &request)?.answer.into_task())
    }
}

/// What every claimer says when it is done.
pub(crate) fn complete(task: &Task) -> Command {
    Command::Complete {
        fence: Some(task.fence),
        summary: None,
    }
}

fn timed() -> TenureWish {
    TenureWish::Timed {
        ttl: Ttl::default(),
    }
}
