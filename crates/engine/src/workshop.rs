//! What the engine works with: the store, the repository, the places, and the environment for what it starts.

use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};
use std::sync::Arc;
use std::time::Duration;

use handoff_core::batch::Rules;
use handoff_core::lease::Ttl;
use handoff_core::package::{PackageKind, PackageStanding};
use handoff_core::task::{Command, Evidence, Part, VerifyCommand};
use handoff_core::time::Clock;
use handoff_core::{
    BatchId, BranchName, Caller, CommitId, IdempotencyKey, ProjectId, SessionId, Task, TaskId,
};
use handoff_git::{Git, Repository};
use handoff_package::Package;
use handoff_package::payload::{PausedPart, SerializedContext};
use handoff_process::{Child, Exit};
use handoff_store::queue::{Agents, Change, Proved, Request, TaskRef, TenureWish, submit};
use handoff_store::{Store, StoreError, StoreKind, batches, packages, read, tasks};

use crate::depot::Depot;
use crate::enclosure::CheckPolicy;
use crate::error::EngineError;
use crate::ground::{Ground, publish_baseline};
use crate::package_rules::PackageRules;
use crate::places::Places;
use crate::stock::Stock;

/// How often a worker renews the leases of its live sessions where a server has the clock.
pub(crate) const HEARTBEAT: Duration = Duration::from_secs(20);
/// How long such a lease lasts: three heartbeats.
const SESSION_TTL: Duration = Duration::from_secs(60);

/// The way to the ledger, which is handoff's own: an agent or a check has no business to see it.
const WAY_TO_LEDGER: [&str; 3] = ["HANDOFF_STORE", "HANDOFF_STORE_PASSWORD_FILE", "PGPASSWORD"];
/// What lets the session around it act as itself.
const TOKEN: &str = "HANDOFF_SESSION_TOKEN";

/// An environment for checks and git.
pub fn without_secrets(environment: BTreeMap<OsString, OsString>) -> BTreeMap<OsString, OsString> {
    let (mut environment, _) = ledger_apart(environment);
    environment.remove(OsStr::new(TOKEN));
    environment
}

/// An environment for agents, and what was taken out of it: the way to the ledger.
pub fn ledger_apart(
    environment: BTreeMap<OsString, OsString>,
) -> (BTreeMap<OsString, OsString>, BTreeMap<OsString, OsString>) {
    let leads = |name: &OsString| WAY_TO_LEDGER.iter().any(|it| name == it);
    let (ledger, rest) = environment.into_iter().partition(|(name, _)| leads(name));
    (rest, ledger)
}

/// What the engine works with.
pub struct Workshop<'a> {
    /// The ledger.
    pub store: &'a mut dyn Store,
    /// The project whose tasks are worked on.
    pub project: ProjectId,
    /// Its repository.
    pub repository: &'a Repository,
    /// How git is called.
    pub git: Git,
    /// The clocks.
    pub clock: &'a dyn Clock,
    /// Where things are kept.
    pub places: Places,
    /// What agents and checks see of the environment.
    pub environment: BTreeMap<OsString, OsString>,
    /// What the packages of tasks are to be like.
    pub rules: PackageRules,
    /// What the batches of runs are to be like.
    pub batch_rules: Rules,
    /// How commands that run code of sessions are held.
    pub checks: CheckPolicy,
    /// Trees that were made before anybody needs them.
    pub stock: Arc<Stock>,
}

impl Workshop<'_> {
    /// A lease for a session: on this machine's store it lasts as long as the holder lives; on a server the
    /// worker renews it.
    pub(crate) fn tenure(&self, session: SessionId) -> TenureWish {
        match self.store.info().kind {
            StoreKind::Sqlite => TenureWish::Anchored { session },
            StoreKind::Postgres => TenureWish::Timed {
                ttl: Ttl::new(SESSION_TTL).expect("it is within the limits"),
            },
        }
    }

    /// Claims the next ready task for a session.
    pub(crate) fn claim_next(
        &mut self,
        session: SessionId,
        agents: Agents,
    ) -> Result<Option<Task>, EngineError> {
        let change = Change::ClaimNext {
            project: self.project,
            tenure: self.tenure(session),
            agents,
        };
        let key = format!("{session}/claim")
            .parse()
            .expect("an id and a word make a key");
        let request = Request {
            by: Caller::Worker,
            key,
            change,
        };
        Ok(submit(self.store, &request)?.answer.into_task())
    }

    /// Claims this task for a session; nothing if it is not to be had now.
    pub(crate) fn claim_this(
        &mut self,
        session: SessionId,
        task: TaskId,
    ) -> Result<Option<Task>, EngineError> {
        let change = Change::Claim {
            task: TaskRef::Id(task),
            tenure: self.tenure(session),
        };
        let key = format!("{session}/claim");
        let key = key.parse().expect("an id and a word make a key");
        let by = Caller::Worker;
        match submit(self.store, &Request { by, key, change }) {
            Ok(receipt) => Ok(receipt.answer.into_task()),
            Err(
                StoreError::Refused { .. }
                | StoreError::Held { .. }
                | StoreError::OwnershipTaken { .. },
            ) => Ok(None),
            Err(error) => Err(error.into()),
        }
    }

    /// Reports on a task. The same attempt says the same thing once, however often it is repeated.
    pub(crate) fn tell(
        &mut self,
        task: &Task,
        command: Command,
        verb: &str,
    ) -> Result<(), EngineError> {
        let key = format!("{}/{}/{verb}", task.id, task.fence);
        let key: IdempotencyKey = key.parse().expect("ids and a word make a key");
        let told = self.submit(task, command.clone(), Caller::Worker, key.clone());
        match told {
            Err(EngineError::Store(StoreError::OutcomeUnknown { .. })) => {
                self.submit(task, command, Caller::Worker, key)
            }
            told => told,
        }
    }

    /// Refuses to go on where the repository is not any more: it was moved, or another one has its place.
    pub(crate) fn require_repository(&self) -> Result<(), EngineError> {
        let repository = self.repository;
        let is_there = match repository.read_mark() {
            Ok(Some(mark)) => mark.project == self.project,
            Ok(None) => repository.common_dir().is_dir(),
            Err(_) => false,
        };
        let place = repository.main_worktree();
        let place = place.unwrap_or_else(|| repository.common_dir());
        is_there
            .then_some(())
            .ok_or_else(|| EngineError::RepositoryGone(place.to_owned()))
    }

    /// Where the code stands.
    pub(crate) fn survey(&mut self) -> Result<Ground, EngineError> {
        Ground::survey(self.store, self.project, &self.git, self.repository)
    }

    /// What the referee saw to pass on a branch of an attempt. The ref follows; if not now, by the reconcilers.
    pub(crate) fn set_baseline(
        &mut self,
        task: &Task,
        branch: &BranchName,
        commit: &CommitId,
        command: &VerifyCommand,
    ) -> Result<(), EngineError> {
        let key = format!("{}/{}/baseline/{branch}", task.id, task.fence);
        let key: IdempotencyKey = key.parse().expect("ids and a branch of ours make a key");
        let change = Change::SetBaseline(Proved {
            project: self.project,
            branch: branch.as_str().parse().expect("it can be shown"),
            commit: commit.clone(),
            command: Some(command.clone()),
        });
        let by = Caller::Worker;
        let receipt = submit(self.store, &Request { by, key, change })?;
        publish_baseline(&self.git, self.repository, &receipt.answer);
        Ok(())
    }

    /// Waits for a program, at most for `limit`, and keeps the lease alive meanwhile where that needs heartbeats.
    pub(crate) fn wait(
        &mut self,
        child: &mut Child,
        task: &Task,
        limit: Option<Duration>,
    ) -> Result<Exit, EngineError> {
        let beats = match self.store.info().kind {
            StoreKind::Sqlite => None,
            StoreKind::Postgres => Some(HEARTBEAT),
        };
        let started = self.clock.now().moment.awake;
        loop {
            let left = limit
                .map(|limit| limit.saturating_sub(self.clock.now().moment.awake.since(started)));
            let patience = [beats, left].into_iter().flatten().min();
            match child.wait(patience)? {
                Exit::TimedOut if left.is_some_and(|left| left.is_zero()) => {
                    return Ok(Exit::TimedOut);
                }
                Exit::TimedOut if beats.is_some() => self.beat(task)?,
                Exit::TimedOut => {}
                exit @ (Exit::Code(_) | Exit::Signal(_)) => return Ok(exit),
            }
        }
    }

    /// A server that cannot be reached for a moment is no reason to give up: the lease lasts three heartbeats.
    pub(crate) fn beat(&mut self, task: &Task) -> Result<(), EngineError> {
        if self.store.info().kind == StoreKind::Sqlite {
            return Ok(());
        }
        let renew = Command::Renew { fence: task.fence };
        let verb = format!("beat-{}", handoff_process::mint().simple());
        match self.tell(task, renew, &verb) {
            Err(EngineError::Store(StoreError::Unavailable { .. })) => Ok(()),
            told => told,
        }
    }

    /// The task as it is now.
    pub(crate) fn reload(&mut self, task: &Task) -> Result<Task, EngineError> {
        Ok(read(self.store, |tx| tasks::get(tx, task.id))?)
    }

    /// What the tasks that this one waited for left behind. A package that is not there, not as it was sealed, or whose time
    /// is over, is left out: it would only inform the session.
    pub(crate) fn packages_before(&mut self, task: &Task) -> Result<Vec<Package>, EngineError> {
        let mut found = vec![];
        for dependency in &task.spec.after {
            found.extend(self.packages_of(dependency.task)?);
        }
        found.extend(self.paused(task)?);
        Ok(found)
    }

    /// What the attempts at a task left that can still be received.
    pub(crate) fn packages_of(&mut self, task: TaskId) -> Result<Vec<Package>, EngineError> {
        let task = read(self.store, |tx| tasks::get(tx, task))?;
        let mut found = vec![];
        for id in task.evidence.iter().filter_map(Evidence::package) {
            let stored = self.depot().find(id).ok();
            let in_time = stored.filter(|it| it.standing != PackageStanding::Expired);
            found.extend(in_time.map(|it| it.opened.package));
        }
        Ok(found)
    }

    /// What an earlier attempt at the task left when it was paused, and what was said when its batch was.
    fn paused(&mut self, task: &Task) -> Result<Vec<Package>, EngineError> {
        let own = self.newest_pause(task.id)?;
        let said = match task.spec.part {
            Some(Part::SubTask { batch }) => self.said_of_batch(batch, own.as_ref())?,
            Some(Part::FanIn { .. } | Part::Phase { .. }) | None => None,
        };
        Ok(own.into_iter().chain(said).collect())
    }

    fn newest_pause(&mut self, task: TaskId) -> Result<Option<Package>, EngineError> {
        let left = read(self.store, |tx| packages::of_task(tx, task))?;
        let is_paused = |kind| matches!(kind, PackageKind::Pause | PackageKind::Transfer);
        let newest = left.iter().rfind(|it| is_paused(it.label.kind));
        let stored = newest.and_then(|it| self.depot().find(it.label.id).ok());
        Ok(stored.map(|it| it.opened.package))
    }

    /// What was said when a batch was paused, for a part that nobody worked on then: the others have it in packages of their own. How
    /// far the batch was, and the context of its fan-in, is not for a part.
    fn said_of_batch(
        &mut self,
        batch: BatchId,
        own: Option<&Package>,
    ) -> Result<Option<Package>, EngineError> {
        let fan_in = read(self.store, |tx| batches::get(tx, batch))?.spec.fan_in;
        let Some(mut package) = self.newest_pause(fan_in)? else {
            return Ok(None);
        };
        let own = own.map(|it| it.label.id);
        let payload = &mut package.payload;
        let parts = payload.batch.as_ref().map(|it| it.parts.as_slice());
        let has_it = |part: &PausedPart| Some(part.package) == own;
        // The fan-in may have been paused by itself: that is not for a part either.
        if parts.is_none_or(|parts| parts.iter().any(has_it)) || !payload.has_words() {
            return Ok(None);
        }
        payload.checkpoint = None;
        payload.context = SerializedContext::of(vec![]);
        Ok(Some(package))
    }

    /// Where packages are sealed and kept.
    pub(crate) fn depot(&mut self) -> Depot<'_> {
        Depot::new(self.store, self.project, &self.places)
    }

    fn submit(
        &mut self,
        task: &Task,
        command: Command,
        by: Caller,
        key: IdempotencyKey,
    ) -> Result<(), EngineError> {
        let change = Change::Tell {
            task: TaskRef::Id(task.id),
            command,
        };
        submit(self.store, &Request { by, key, change })?;
        Ok(())
    }
}
