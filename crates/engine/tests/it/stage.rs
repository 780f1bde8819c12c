//! A ledger, a repository, and a workshop that has both.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};
use std::rc::Rc;
use std::time::Duration;

use handoff_core::task::{Command, Dependency, TaskSpec, Until};
use handoff_core::{
    Caller, Event, IdempotencyKey, Ownership, ProjectId, StoreId, StreamId, Task, TaskEvent, TaskId,
};
use handoff_engine::{
    Attempt, EngineError, PackageRules, Places, Walked, Workshop, reconcile, walk_next,
};
use handoff_git::{Git, Repository};
use handoff_store::queue::{Change, Request, TaskRef, submit};
use handoff_store::sqlite::{Ambient, SqliteStore};
use handoff_store::{Store as _, audit, events, read, tasks};
use handoff_testkit::{GitRepo, ManualClock, TestEnv};

use crate::holder::Shell;

pub(crate) struct Stage {
    pub(crate) env: TestEnv,
    pub(crate) repo: GitRepo,
    pub(crate) store: SqliteStore,
    pub(crate) project: ProjectId,
    pub(crate) places: Places,
    pub(crate) rules: PackageRules,
    pub(crate) stock: std::sync::Arc<handoff_engine::Stock>,
    repository: Repository,
    clock: Rc<ManualClock>,
}

impl Stage {
    pub(crate) fn new() -> Self {
        let env = TestEnv::without_binary();
        let repo = env.repo("repo");
        let repository = Repository::discover(repo.path()).unwrap();
        let clock = Rc::new(ManualClock::default());
        let store = open(&env, &clock);
        let places = Places::new(env.handoff_home());
        let project = ProjectId::from_uuid(handoff_process::mint());
        Self {
            env,
            repo,
            store,
            project,
            places,
            rules: PackageRules::default(),
            stock: std::sync::Arc::new(handoff_engine::Stock::leaving(0)),
            repository,
            clock,
        }
    }

    /// Lets time pass, without waiting for it.
    pub(crate) fn pass(&self, span: Duration) {
        self.clock.pass(span);
    }

    /// What a process finds that starts now.
    pub(crate) fn restart(&mut self) {
        self.store = open(&self.env, &self.clock);
    }

    pub(crate) fn environment(&self) -> BTreeMap<OsString, OsString> {
        let command = self.env.command("git");
        let variables = command
            .get_envs()
            .filter_map(|(name, value)| Some((name, value?)));
        variables
            .map(|(name, value)| (name.to_owned(), value.to_owned()))
            .collect()
    }

    pub(crate) fn git(&self) -> Git {
        Git::new(self.environment())
    }

    pub(crate) fn repository(&self) -> &Repository {
        &self.repository
    }

    pub(crate) fn workshop(&mut self) -> Workshop<'_> {
        let (git, environment) = (self.git(), self.environment());
        Workshop {
            store: &mut self.store,
            project: self.project,
            repository: &self.repository,
            git,
            clock: &*self.clock,
            places: self.places.clone(),
            environment,
            rules: self.rules.clone(),
            batch_rules: handoff_core::batch::Rules::default(),
            checks: handoff_engine::CheckPolicy::default(),
            stock: std::sync::Arc::clone(&self.stock),
        }
    }

    pub(crate) fn add(&mut self, spec: TaskSpec) -> Task {
        let change = Change::Add {
            id: TaskId::from_uuid(handoff_process::mint()),
            project: self.project,
            spec,
        };
        self.submit(Caller::Person, change)
    }

    pub(crate) fn tell(&mut self, task: &Task, command: Command) -> Task {
        let task = TaskRef::Id(task.id);
        self.submit(Caller::Worker, Change::Tell { task, command })
    }

    #[track_caller]
    pub(crate) fn submit(&mut self, by: Caller, change: Change) -> Task {
        let key: IdempotencyKey = handoff_process::mint().to_string().parse().unwrap();
        let request = Request { by, key, change };
        let answer = submit(&mut self.store, &request).unwrap().answer;
        answer.into_task().expect("it is about a task")
    }

    /// Lets an agent that is this shell script take the next task.
    #[track_caller]
    pub(crate) fn walk(&mut self, agent: &str) -> Walked {
        self.try_walk(agent).unwrap().expect("a task is ready")
    }

    pub(crate) fn try_walk(&mut self, agent: &str) -> Result<Option<Walked>, EngineError> {
        let script = self.env.work().join("agent.sh");
        fs::write(&script, agent).unwrap();
        let shell = Shell {
            home: self.env.handoff_home(),
            script,
            environment: self.environment(),
        };
        let mut workshop = self.workshop();
        reconcile::all(&mut workshop)?;
        walk_next(&mut workshop, &shell)
    }

    pub(crate) fn task(&mut self, id: TaskId) -> Task {
        read(&mut self.store, |tx| tasks::get(tx, id)).unwrap()
    }

    /// What happened to a task, and by whom.
    pub(crate) fn history(&mut self, task: &Task) -> Vec<TaskEvent> {
        let stream = StreamId::Task(task.id);
        let events = read(&mut self.store, |tx| events::history(tx, stream, u64::MAX)).unwrap();
        let task_event = |event| match event {
            Event::Task(event) => event,
            Event::Hold(_)
            | Event::Run(_)
            | Event::Feature(_)
            | Event::Package(_)
            | Event::Context(_)
            | Event::Batch(_)
            | Event::Repository(_) => {
                panic!("a task has no such event")
            }
        };
        events.into_iter().map(|it| task_event(it.event)).collect()
    }

    /// The branch of an attempt, if it is there.
    pub(crate) fn branch(&self, task: &Task) -> Option<String> {
        self.repo
            .resolve(&format!("refs/heads/{}", Attempt::of(task).branch(task)))
    }

    /// What was saved of an attempt that came to nothing.
    pub(crate) fn quarantined(&self, task: &Task) -> Option<String> {
        let label = Attempt::of(task).label(task);
        self.repo
            .resolve(&format!("refs/handoff/quarantine/{label}"))
    }

    pub(crate) fn worktree(&self, task: &Task) -> PathBuf {
        self.places.worktree(self.project, Attempt::of(task))
    }

    /// Checks what must be true after every walk and every repair.
    #[track_caller]
    pub(crate) fn assert_sound(&mut self) {
        let audit = read(&mut self.store, audit::audit).unwrap();
        assert_eq!(audit.faults, []);
        assert_eq!(
            names(&self.places.worktrees(self.project)),
            Vec::<String>::new()
        );
        assert_eq!(self.repo.git(["worktree", "list"]).lines().count(), 1);
        self.repo.fsck();
    }
}

fn open(env: &TestEnv, clock: &Rc<ManualClock>) -> SqliteStore {
    let ambient = Ambient {
        clock: Rc::clone(clock) as _,
        fresh_id: StoreId::from_uuid(handoff_process::mint()),
    };
    let store = SqliteStore::open(&env.handoff_home(), ambient).unwrap();
    assert_eq!(store.info().kind.to_string(), "sqlite");
    store
}

/// The names in a directory; none when it is not there.
pub(crate) fn names(path: &Path) -> Vec<String> {
    let Ok(entries) = fs::read_dir(path) else {
        return vec![];
    };
    entries
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect()
}

pub(crate) fn spec(name: &str) -> TaskSpec {
    TaskSpec::new(
        name.parse().unwrap(),
        format!("Do {name}.").parse().unwrap(),
    )
}

pub(crate) fn verified(name: &str, command: &str) -> TaskSpec {
    TaskSpec {
        verify: Some(command.parse().unwrap()),
        ..spec(name)
    }
}

pub(crate) fn owning(name: &str, pattern: &str) -> TaskSpec {
    TaskSpec {
        owns: Some(Ownership::new(vec![pattern.parse().unwrap()]).unwrap()),
        ..spec(name)
    }
}

pub(crate) fn after(name: &str, task: &Task) -> TaskSpec {
    TaskSpec {
        after: vec![Dependency {
            task: task.id,
            until: Until::Done,
        }],
        ..spec(name)
    }
}
