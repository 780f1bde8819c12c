//! Ending the sessions of a run that is paused or called off, also when whoever ran it is gone.

use handoff_api::ExitCode;
use handoff_core::run::{Run, RunState};
use handoff_core::{SessionId, TaskId, TaskState};
use handoff_operations::session::SessionRef;
use handoff_operations::{Failure, Project};
use handoff_store::{StoreKind, read, tasks};

use crate::cli::session::stop_session;
use crate::context::Context;

/// The sessions that work for a run, each with its task.
pub(super) struct AtWork(Vec<(TaskId, SessionId)>);

impl AtWork {
    /// Looked at before the run is told anything: afterwards its tasks name no session.
    pub(super) fn of(run: &Run, desk: &mut Project) -> Result<Self, Failure> {
        let found = read(&mut *desk.store, |tx| {
            let mut found = vec![];
            if let RunState::Working { task } = run.state {
                found.push(tasks::get(tx, task)?);
            }
            if let Some(batch) = run.at.batch {
                found.extend(tasks::of_batch(tx, batch)?);
            }
            Ok(found)
        })?;
        let sessions = found
            .iter()
            .filter_map(|task| Some((task.id, session(&task.state)?)));
        Ok(Self(sessions.collect()))
    }

    /// Ends those whose task was taken from them. What could not be ended is told: the ledger refuses it by now, but it may go on
    /// in its worktree.
    pub(super) fn end(self, desk: &mut Project, ctx: &mut Context) -> Result<(), Failure> {
        let is_shared = desk.store.info().kind == StoreKind::Postgres;
        for (task, at_work) in self.0 {
            let now = read(&mut *desk.store, |tx| tasks::get(tx, task))?;
            if session(&now.state) == Some(at_work) {
                continue;
            }
            let name = &now.spec.name;
            let found = SessionRef::new(at_work.to_string(), None).find(ctx);
            let is_elsewhere = is_shared && found.is_err_and(|it| it.code == ExitCode::NotFound);
            if is_elsewhere {
                ctx.out.note(format!(
                    "The session of `{name}` is not on this machine and could not be ended from here: `handoff stop {at_work}` there ends it."
                ))?;
            } else if let Err(failure) = stop_session(at_work, ctx) {
                let why = &failure.message;
                ctx.out.note(format!(
                    "The session of `{name}` could not be ended: {why}. Try `handoff stop {at_work}`."
                ))?;
            }
        }
        Ok(())
    }
}

const fn session(state: &TaskState) -> Option<SessionId> {
    match state {
        TaskState::Running { session, .. } => Some(*session),
        TaskState::Leased { .. }
        | TaskState::Waiting
        | TaskState::Queued
        | TaskState::Done { .. }
        | TaskState::Failed { .. }
        | TaskState::Blocked { .. }
        | TaskState::Cancelled { .. } => None,
    }
}
