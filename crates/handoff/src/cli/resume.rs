//! `handoff resume`: lets a paused task or session go on in a fresh session, from where its package says.

use std::ffi::OsString;

use handoff_agents::Agent;
use handoff_api::{ExitCode, ReceivedDocument};
use handoff_core::task::Command;
use handoff_core::{PackageId, SessionName, Task};
use handoff_package::payload::SessionState;
use handoff_store::queue::{Change, TaskRef};
use handoff_store::{StoreError, packages, read, tasks};

use super::package::desk_for;
use super::package::receive::{self, PolicyArg, Received};
use super::session::run as sessions;
use crate::context::Context;
use crate::desk::Desk;
use crate::failure::Failure;

#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// The package that `handoff pause` made.
    package: PackageId,
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
}

pub(super) fn run(args: &Args, ctx: &mut Context) -> Result<u8, Failure> {
    let mut desk = desk_for(args.package, ctx)?;
    let stored = desk.depot().find(args.package)?;
    let task = task_of(args.package, &mut desk)?;
    match (stored.opened.package.payload.session, task) {
        (Some(session), Some(task)) => in_session(args, &session, &task, &mut desk, ctx),
        (Some(session), None) => session_alone(args, &session, &mut desk, ctx),
        (None, Some(task)) => {
            let received = take_up(args, &task, &mut desk, ctx)?;
            told(args, &task, received, ctx).map(ExitCode::number)
        }
        (None, None) => Err(unknown(args.package)),
    }
}

fn unknown(id: PackageId) -> Failure {
    let text = "the task of this package is not in this store";
    Failure::new(ExitCode::NotFound, text).hint(format!(
        "take its content in: `handoff package receive {id}`"
    ))
}

/// The task of a package, if it is one of this store.
fn task_of(id: PackageId, desk: &mut Desk) -> Result<Option<Task>, Failure> {
    let record = read(&mut *desk.store, |tx| packages::get(tx, id))?;
    let Some(task) = record.label.task else {
        return Ok(None);
    };
    match read(&mut *desk.store, |tx| tasks::get(tx, task)) {
        Err(StoreError::NotFound { .. }) => Ok(None),
        found => Ok(Some(found?)),
    }
}

/// Receives the package into the context of its task, which is handed out again.
fn take_up(args: &Args, task: &Task, desk: &mut Desk, ctx: &Context) -> Result<Received, Failure> {
    let asked = receive::Args::into_task(args.package, task, args.policy);
    let received = receive::receive(&asked, desk, ctx)?;
    let change = Change::Tell {
        task: TaskRef::Id(task.id),
        command: Command::Unhold,
    };
    desk.submit(change, None)?;
    Ok(received)
}

fn told(
    args: &Args,
    task: &Task,
    received: Received,
    ctx: &mut Context,
) -> Result<ExitCode, Failure> {
    let name = &task.spec.name;
    if ctx.out.is_json() {
        let asked = receive::Args::into_task(args.package, task, args.policy);
        let document = received.document(&asked);
        ctx.out.document(ReceivedDocument::SCHEMA, document)?;
    } else {
        ctx.out.line(format!(
            "{name} goes on: `handoff worker --once`, or `handoff run AGENT --task {name}`"
        ))?;
    }
    Ok(ExitCode::Done)
}

/// A fresh session for the task that the paused one worked on.
fn in_session(
    args: &Args,
    session: &SessionState,
    task: &Task,
    desk: &mut Desk,
    ctx: &mut Context,
) -> Result<u8, Failure> {
    let begin = sessions::Args::resuming(agent(args, session)?, args.id.clone(), args.detach);
    let prompt = take_up(args, task, desk, ctx)?.prompt();
    let name = task.spec.name.to_string();
    sessions::run(&begin.with_task(name.clone(), prompt), ctx).map_err(|failure| {
        failure.hint(format!(
            "the package is received; begin a session for its task: `handoff run AGENT --task {name}`"
        ))
    })
}

/// A fresh session that takes in the context of the paused one.
fn session_alone(
    args: &Args,
    session: &SessionState,
    desk: &mut Desk,
    ctx: &mut Context,
) -> Result<u8, Failure> {
    let begin = sessions::Args::resuming(agent(args, session)?, args.id.clone(), args.detach);
    sessions::begin(&begin, ctx, |id, ctx| {
        let asked = receive::Args::into_session(args.package, id, args.policy);
        Ok(receive::receive(&asked, desk, ctx)?.prompt())
    })
}

/// Which agent goes on: our own of that name. A command that stands in a package is not run.
fn agent(args: &Args, session: &SessionState) -> Result<OsString, Failure> {
    if let Some(agent) = &args.agent {
        return Ok(agent.clone());
    }
    if session.agent.as_str() == Agent::GENERIC {
        let text = "the session was a program that is no known agent";
        return Err(Failure::usage(text).hint("say what is to go on: `--agent PROGRAM`"));
    }
    Ok(session.agent.as_str().into())
}
