//! The project that a command works at: an open store, the project one stands in, and who is asking.

use std::path::Path;
use std::sync::Arc;

use handoff_api::{ExitCode, TaskDocument};
use handoff_core::batch::Rules;
use handoff_core::task::View;
use handoff_core::time::Clock;
use handoff_core::{
    AgentName, Batch, BatchId, Caller, Fence, HoldScope, IdempotencyKey, Moment, Now, ProjectId,
    ProjectMark, Rest, Run, RunId, SessionId, Task, TaskId,
};
use handoff_engine::{Depot, Places, Workshop, reconcile, without_secrets};
use handoff_git::{Git, MarkError, Repository};
use handoff_session::environment;
use handoff_store::queue::{BatchRef, Change, Receipt, Request, RunRef, TaskRef, rehearse, submit};
use handoff_store::{Store, StoreError, batches, holds, read, runs, tasks};

pub use crate::caller::{caller, require_person};
use crate::failure::{Failure, repeat_with};
use crate::sandbox_policy;
use crate::workplace::{Workplace, fresh_key};

/// An open store, the project one stands in, and who is asking.
pub struct Project {
    pub store: Box<dyn Store>,
    pub id: ProjectId,
    pub repository: Repository,
    pub caller: Caller,
    places: Places,
}

impl Project {
    /// For a command that changes things: a repository without a project becomes one.
    pub fn open(here: &Workplace) -> Result<Self, Failure> {
        let (repository, caller) = (discover(here)?, caller(&here.ambient)?);
        finish_commits(here, &repository)?;
        let store = here.open_store()?;
        let mark = match read_mark(&repository)? {
            Some(mark) => mark,
            None => make_mark(&repository, &*store)?,
        };
        Self::at(store, mark, repository, caller, here)
    }

    /// For a command that only looks: a repository that is no project yet stays as it is.
    pub fn peek(here: &Workplace) -> Result<Option<Self>, Failure> {
        let repository = discover(here)?;
        let Some(mark) = read_mark(&repository)? else {
            return Ok(None);
        };
        let caller = caller(&here.ambient)?;
        Self::at(here.open_store()?, mark, repository, caller, here).map(Some)
    }

    fn at(
        store: Box<dyn Store>,
        mark: ProjectMark,
        repository: Repository,
        caller: Caller,
        here: &Workplace,
    ) -> Result<Self, Failure> {
        let info = store.info();
        if mark.store != info.id {
            return Err(Failure::new(
                ExitCode::Conflict,
                format!(
                    "the tasks of this repository are in {}, but the store in use is {} at {}",
                    mark.store, info.id, info.location
                ),
            )
            .hint(
                "set HANDOFF_HOME or HANDOFF_STORE to what was used when the first task was added",
            ));
        }
        Ok(Self {
            store,
            id: mark.project,
            repository,
            caller,
            places: Places::new(here.home()?),
        })
    }

    /// Sends a change, with the key given or a new one. What a dead session left behind is put right first.
    pub fn submit(
        &mut self,
        change: Change,
        key: Option<IdempotencyKey>,
    ) -> Result<Recorded, Failure> {
        reconcile::lost_holders(&mut *self.store, &self.places).map_err(Failure::from)?;
        self.undo_broken_pauses();
        let given = key.unwrap_or_else(fresh_key);
        let request = Request {
            by: self.caller.clone(),
            key: given.in_project(self.id),
            change,
        };
        match submit(&mut *self.store, &request) {
            Ok(receipt) => Ok(Recorded {
                receipt,
                key: given,
            }),
            Err(error @ StoreError::OutcomeUnknown { .. }) => {
                Err(Failure::from(error).hint(repeat_with(given.as_str())))
            }
            Err(StoreError::KeyReused { .. }) => Err(StoreError::KeyReused { key: given }.into()),
            Err(error) => Err(error.into()),
        }
    }

    /// What would come of a change. Nothing is put right first: a dry run writes nothing.
    pub fn rehearse(
        &mut self,
        change: Change,
        key: Option<IdempotencyKey>,
    ) -> Result<Receipt, Failure> {
        let request = Request {
            by: self.caller.clone(),
            key: key.unwrap_or_else(fresh_key).in_project(self.id),
            change,
        };
        Ok(rehearse(&mut *self.store, &request)?)
    }

    /// What somebody was pausing who died goes on. If that cannot be undone now, it is no reason to refuse something else:
    /// whoever comes next tries again.
    pub fn undo_broken_pauses(&mut self) {
        reconcile::broken_pauses(&mut *self.store, self.id, &self.places).ok();
    }

    /// Where packages are sealed, kept and found.
    pub fn depot(&mut self) -> Depot<'_> {
        Depot::new(&mut *self.store, self.id, &self.places)
    }

    /// What a name or an id on the command line means.
    pub fn task_ref(&self, text: &str) -> Result<TaskRef, Failure> {
        if text.starts_with(TaskId::PREFIX)
            && let Ok(id) = text.parse()
        {
            return Ok(TaskRef::Id(id));
        }
        let name = text.parse().map_err(|error| {
            Failure::usage(format!("{text:?} is not the name of a task")).because(&error)
        })?;
        Ok(TaskRef::Named {
            project: self.id,
            name,
        })
    }

    /// What the name or the id of a batch on the command line means.
    pub fn batch_ref(&self, text: &str) -> Result<BatchRef, Failure> {
        if text.starts_with(BatchId::PREFIX)
            && let Ok(id) = text.parse()
        {
            return Ok(BatchRef::Id(id));
        }
        let name = text.parse().map_err(|error| {
            Failure::usage(format!("{text:?} is not the name of a batch")).because(&error)
        })?;
        Ok(BatchRef::Named {
            project: self.id,
            name,
        })
    }

    /// The batch that a name or an id on the command line means.
    pub fn batch(&mut self, text: &str) -> Result<Batch, Failure> {
        let batch = self.batch_ref(text)?;
        Ok(read(&mut *self.store, |tx| match &batch {
            BatchRef::Id(id) => batches::get(tx, *id),
            BatchRef::Named { project, name } => batches::named(tx, *project, name),
        })?)
    }

    /// What the name or the id of a run on the command line means.
    pub fn run_ref(&self, text: &str) -> Result<RunRef, Failure> {
        if text.starts_with(RunId::PREFIX)
            && let Ok(id) = text.parse()
        {
            return Ok(RunRef::Id(id));
        }
        let name = text.parse().map_err(|error| {
            Failure::usage(format!("{text:?} is not the name of a run")).because(&error)
        })?;
        Ok(RunRef::Named {
            project: self.id,
            name,
        })
    }

    /// The run that a name or an id on the command line means.
    pub fn run(&mut self, text: &str) -> Result<Run, Failure> {
        let run = self.run_ref(text)?;
        Ok(read(&mut *self.store, |tx| match &run {
            RunRef::Id(id) => runs::get(tx, *id),
            RunRef::Named { project, name } => runs::named(tx, *project, name),
        })?)
    }

    /// Where the state of this machine is kept.
    pub const fn places(&self) -> &Places {
        &self.places
    }

    /// The task that a name or an id on the command line means.
    pub fn task(&mut self, text: &str) -> Result<Task, Failure> {
        let task = self.task_ref(text)?;
        self.find(&task)
    }

    /// The task that is meant.
    pub fn find(&mut self, task: &TaskRef) -> Result<Task, Failure> {
        Ok(read(&mut *self.store, |tx| match task {
            TaskRef::Id(id) => tasks::get(tx, *id),
            TaskRef::Named { project, name } => tasks::named(tx, *project, name),
        })?)
    }

    /// What keeps ready tasks of this project waiting; `usual` is the agent of those that ask for none.
    pub fn rests(&mut self, usual: Option<&AgentName>) -> Result<Vec<Rest>, Failure> {
        let project = self.id;
        let resting = read(&mut *self.store, |tx| tasks::resting(tx, project, usual))?;
        Ok(resting.into_iter().filter_map(|it| it.rest).collect())
    }

    /// What the engine needs to work on this project.
    pub fn workshop<'a>(
        &'a mut self,
        here: &Workplace,
        clock: &'a dyn Clock,
    ) -> Result<Workshop<'a>, Failure> {
        let environment = without_secrets(here.ambient.environment.clone());
        Ok(Workshop {
            store: &mut *self.store,
            project: self.id,
            repository: &self.repository,
            git: Git::new(environment.clone()),
            clock,
            places: self.places.clone(),
            environment,
            rules: here.config()?.package.rules(),
            batch_rules: batch_rules(here)?,
            checks: sandbox_policy::check_policy(&self.repository, here)?,
            stock: Arc::default(),
        })
    }

    /// A task as it looks now. It was read or changed already: what cannot be found out about holds and holders must not
    /// make a success look like a failure.
    pub fn document(&mut self, task: &Task, now: &Moment) -> TaskDocument {
        let scopes = HoldScope::over_task(task);
        let held = read(&mut *self.store, |tx| holds::in_force(tx, &scopes));
        let lost = self.lost().unwrap_or_default();
        let is_held_above = matches!(held, Ok(Some(_)));
        TaskDocument::of(
            task,
            View {
                now,
                is_held_above,
                lost: &lost,
            },
        )
    }

    /// The sessions whose holder is dead, though a task still names them.
    pub fn lost(&mut self) -> Result<Vec<SessionId>, Failure> {
        let dead = reconcile::dead_holders(&mut *self.store, &self.places)?;
        Ok(dead.into_iter().map(|(_, session)| session).collect())
    }

    /// The time on the clock that leases run on.
    pub fn now(&mut self) -> Result<Now, Failure> {
        Ok(read(&mut *self.store, |tx| Ok(tx.now.clone()))?)
    }
}

/// What a batch is to be like here, with the agents that there are.
pub fn batch_rules(here: &Workplace) -> Result<Rules, Failure> {
    Ok(Rules {
        agents: Some(crate::agent_catalogue::names(here)?),
        ..here.config()?.batch.rules()
    })
}

/// A change that is recorded.
pub struct Recorded {
    pub receipt: Receipt,
    /// The key as the caller knows it.
    pub key: IdempotencyKey,
}

impl Recorded {
    /// The answer could not be told.
    #[must_use]
    pub fn untold(&self, failure: Failure) -> Failure {
        failure.after_change(Some(self.key.as_str()))
    }
}

/// A commit that was interrupted is put right by whoever comes next. If that cannot be done now, it is no reason to refuse
/// something else: the one after us tries again, and `safe-commit` says why.
fn finish_commits(here: &Workplace, repository: &Repository) -> Result<(), Failure> {
    let git = here.git(repository);
    let now = here.clock()?.now().wall;
    reconcile::unfinished_commits(&git, repository, now).ok();
    Ok(())
}

/// The project that one stands in; none if it is no project yet.
pub fn project_here(here: &Workplace) -> Result<Option<ProjectId>, Failure> {
    let mark = read_mark(&discover(here)?)?;
    Ok(mark.map(|mark| mark.project))
}

/// The project of the repository that a directory lies in; none if it is no project yet.
pub fn project_at(directory: &Path) -> Result<Option<ProjectId>, Failure> {
    let mark = read_mark(&discover_from(directory)?)?;
    Ok(mark.map(|mark| mark.project))
}

/// The same for a command that begins something there: the repository becomes a project if it is none.
pub fn ensure_project(directory: &Path, here: &Workplace) -> Result<ProjectId, Failure> {
    let repository = discover_from(directory)?;
    let mark = match read_mark(&repository)? {
        Some(mark) => mark,
        None => make_mark(&repository, &*here.open_store()?)?,
    };
    Ok(mark.project)
}

/// The top of the working tree that one stands in.
pub fn worktree_root(here: &Workplace) -> Result<std::path::PathBuf, Failure> {
    let repository = discover(here)?;
    let root = repository.worktree_root().map(Path::to_owned);
    root.ok_or_else(|| Failure::failed("this repository has no working tree"))
}

fn make_mark(repository: &Repository, store: &dyn Store) -> Result<ProjectMark, Failure> {
    let mark = ProjectMark {
        project: ProjectId::from_uuid(handoff_process::mint()),
        store: store.info().id,
    };
    repository
        .write_mark(&mark)
        .map_err(|error| unmarked(&error))
}

pub fn discover(here: &Workplace) -> Result<Repository, Failure> {
    let Some(tree) = &here.tree else {
        return discover_here(here);
    };
    let repository = discover_from(&tree.common_dir)?;
    repository.linked_at(&tree.root).ok_or_else(|| {
        let text = format!("`{}` is no worktree any more", tree.root.display());
        Failure::new(ExitCode::NotFound, text)
    })
}

/// Most commands look more than once, and it takes as many system calls as there are directories above us.
fn discover_here(here: &Workplace) -> Result<Repository, Failure> {
    if let Some(known) = here.repository.get() {
        return Ok(known.clone());
    }
    let found = discover_from(here.cwd()?)?;
    Ok(here.repository.get_or_init(|| found).clone())
}

pub fn discover_from(directory: &Path) -> Result<Repository, Failure> {
    Repository::discover(directory).map_err(|error| {
        Failure::new(ExitCode::NotFound, "there is no git repository here")
            .because(&error)
            .hint("change to a repository, or make one with `git init`")
    })
}

fn read_mark(repository: &Repository) -> Result<Option<ProjectMark>, Failure> {
    repository.read_mark().map_err(|error| unmarked(&error))
}

fn unmarked(error: &MarkError) -> Failure {
    let code = match error {
        MarkError::Damaged(..) => ExitCode::Damaged,
        MarkError::Read(_) | MarkError::Place(_) | MarkError::Write(_) | MarkError::Vanished(_) => {
            ExitCode::Unavailable
        }
    };
    Failure::new(code, "cannot tell which project this repository is").because(error)
}

/// The fence on the command line, else the one that a session was started with.
pub fn fence(here: &Workplace, given: Option<u64>) -> Option<Fence> {
    let inherited = || {
        here.ambient
            .text(environment::FENCE)
            .and_then(|text| text.parse().ok())
    };
    given.or_else(inherited).map(Fence::new)
}
