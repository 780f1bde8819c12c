//! `handoff pause`: stops the work on a task, in a session or on a batch, and seals what a fresh session needs to go on.
//!
//! A task, in this order: nobody else gets it; whatever the session that works on it still says is refused, and it is ended; where
//! things stand is sealed. If that fails, or whoever pauses it dies, the task is handed out again: it is never paused without a
//! package.

mod batch;
pub(super) mod session;

use std::fmt;

use handoff_api::ExitCode;
use handoff_core::batch::AdoptedBatch;
use handoff_core::caller::Action;
use handoff_core::package::{PackageCommand, PackageKind, PackageState};
use handoff_core::task::{Command, Reason};
use handoff_core::{
    ContextScope, PackageId, PackageRecord, SessionId, Task, TaskId, TaskName, TaskState,
};
use handoff_engine::{Attempt, PauseNote, Pausing, Places, reconcile};
use handoff_git::Repository;
use handoff_operations::session::SessionRef;
use handoff_operations::{Failure, Project, fresh_key};
use handoff_store::queue::{Change, PauseOf, TaskRef};
use handoff_store::{packages, read, tasks};

use super::package::draft::{DraftArgs, Material};
use super::package::scrub::{self, Secrets};
use super::package::tree_look::TreeLook;
use super::package::{fresh_id, tell};
use super::session::patience::Patience;
use super::session::{Manner, stop_session};
use crate::context::Context;

#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    #[command(flatten)]
    what: What,
    /// Replace what looks like a secret by a mark, instead of refusing.
    #[arg(long)]
    redact: bool,
    #[command(flatten)]
    draft: DraftArgs,
}

/// What is paused: a task, a session, or a batch.
#[derive(Debug, clap::Args)]
#[command(group(clap::ArgGroup::new("paused").required(true).args(["task", "batch", "session"])))]
pub(crate) struct What {
    /// The task, by name or id.
    task: Option<String>,
    /// The batch, by name or id: all of its parts that are worked on.
    #[arg(long, value_name = "BATCH")]
    batch: Option<String>,
    /// The session, by name or id.
    #[arg(long, value_name = "SESSION")]
    session: Option<String>,
    /// With `--session`: let the agent come to the end of its turn, instead of interrupting it.
    #[arg(long, requires = "session", conflicts_with_all = ["task", "batch"])]
    drain: bool,
    /// With `--session`: how long the agent may take to come to rest, in seconds or as `1m`.
    #[arg(long, value_name = "SEC", requires = "session", conflicts_with_all = ["task", "batch"])]
    timeout: Option<Patience>,
}

impl What {
    /// Refuses what can only go on in its own store, before anything is paused.
    pub(super) fn can_leave(&self, desk: &mut Project) -> Result<(), Failure> {
        let Some(batch) = &self.batch else {
            return Ok(());
        };
        let batch = desk.batch(batch)?;
        let name = &batch.spec.name;
        if let Some(run) = batch.spec.run {
            let text = format!("batch `{name}` belongs to a run, which waits for its results here");
            return Err(Failure::new(ExitCode::Conflict, text).hint(format!(
                "pause the run, which can go on elsewhere: `handoff workflow pause {run}`"
            )));
        }
        let members = read(&mut *desk.store, |tx| tasks::of_batch(tx, batch.id))?;
        let Some(task) = AdoptedBatch::bond(&members) else {
            return Ok(());
        };
        let task = desk.find(&TaskRef::Id(task))?.spec.name;
        let text = format!("batch `{name}` goes on from `{task}`, which stays here");
        Err(Failure::new(ExitCode::Conflict, text).hint(format!(
            "let it be done here: `handoff worker`; or call it off, land `{task}`, and open it again from there: `handoff batch cancel {name}`"
        )))
    }

    /// Pauses it. On any failure the work goes on, or is handed out again.
    pub(super) fn pause(
        &self,
        wish: Wish,
        desk: &mut Project,
        ctx: &Context,
    ) -> Result<PackageRecord, Failure> {
        let Wish {
            kind,
            secrets,
            draft,
        } = wish;
        desk.undo_broken_pauses();
        if let Some(name) = &self.session {
            let manner = if self.drain {
                Manner::Drain
            } else {
                Manner::Interrupt
            };
            let known = SessionRef::new(name.clone(), None).find_live(ctx)?;
            let pausing = session::SessionPausing {
                known,
                kind,
                secrets,
                manner,
                patience: self.timeout,
            };
            return pausing.pause(draft, desk, ctx);
        }
        if let Some(batch) = &self.batch {
            let batch = desk.batch(batch)?;
            let pausing = batch::BatchPausing {
                batch,
                kind,
                secrets,
            };
            return pausing.pause(draft, desk, ctx);
        }
        let task = self.task.as_deref().unwrap_or_default();
        let task = find(task, desk)?;
        let pausing = TaskPausing {
            task,
            package: fresh_id(),
            whole: None,
            kind,
            secrets,
        };
        pausing.pause(draft, desk, ctx)
    }
}

/// What the package is to be like.
pub(super) struct Wish {
    pub(super) kind: PackageKind,
    pub(super) secrets: Secrets,
    pub(super) draft: DraftArgs,
}

pub(super) fn run(args: Args, ctx: &mut Context) -> Result<ExitCode, Failure> {
    let mut desk = Project::open(ctx)?;
    let wish = Wish {
        kind: PackageKind::Pause,
        secrets: Secrets::of(args.redact),
        draft: args.draft,
    };
    let record = args.what.pause(wish, &mut desk, ctx)?;
    let id = record.label.id;
    let note = format!("It goes on with `handoff resume {id}`.");
    tell(&mut desk, &record, vec![note], ctx)
}

/// The task that is meant.
fn find(text: &str, desk: &mut Project) -> Result<Task, Failure> {
    let task = desk.task_ref(text)?;
    Ok(read(&mut *desk.store, |tx| match &task {
        TaskRef::Id(id) => tasks::get(tx, *id),
        TaskRef::Named { project, name } => tasks::named(tx, *project, name),
    })?)
}

/// A task that is to be paused.
struct TaskPausing {
    task: Task,
    package: PackageId,
    /// That of the batch, if it is paused with all of it.
    whole: Option<PackageId>,
    kind: PackageKind,
    secrets: Secrets,
}

impl TaskPausing {
    /// Pauses it. On any failure the work goes on, or is handed out again.
    fn pause(
        &self,
        draft: DraftArgs,
        desk: &mut Project,
        ctx: &Context,
    ) -> Result<PackageRecord, Failure> {
        desk.caller.may(Action::Hold)?;
        let session = self.working()?;
        let note = PauseNote {
            tasks: vec![self.task.id],
            ..PauseNote::of(self.package)
        };
        wholly(&note, &self.task.id, desk, |desk| {
            let (package, whole) = (self.package, self.whole);
            tell_task(&self.task, Command::Pause { package, whole }, desk)?;
            self.fence(session, desk, ctx)?;
            self.seal(draft, desk, ctx)
        })
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
                if let Some(package) = self.task.hold.as_ref().and_then(|it| it.pause) {
                    return Err(paused_already(name, package));
                }
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
        desk: &mut Project,
        ctx: &Context,
    ) -> Result<(), Failure> {
        // First of all: whoever attends to the session must not take its end for the end of the work.
        release(&self.task, desk)?;
        session.map_or(Ok(()), |session| stop_session(session, ctx))
    }

    fn seal(
        &self,
        draft: DraftArgs,
        desk: &mut Project,
        ctx: &Context,
    ) -> Result<PackageRecord, Failure> {
        let task = read(&mut *desk.store, |tx| tasks::get(tx, self.task.id))?;
        let places = Places::new(ctx.home()?);
        let worktree = places.worktree(task.project, Attempt::of(&self.task));
        let at = Repository::open(&worktree).ok();
        let tree = TreeLook::begin(at.as_ref().unwrap_or(&desk.repository), ctx)?;
        let draft = draft.or_resuming(&task, "paused");
        let (kind, scope) = ((self.package, self.kind), ContextScope::Task(task.id));
        let material = Material {
            task: Some(task),
            ..Material::of(kind, scope, tree, ctx.config()?.package)
        };
        let package = draft.package(material, desk)?;
        let (package, _) = scrub::clean(package, self.secrets)?;
        let key = fresh_key().in_project(desk.id);
        let caller = desk.caller.clone();
        let pausing = PauseOf::Task(self.task.id);
        let mut depot = desk.depot();
        Ok(depot.keep_pause(&package, pausing, &caller, &key)?)
    }
}

fn paused_already(name: &TaskName, package: PackageId) -> Failure {
    let text = format!("`{name}` is paused already, with {package}");
    Failure::new(ExitCode::Conflict, text).hint(format!(
        "it goes on with `handoff resume {package}`; `handoff package send` or `export` hands it over"
    ))
}

/// Makes a pause, all of it or nothing: what it has done so far is undone when it fails, by us or, if we die, by whoever comes next.
fn wholly(
    note: &PauseNote,
    subject: &impl fmt::Display,
    desk: &mut Project,
    make: impl FnOnce(&mut Project) -> Result<PackageRecord, Failure>,
) -> Result<PackageRecord, Failure> {
    let pausing = begin(note, subject, desk)?;
    let made = make(desk);
    settle(pausing, note, made, desk)
}

/// Writes down what a pause is going to do, unless somebody else is doing it.
pub(super) fn begin(
    note: &PauseNote,
    subject: &impl fmt::Display,
    desk: &Project,
) -> Result<Pausing, Failure> {
    let begun = note.begin(desk.places(), desk.id, subject)?;
    begun.ok_or_else(|| {
        let text = format!("somebody is pausing {subject} at this moment");
        Failure::new(ExitCode::Conflict, text).hint("see what came of it: `handoff package list`")
    })
}

/// Ends a pause that was made, or undoes it.
pub(super) fn settle(
    pausing: Pausing,
    note: &PauseNote,
    made: Result<PackageRecord, Failure>,
    desk: &mut Project,
) -> Result<PackageRecord, Failure> {
    let is_settled = match &made {
        Ok(_) => true,
        Err(_) => {
            let undone = reconcile::undo_pause(note, &mut *desk.store, desk.id);
            reconcile::let_go_on(note, desk.places());
            undone.is_ok()
        }
    };
    if is_settled {
        // A note that stays is looked at by whoever comes next, and there is nothing left to do.
        pausing.end().ok();
    }
    made
}

/// The packages that a task was paused with and that nobody has received, oldest first.
pub(super) fn unreceived(task: TaskId, desk: &mut Project) -> Result<Vec<PackageRecord>, Failure> {
    let mut left = read(&mut *desk.store, |tx| packages::of_task(tx, task))?;
    left.retain(|it| {
        let is_pause = matches!(it.label.kind, PackageKind::Pause | PackageKind::Transfer);
        is_pause && it.state == PackageState::Created
    });
    Ok(left)
}

/// Takes packages back that are not true any more.
pub(super) fn withdraw(packages: &[PackageRecord], reason: &str, desk: &mut Project) {
    for record in packages {
        let reason = reason.parse().ok();
        let command = PackageCommand::Cancel { reason };
        let id = record.label.id;
        // What was to be done is done; an old package that stays is named by nobody.
        desk.submit(Change::Package { id, command }, None).ok();
    }
}

fn tell_task(task: &Task, command: Command, desk: &mut Project) -> Result<(), Failure> {
    let change = Change::Tell {
        task: TaskRef::Id(task.id),
        command,
    };
    desk.submit(change, None).map(drop)
}

/// Takes the lease away: nothing counts from now on that is said under it.
fn release(task: &Task, desk: &mut Project) -> Result<(), Failure> {
    let release = Command::Release {
        fence: task.fence,
        reason: reason(),
    };
    match tell_task(task, release, desk) {
        // It was gone already.
        Err(failure) if failure.code == ExitCode::LeaseLost => Ok(()),
        said => said,
    }
}

fn reason() -> Option<Reason> {
    "paused".parse().ok()
}
