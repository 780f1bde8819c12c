//! `handoff pause`: stops the work on a task, and seals what a fresh session needs to go on.
//!
//! In this order: nobody else gets the task; the session that works on it is ended, and whatever it still says is refused; where
//! things stand is sealed. If that fails, the task is handed out again: it is never paused without a package.

use handoff_api::ExitCode;
use handoff_core::caller::Action;
use handoff_core::package::{Origin, PackageKind};
use handoff_core::task::{Command, Reason};
use handoff_core::{ContextScope, PackageRecord, SessionId, Task, TaskState};
use handoff_engine::{Attempt, Places};
use handoff_git::Repository;
use handoff_store::queue::{Change, TaskRef};
use handoff_store::{read, tasks};

use super::package::draft::{DraftArgs, Material, tree_at};
use super::package::scrub::{self, Secrets};
use super::package::tell;
use super::session::stop_session;
use crate::context::{Context, fresh_key};
use crate::desk::Desk;
use crate::failure::Failure;

#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// The task, by name or id.
    task: String,
    /// Replace what looks like a secret by a mark, instead of refusing.
    #[arg(long)]
    redact: bool,
    #[command(flatten)]
    draft: DraftArgs,
}

pub(super) fn run(args: Args, ctx: &mut Context) -> Result<ExitCode, Failure> {
    let mut desk = Desk::open(ctx)?;
    let secrets = Secrets::of(args.redact);
    let pausing = Pausing {
        task: find(&args.task, &mut desk)?,
        kind: PackageKind::Pause,
        secrets,
    };
    let record = pausing.pause(args.draft, &mut desk, ctx)?;
    let id = record.label.id;
    let note = format!("It goes on with `handoff resume {id}`.");
    tell(&mut desk, &record, vec![note], ctx)
}

/// The task that is meant.
pub(super) fn find(text: &str, desk: &mut Desk) -> Result<Task, Failure> {
    let task = desk.task_ref(text)?;
    Ok(read(&mut *desk.store, |tx| match &task {
        TaskRef::Id(id) => tasks::get(tx, *id),
        TaskRef::Named { project, name } => tasks::named(tx, *project, name),
    })?)
}

/// A task that is to be paused.
pub(super) struct Pausing {
    pub(super) task: Task,
    pub(super) kind: PackageKind,
    pub(super) secrets: Secrets,
}

impl Pausing {
    /// Pauses it. On any failure the work goes on, or is handed out again.
    pub(super) fn pause(
        &self,
        draft: DraftArgs,
        desk: &mut Desk,
        ctx: &Context,
    ) -> Result<PackageRecord, Failure> {
        desk.caller.may(Action::Hold)?;
        let session = self.working()?;
        self.say(Command::Hold { reason: reason() }, desk)?;
        let sealed = self
            .fence(session, desk, ctx)
            .and_then(|()| self.seal(draft, desk, ctx));
        if sealed.is_err() {
            // Nobody is told that it is paused, and so it must not look so.
            self.say(Command::Unhold, desk).ok();
        }
        sealed
    }

    /// The session that works on it; none if somebody claimed it by hand.
    fn working(&self) -> Result<Option<SessionId>, Failure> {
        match &self.task.state {
            TaskState::Running { session, .. } => Ok(Some(*session)),
            TaskState::Leased { .. } => Ok(None),
            TaskState::Waiting
            | TaskState::Queued
            | TaskState::Done { .. }
            | TaskState::Failed { .. }
            | TaskState::Blocked { .. }
            | TaskState::Cancelled { .. } => {
                let name = &self.task.spec.name;
                let text = format!("nobody works on `{name}`, so there is nothing to pause");
                Err(Failure::new(ExitCode::Conflict, text).hint(format!(
                    "look at it: `handoff queue show {name}`; `handoff hold {name}` keeps it from being handed out"
                )))
            }
        }
    }

    /// From now on nothing counts that the old attempt says.
    fn fence(
        &self,
        session: Option<SessionId>,
        desk: &mut Desk,
        ctx: &Context,
    ) -> Result<(), Failure> {
        if let Some(session) = session {
            stop_session(session, ctx)?;
        }
        let fence = self.task.fence;
        let release = Command::Release {
            fence,
            reason: reason(),
        };
        match self.say(release, desk) {
            // With its session the lease was gone already.
            Err(failure) if failure.code == ExitCode::LeaseLost => Ok(()),
            said => said,
        }
    }

    fn seal(
        &self,
        draft: DraftArgs,
        desk: &mut Desk,
        ctx: &Context,
    ) -> Result<PackageRecord, Failure> {
        let task = read(&mut *desk.store, |tx| tasks::get(tx, self.task.id))?;
        let places = Places::new(ctx.home()?);
        let worktree = places.worktree(task.project, Attempt::of(&self.task));
        let at = Repository::open(&worktree).ok();
        let tree = tree_at(at.as_ref().unwrap_or(&desk.repository), ctx)?;
        let draft = draft.or_resuming(&task, "paused");
        let material = Material {
            kind: self.kind,
            scope: ContextScope::Task(task.id),
            claims: vec![],
            task: Some(task),
            tree,
            settings: ctx.config()?.package,
            plan: None,
        };
        let package = draft.package(material, desk)?;
        let (package, _) = scrub::clean(package, self.secrets)?;
        let key = fresh_key().in_project(desk.project);
        let caller = desk.caller.clone();
        let mut depot = desk.depot();
        Ok(depot.keep(&package, Origin::Made, &caller, &key)?)
    }

    fn say(&self, command: Command, desk: &mut Desk) -> Result<(), Failure> {
        let change = Change::Tell {
            task: TaskRef::Id(self.task.id),
            command,
        };
        desk.submit(change, None).map(drop)
    }
}

fn reason() -> Option<Reason> {
    "paused".parse().ok()
}
