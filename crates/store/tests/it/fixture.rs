//! A store to test, and the words to test it with.

use std::path::{Path, PathBuf};
use std::rc::Rc;
use std::time::Duration;

use handoff_core::lease::Ttl;
use handoff_core::task::{Command, Dependency, TaskSpec};
use handoff_core::{Caller, Fence, IdempotencyKey, ProjectId, StoreId, Task, TaskId};
use handoff_store::postgres::PostgresStore;
use handoff_store::queue::{Agents, Change, Receipt, Request, TaskRef, TenureWish, submit};
use handoff_store::sqlite::{Ambient, SqliteStore};
use handoff_store::{Store, StoreError, audit, read};
use handoff_testkit::postgres::Database;
use handoff_testkit::{ManualClock, postgres};
use tempfile::TempDir;
use uuid::Uuid;

/// How long a lease lasts. No test takes as long, however slow the machine is: one runs out when [`Fixture::pass`] says so.
pub(crate) const TTL: Duration = Duration::from_mins(10);

/// Where the same store can be opened again.
pub(crate) enum Place {
    Sqlite {
        home: TempDir,
        clock: Rc<ManualClock>,
    },
    Postgres {
        database: Database,
    },
}

pub(crate) struct Fixture {
    pub(crate) place: Place,
    pub(crate) store: Box<dyn Store>,
    pub(crate) project: ProjectId,
}

/// What another thread needs to open the same store.
#[derive(Clone)]
pub(crate) enum Door {
    Sqlite(PathBuf),
    Postgres(String),
}

impl Door {
    pub(crate) fn open(&self) -> Box<dyn Store> {
        match self {
            Self::Sqlite(home) => open_sqlite(home, Rc::new(ManualClock::default())),
            Self::Postgres(url) => open_postgres(url),
        }
    }
}

fn open_sqlite(home: &Path, clock: Rc<ManualClock>) -> Box<dyn Store> {
    Box::new(
        SqliteStore::open(
            home,
            Ambient {
                clock,
                fresh_id: fresh_id(),
            },
        )
        .unwrap(),
    )
}

fn open_postgres(url: &str) -> Box<dyn Store> {
    Box::new(PostgresStore::connect(url.parse().unwrap(), fresh_id()).unwrap())
}

pub(crate) fn fresh_id() -> StoreId {
    StoreId::from_uuid(uuid())
}

pub(crate) fn uuid() -> Uuid {
    use std::sync::atomic::{AtomicU64, Ordering};
    static NEXT: AtomicU64 = AtomicU64::new(1);
    Uuid::from_u64_pair(0x7000, NEXT.fetch_add(1, Ordering::Relaxed))
}

impl Fixture {
    pub(crate) fn sqlite() -> Self {
        let home = tempfile::tempdir().unwrap();
        let clock = Rc::new(ManualClock::default());
        let store = open_sqlite(home.path(), Rc::clone(&clock));
        Self::at(Place::Sqlite { home, clock }, store)
    }

    pub(crate) fn postgres() -> Option<Self> {
        let database = postgres::fresh_database()?;
        let store = open_postgres(database.url());
        Some(Self::at(Place::Postgres { database }, store))
    }

    fn at(place: Place, store: Box<dyn Store>) -> Self {
        Self {
            place,
            store,
            project: ProjectId::from_uuid(uuid()),
        }
    }

    pub(crate) fn door(&self) -> Door {
        match &self.place {
            Place::Sqlite { home, .. } => Door::Sqlite(home.path().to_owned()),
            Place::Postgres { database } => Door::Postgres(database.url().to_owned()),
        }
    }

    /// The same store, opened by another process as it were.
    pub(crate) fn again(&self) -> Box<dyn Store> {
        match &self.place {
            Place::Sqlite { home, clock } => open_sqlite(home.path(), Rc::clone(clock)),
            Place::Postgres { database } => open_postgres(database.url()),
        }
    }

    /// Lets time pass, without waiting for it.
    pub(crate) fn pass(&self, span: Duration) {
        match &self.place {
            Place::Sqlite { clock, .. } => clock.pass(span),
            Place::Postgres { database } => database.pass(span).unwrap(),
        }
    }

    pub(crate) fn submit(&mut self, change: Change) -> Result<Receipt, StoreError> {
        submit(&mut *self.store, &request(change))
    }

    pub(crate) fn add(&mut self, spec: TaskSpec) -> Task {
        let change = self.adding(spec);
        task_of(self.submit(change).unwrap())
    }

    pub(crate) fn adding(&self, spec: TaskSpec) -> Change {
        Change::Add {
            id: TaskId::from_uuid(uuid()),
            project: self.project,
            spec,
        }
    }

    pub(crate) fn claiming(&self) -> Change {
        claim_next(self.project)
    }

    pub(crate) fn claim(&mut self) -> Option<Task> {
        let change = self.claiming();
        self.submit(change).unwrap().answer.into_task()
    }

    pub(crate) fn tell(&mut self, task: &Task, command: Command) -> Result<Task, StoreError> {
        self.submit(tell(task, command)).map(task_of)
    }

    pub(crate) fn complete(&mut self, task: &Task) -> Result<Task, StoreError> {
        self.tell(task, complete(task.fence))
    }

    pub(crate) fn audit(&mut self) -> audit::Audit {
        read(&mut *self.store, audit::audit).unwrap()
    }
}

pub(crate) fn claim_next(project: ProjectId) -> Change {
    let ttl = Ttl::new(TTL).unwrap();
    let tenure = TenureWish::Timed { ttl };
    let agents = Agents::default();
    Change::ClaimNext {
        project,
        tenure,
        agents,
    }
}

pub(crate) fn complete(fence: Fence) -> Command {
    Command::Complete {
        fence: Some(fence),
        summary: None,
    }
}

pub(crate) fn tell(task: &Task, command: Command) -> Change {
    Change::Tell {
        task: TaskRef::Id(task.id),
        command,
    }
}

pub(crate) fn request(change: Change) -> Request {
    let key: IdempotencyKey = format!("k-{}", uuid().simple()).parse().unwrap();
    Request {
        by: Caller::Person,
        key,
        change,
    }
}

pub(crate) fn task_of(receipt: Receipt) -> Task {
    receipt.answer.into_task().expect("it is about a task")
}

pub(crate) fn spec(name: &str) -> TaskSpec {
    TaskSpec::new(name.parse().unwrap(), "do it".parse().unwrap())
}

pub(crate) fn after(name: &str, after: Vec<Dependency>) -> TaskSpec {
    TaskSpec {
        after,
        ..spec(name)
    }
}

pub(crate) fn owning(name: &str, pattern: &str) -> TaskSpec {
    let patterns = vec![pattern.parse().unwrap()];
    TaskSpec {
        owns: Some(handoff_core::Ownership::new(patterns).unwrap()),
        ..spec(name)
    }
}
