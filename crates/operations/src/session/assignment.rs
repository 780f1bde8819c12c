//! A task for a session: it is claimed when the session's holder lives, because the lease lasts as long as that does.

use handoff_api::ExitCode;
use handoff_core::lease::Ttl;
use handoff_core::task::Command;
use handoff_core::{Action, Fence, IdempotencyKey, SessionId, Task, TaskState};
use handoff_session::environment::Work;
use handoff_store::StoreKind;
use handoff_store::queue::{Change, TaskRef, TenureWish};

use super::{lease_keeper, relief};
use crate::failure::Failure;
use crate::project::Project;
use crate::workplace::{Workplace, fresh_key};

/// A task that a session is to work on.
pub struct Assignment {
    project: Project,
    task: Task,
}

impl Assignment {
    /// Finds the task, and refuses one that cannot be claimed now, before anything is started for it.
    pub fn find(text: &str, here: &Workplace) -> Result<Self, Failure> {
        let mut project = Project::open(here)?;
        project.caller.may(Action::Claim)?;
        let task = project.task(text)?;
        match &task.state {
            TaskState::Done { .. } | TaskState::Cancelled { .. } => Err(over(&task)),
            TaskState::Waiting
            | TaskState::Queued
            | TaskState::Leased { .. }
            | TaskState::Running { .. }
            | TaskState::Failed { .. }
            | TaskState::Blocked { .. } => Ok(Self { project, task }),
        }
    }

    /// What the session is told of it when it starts. The lease is the next one: if it becomes another, the claim fails.
    pub fn work(&self) -> Work {
        Work {
            task: self.task.spec.name.clone(),
            id: self.task.id,
            fence: self.task.fence.next(),
            batch: None,
        }
    }

    /// Claims it for this session, whose holder lives, and records that the session has begun.
    pub fn claim(&mut self, session: SessionId, here: &Workplace) -> Result<(), Failure> {
        let kind = self.project.store.info().kind;
        let tenure = match kind {
            StoreKind::Sqlite => TenureWish::Anchored { session },
            StoreKind::Postgres => TenureWish::Timed {
                ttl: Ttl::new(lease_keeper::TTL).expect("it is within the limits"),
            },
        };
        if kind == StoreKind::Postgres {
            relief::demand(session, here)?;
        }
        let task = TaskRef::Id(self.task.id);
        let claim = Change::Claim { task, tenure };
        let key = |verb: &str| IdempotencyKey::of_session(session, self.task.id, verb);
        let (claim_key, start_key) = (key("claim"), key("start"));
        let claimed = self.project.submit(claim, Some(claim_key))?;
        let fence = claimed.receipt.answer.into_task().map(|task| task.fence);
        if fence != Some(self.work().fence) {
            return Err(self.taken(fence));
        }
        let work = self.work();
        let fence = work.fence;
        let agent = self.task.spec.agent.clone();
        let start = Command::Start {
            fence,
            session,
            agent,
        };
        self.tell(start, start_key)?;
        match kind {
            StoreKind::Sqlite => Ok(()),
            StoreKind::Postgres => lease_keeper::start(session, &work, here).inspect_err(|_| {
                self.release(fence);
            }),
        }
    }

    /// Gives back what is not needed after all. If that fails too, the lease ends with the session's holder, or by its time.
    fn release(&mut self, fence: Fence) {
        let release = Command::Release {
            fence,
            reason: None,
        };
        self.tell(release, fresh_key()).ok();
    }

    fn tell(&mut self, command: Command, key: IdempotencyKey) -> Result<(), Failure> {
        let task = TaskRef::Id(self.task.id);
        self.project
            .submit(Change::Tell { task, command }, Some(key))?;
        Ok(())
    }

    /// Somebody was quicker, and gave it back already: the session knows a lease that is not its own.
    fn taken(&mut self, fence: Option<Fence>) -> Failure {
        if let Some(fence) = fence {
            self.release(fence);
        }
        let text = format!(
            "somebody else worked on `{}` meanwhile",
            self.task.spec.name
        );
        Failure::new(ExitCode::Conflict, text).hint("try again")
    }

    /// The first message to the session.
    pub fn message(&self) -> String {
        let spec = &self.task.spec;
        let name = &spec.name;
        let owned = spec.owns.as_ref().map_or_else(String::new, |owns| {
            let patterns: Vec<_> = owns.patterns().iter().map(|it| format!("`{it}`")).collect();
            format!("Change only {}. ", patterns.join(", "))
        });
        let checked = spec.verify.as_ref().map_or_else(String::new, |command| {
            format!("It is checked with `{command}`. ")
        });
        format!(
            "# Your task: {name}\n\n{}\n\n# How to finish\n\n{owned}{checked}Say in your last message what you did and \
             what is left. If you cannot go on without a person: `handoff queue block {name} --reason WHY`.\n",
            spec.brief
        )
    }
}

fn over(task: &Task) -> Failure {
    let text = format!("the task `{}` is over", task.spec.name);
    Failure::new(ExitCode::Conflict, text).hint("see what is open: `handoff queue list`")
}
