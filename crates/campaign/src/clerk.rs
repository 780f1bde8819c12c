//! A client of the store that writes down what it asks and what it is told.

use std::path::Path;
use std::time::Duration;

use anyhow::{Context as _, Result};
use handoff_core::lease::{Tenure, Ttl};
use handoff_core::task::{Command, Refusal, TaskSpec};
use handoff_core::time::Clock as _;
use handoff_core::{Caller, Fence, ProjectId, Task, TaskId};
use handoff_process::{SystemClock, mint};
use handoff_store::queue::{Agents, Answer, Change, Request, TaskRef, TenureWish, submit};
use handoff_store::{Store, StoreError};

use super::door::Door;
use super::history::{Act, Call, History, Refused, Reply};

/// As short as a lease may be, so that those of killed workers come back soon.
pub(super) const TTL: Duration = Duration::from_secs(1);

pub(super) struct Clerk {
    pub(super) store: Box<dyn Store>,
    pub(super) project: ProjectId,
    ttl: Ttl,
    clock: SystemClock,
    history: History,
    /// What the clerk before this one wrote into the same file.
    pub(super) inherited: Vec<Call>,
}

impl Clerk {
    pub(super) fn open(door: &Door, project: ProjectId, history: &Path) -> Result<Self> {
        let (history, inherited) = History::go_on(history)?;
        Ok(Self {
            store: door.open()?,
            project,
            ttl: Ttl::new(TTL)?,
            clock: SystemClock::read()?,
            history,
            inherited,
        })
    }

    pub(super) fn with_ttl(mut self, ttl: Duration) -> Result<Self> {
        self.ttl = Ttl::new(ttl)?;
        Ok(self)
    }

    /// Asks, and asks again with the same key for as long as nobody knows what came of it.
    pub(super) fn ask(&mut self, key: &str, act: &Act) -> Result<Reply> {
        loop {
            self.history.asked(key, self.now(), act)?;
            let reply = self.submit(key, act)?;
            self.history.answered(key, self.now(), &reply)?;
            if reply != Reply::Unknown {
                return Ok(reply);
            }
        }
    }

    fn submit(&mut self, key: &str, act: &Act) -> Result<Reply> {
        let request = Request {
            by: Caller::Worker,
            key: key.parse()?,
            change: self.change(act)?,
        };
        match submit(&mut *self.store, &request) {
            Ok(receipt) => Ok(reply(receipt.answer)),
            Err(StoreError::OutcomeUnknown { .. }) => Ok(Reply::Unknown),
            Err(StoreError::Refused { refusal, .. }) => Ok(Reply::Refused(refused(&refusal))),
            Err(error) => Err(error).with_context(|| format!("{act:?} with the key {key}")),
        }
    }

    fn change(&self, act: &Act) -> Result<Change> {
        let tenure = TenureWish::Timed { ttl: self.ttl };
        let project = self.project;
        Ok(match act {
            Act::Add { name } => Change::Add {
                id: TaskId::from_uuid(mint()),
                project,
                spec: spec(name)?,
            },
            Act::Claim => Change::ClaimNext {
                project,
                tenure,
                agents: Agents::default(),
            },
            Act::Renew { task, fence } => {
                let fence = Fence::new(*fence);
                tell(task, Command::Renew { fence })?
            }
            Act::Complete { task, fence } => {
                let fence = Some(Fence::new(*fence));
                let summary = None;
                tell(task, Command::Complete { fence, summary })?
            }
        })
    }

    /// Nanoseconds since the boot, the same for all processes.
    fn now(&self) -> i64 {
        self.clock.now().moment.elapsed.0
    }
}

fn tell(task: &str, command: Command) -> Result<Change> {
    let task = TaskRef::Id(task.parse()?);
    Ok(Change::Tell { task, command })
}

fn spec(name: &str) -> Result<TaskSpec> {
    Ok(TaskSpec::new(name.parse()?, "do it".parse()?))
}

fn reply(answer: Answer) -> Reply {
    match answer.into_task() {
        Some(task) => Reply::Done {
            task: task.id.to_string(),
            fence: task.fence.number(),
            until: until(&task),
        },
        None => Reply::Nothing,
    }
}

fn until(task: &Task) -> Option<i64> {
    match &task.state.lease()?.tenure {
        Tenure::Timed(term) => Some(term.expires.0),
        Tenure::Anchored { .. } => None,
    }
}

fn refused(refusal: &Refusal) -> Refused {
    match refusal {
        Refusal::LeaseLost { .. } => Refused::LeaseLost,
        Refusal::Forbidden(_)
        | Refusal::Leased { .. }
        | Refusal::Ended { .. }
        | Refusal::NotReady { .. }
        | Refusal::Gathering { .. }
        | Refusal::NotRetriable { .. }
        | Refusal::OfRun => Refused::Other(refusal.to_string()),
    }
}
