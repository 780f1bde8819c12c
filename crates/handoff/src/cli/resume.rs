//! `handoff resume`: lets a paused task, session or batch go on in fresh sessions, from where its package says, also if it was
//! paused in another store.

mod arrival;
mod batch;

use std::ffi::OsString;

use handoff_agents::Agent;
use handoff_api::{ExitCode, ReceivedDocument};
use handoff_core::package::PackageStanding;
use handoff_core::task::Command;
use handoff_core::{
    BatchId, ContextScope, Hold, HoldScope, PackageId, SessionId, SessionName, Task, TaskId,
};
use handoff_engine::depot::Stored;
use handoff_operations::session::start::send_first;
use handoff_operations::session::{places, unreadable};
use handoff_operations::{Failure, Project};
use handoff_package::payload::{BatchState, SessionState};
use handoff_session::{Standing, catalogue, inbox};
use handoff_store::queue::{Change, TaskRef};
use handoff_store::{holds, read};

use super::package::desk_for;
use super::package::grasp::Grasp;
use super::package::receive::{self, PolicyArg, Received};
use super::pause::unreceived;
use super::session::{run as sessions, stop_session};
use crate::context::Context;
use arrival::Subject;

#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    #[command(flatten)]
    what: What,
    #[command(flatten)]
    how: How,
}

/// What is to go on.
#[derive(Debug, clap::Args)]
#[command(group(clap::ArgGroup::new("paused").required(true).args(["package", "batch"])))]
struct What {
    /// The package that `handoff pause` made, or the task that it paused, by name or id.
    #[arg(value_name = "PACKAGE|TASK")]
    package: Option<String>,
    /// The batch that is paused, by name or id.
    #[arg(long, value_name = "BATCH")]
    batch: Option<String>,
}

/// How it is to go on.
#[derive(Debug, Clone, clap::Args)]
struct How {
    /// What becomes of keys of the context that were changed since.
    #[arg(long, value_enum, default_value_t = PolicyArg::Refuse)]
    policy: PolicyArg,
    /// Of a session: begin this agent, instead of the one that it was.
    #[arg(long, value_name = "AGENT")]
    agent: Option<OsString>,
    /// Of a session: what to call the new one.
    #[arg(long, value_name = "NAME")]
    id: Option<SessionName>,
    /// Of a session: do not sit down at its terminal.
    #[arg(long)]
    detach: bool,
    /// Of a task or a batch that comes from another store: let the commands be run here that prove its work. They come out of
    /// the package: read them first.
    #[arg(long)]
    accept_commands: bool,
}

/// What is wanted, when it is known what that is.
struct Asked {
    package: PackageId,
    how: How,
}

impl What {
    /// The package that it goes on from.
    fn find(&self, ctx: &Context) -> Result<PackageId, Failure> {
        let package = self.package.as_deref().unwrap_or_default();
        if package.starts_with(PackageId::PREFIX) {
            return package.parse().map_err(|error| {
                Failure::usage(format!("{package:?} is not the id of a package")).because(&error)
            });
        }
        // One that is no project yet has nothing that was paused, and stays none.
        let desk = Project::peek(ctx)?.ok_or_else(|| {
            Failure::new(
                ExitCode::NotFound,
                "nothing was ever paused in this repository",
            )
        })?;
        let desk = &mut { desk };
        let (name, task, hold) = match &self.batch {
            Some(batch) => {
                let batch = desk.batch(batch)?;
                let hold = hold_of(batch.id, desk)?;
                (batch.spec.name.to_string(), batch.spec.fan_in, hold)
            }
            None => {
                let task = desk.task(package)?;
                (task.spec.name.to_string(), task.id, task.hold)
            }
        };
        // Where a person had held it before, the last one counts.
        let newest = match hold.map(|hold| hold.pause) {
            Some(Some(pause)) => Some(pause),
            Some(None) => unreceived(task, desk)?.pop().map(|it| it.label.id),
            None => None,
        };
        newest.ok_or_else(|| {
            Failure::new(ExitCode::Conflict, format!("`{name}` is not paused"))
                .hint("what can be received: `handoff package list --status active`")
        })
    }
}

pub(super) fn run(args: &Args, ctx: &mut Context) -> Result<u8, Failure> {
    let args = &Asked {
        package: args.what.find(ctx)?,
        how: args.how.clone(),
    };
    let mut desk = desk_for(args.package, ctx)?;
    let stored = desk.depot().find(args.package)?;
    if stored.opened.package.payload.run.is_some() {
        let (id, text) = (args.package, "the package comes from a run of a workflow");
        return Err(Failure::usage(text).hint(format!("go on: `handoff workflow resume {id}`")));
    }
    // Until the new session has heard of it: whoever repeats this meanwhile is told to wait.
    let grasp = Grasp::take(args.package, &mut desk)?;
    let mut subject = Subject::find(&stored, &mut desk)?;
    if subject.task.is_none() {
        arrival::take_over(&stored, args.how.accept_commands, &grasp, &mut desk, ctx)?;
        subject = Subject::find(&stored, &mut desk)?;
    }
    put_back_if_nothing_began(&stored, &subject, &grasp, &mut desk, ctx)?;
    if let (Some(batch), Some(fan_in)) = (&subject.batch, &subject.task) {
        let received = batch::goes_on(args, batch, (fan_in, &grasp), &mut desk, ctx)?;
        let line = format!("{} goes on: `handoff worker`", batch.name);
        return told(args, fan_in, line, &received, ctx);
    }
    match (stored.opened.package.payload.session, subject.task) {
        (Some(session), Some(task)) => in_session(args, &session, (&task, grasp), &mut desk, ctx),
        (Some(session), None) => session_alone(args, &session, grasp, &mut desk, ctx),
        (None, Some(task)) => {
            let received = take_up(args.package, args.how.policy, &task, &grasp, &mut desk, ctx)?;
            let name = &task.spec.name;
            let line = format!(
                "{name} goes on: `handoff worker --once`, or `handoff run AGENT --task {name}`"
            );
            told(args, &task, line, &received, ctx)
        }
        (None, None) => Err(unknown(args.package)),
    }
}

/// A resume that was killed, or whose session could not be begun, can be repeated: what it received is put back first.
fn put_back_if_nothing_began(
    stored: &Stored,
    subject: &Subject,
    grasp: &Grasp,
    desk: &mut Project,
    ctx: &Context,
) -> Result<(), Failure> {
    let record = &stored.record;
    let Some(receipt) = grasp.receipt(record) else {
        return Ok(());
    };
    let payload = &stored.opened.package.payload;
    let is_untouched = match receipt.into {
        // The hold is taken away last: as long as it is there, nothing of the batch has begun.
        ContextScope::Task(_) if subject.batch.is_some() => is_held(subject.batch.as_ref(), desk)?,
        ContextScope::Task(id) => subject.task.as_ref().is_some_and(|task| {
            let is_untouched = |fence| task.is_untouched_since(fence);
            // Without a session there is nothing to do but to take the hold away.
            let is_unfinished = payload.session.is_some() || task.hold.is_some();
            task.id == id && is_unfinished && subject.attempt.is_some_and(is_untouched)
        }),
        ContextScope::Session(id) => has_never_heard(id, ctx)?,
        ContextScope::Project(_) | ContextScope::Run(_) => false,
    };
    if is_untouched {
        grasp.put_back(record.fence, desk)?;
    }
    Ok(())
}

fn is_held(batch: Option<&BatchState>, desk: &mut Project) -> Result<bool, Failure> {
    let hold = batch.map(|it| hold_of(it.id, desk)).transpose()?;
    Ok(hold.flatten().is_some())
}

fn hold_of(batch: BatchId, desk: &mut Project) -> Result<Option<Hold>, Failure> {
    let scopes = [HoldScope::Batch(batch)];
    let hold = read(&mut *desk.store, |tx| holds::in_force(tx, &scopes))?;
    Ok(hold.map(|(_, hold)| hold))
}

/// Whether a session of this machine was to go on with it and got no word of it. If it still waits, nobody needs it.
fn has_never_heard(id: SessionId, ctx: &Context) -> Result<bool, Failure> {
    let known = catalogue::by_id(&places(ctx)?, id).map_err(|error| unreadable(&error))?;
    let Some(known) = known else {
        return Ok(false);
    };
    let is_silent = inbox::read(&known.directory).is_ok_and(|letters| letters.is_empty());
    if is_silent && known.standing == Standing::Live {
        stop_session(id, ctx)?;
    }
    Ok(is_silent)
}

fn unknown(id: PackageId) -> Failure {
    let text = "the task of this package is not in this store";
    Failure::new(ExitCode::NotFound, text).hint(format!(
        "take its content in: `handoff package receive {id}`"
    ))
}

/// Receives the package into the context of its task, which is handed out again.
fn take_up(
    package: PackageId,
    policy: PolicyArg,
    task: &Task,
    grasp: &Grasp,
    desk: &mut Project,
    ctx: &Context,
) -> Result<Received, Failure> {
    let asked = receive::Args::into_task(package, task, policy);
    let received = receive::receive(&asked, grasp, desk, ctx);
    let received = received.map_err(|failure| match expired(package, desk) {
        true => failure.hint(format!(
            "as it stands it goes on with `handoff unhold {}`: whoever works on it next is told what was sealed",
            task.spec.name
        )),
        false => failure,
    })?;
    unhold(task.id, desk)?;
    Ok(received)
}

/// Whether the time of a package is over.
fn expired(package: PackageId, desk: &mut Project) -> bool {
    let found = desk.depot().find(package);
    found.is_ok_and(|it| it.standing == PackageStanding::Expired)
}

fn unhold(task: TaskId, desk: &mut Project) -> Result<(), Failure> {
    let change = Change::Tell {
        task: TaskRef::Id(task),
        command: Command::Unhold,
    };
    desk.submit(change, None).map(drop)
}

fn told(
    args: &Asked,
    task: &Task,
    line: String,
    received: &Received,
    ctx: &mut Context,
) -> Result<u8, Failure> {
    if ctx.out.is_json() {
        let asked = receive::Args::into_task(args.package, task, args.how.policy);
        let document = received.document(&asked);
        ctx.out.document(ReceivedDocument::SCHEMA, document)?;
    } else {
        received.tell_of_drift(ctx)?;
        ctx.out.line(line)?;
    }
    Ok(ExitCode::Done.number())
}

/// A fresh session for the task that the paused one worked on.
fn in_session(
    args: &Asked,
    session: &SessionState,
    (task, grasp): (&Task, Grasp),
    desk: &mut Project,
    ctx: &mut Context,
) -> Result<u8, Failure> {
    let begin =
        sessions::Args::resuming(agent(args, session)?, args.how.id.clone(), args.how.detach);
    let taken = take_up(args.package, args.how.policy, task, &grasp, desk, ctx)?;
    let prompt = taken.prompt();
    let name = task.spec.name.to_string();
    let begin = begin.with_task(name.clone(), prompt);
    sessions::run_and(&begin, ctx, || drop(grasp)).map_err(|failure| {
        failure.hint(format!(
            "as long as nobody works on `{name}`, this can be repeated: `handoff resume {}`",
            args.package
        ))
    })
}

/// A fresh session that takes in the context of the paused one.
fn session_alone(
    args: &Asked,
    session: &SessionState,
    grasp: Grasp,
    desk: &mut Project,
    ctx: &mut Context,
) -> Result<u8, Failure> {
    let begin =
        sessions::Args::resuming(agent(args, session)?, args.how.id.clone(), args.how.detach);
    sessions::begin(&begin, ctx, |known, ctx| {
        let asked = receive::Args::into_session(args.package, known.record.id, args.how.policy);
        let prompt = receive::receive(&asked, &grasp, desk, ctx)?.prompt();
        send_first(prompt, known)?;
        drop(grasp);
        Ok(())
    })
}

/// Which agent goes on: our own of that name. A command that stands in a package is not run.
fn agent(args: &Asked, session: &SessionState) -> Result<OsString, Failure> {
    if let Some(agent) = &args.how.agent {
        return Ok(agent.clone());
    }
    if session.agent.as_str() == Agent::GENERIC {
        let text = "the session was a program that is no known agent";
        return Err(Failure::usage(text).hint("say what is to go on: `--agent PROGRAM`"));
    }
    Ok(session.agent.as_str().into())
}
