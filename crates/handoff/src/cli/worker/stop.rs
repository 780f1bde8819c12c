//! `handoff worker stop`: tells workers to stop. Their agents go on, and the next worker takes them over.
//!
//! Nobody is signalled: a worker is told by a file beside the lock that it signed in with, and has stopped when that is free.

use std::time::Duration;

use handoff_api::{ExitCode, StoppedWorkersDocument};
use handoff_core::Action;
use handoff_files::{Dir, Lock, Mode, Watch, WriteError, atomic};
use handoff_operations::project::caller;
use handoff_operations::worker::{LivingWorker, living};
use handoff_operations::{Failure, Project};

use crate::context::Context;

/// A worker that is told has stopped within this time, unless it hangs.
const STOPPING_TAKES: Duration = Duration::from_secs(15);
/// Where the kernel does not tell, or in the moment before it does.
const LOOK_AGAIN: Duration = Duration::from_millis(200);

#[derive(Debug, clap::Args)]
pub(super) struct StopArgs {
    /// Which one; one of `handoff worker list`. Not needed where only one lives.
    #[arg(conflicts_with = "all")]
    id: Option<String>,
    /// All workers of this project.
    #[arg(long)]
    all: bool,
}

pub(super) fn stop(args: &StopArgs, ctx: &mut Context) -> Result<ExitCode, Failure> {
    caller(&ctx.ambient)?.may(Action::ManageWorkers)?;
    let living = match Project::peek(ctx)? {
        Some(desk) => living(&desk, ctx)?,
        None => vec![],
    };
    let chosen = choose(args, living)?;
    for worker in &chosen {
        order(worker)?;
    }
    let (mut stopped, mut left) = (vec![], vec![]);
    for worker in &chosen {
        let list = if has_ended(worker, ctx)? {
            &mut stopped
        } else {
            &mut left
        };
        list.push(worker.name().to_owned());
    }
    show(&StoppedWorkersDocument { stopped, left }, ctx)
}

fn choose(args: &StopArgs, living: Vec<LivingWorker>) -> Result<Vec<LivingWorker>, Failure> {
    if args.all {
        return Ok(living);
    }
    let many = living.len();
    let is_meant =
        |it: &LivingWorker| { args.id.as_ref() }.is_none_or(|id| it.id.ends_with(id.as_str()));
    let chosen: Vec<_> = living.into_iter().filter(is_meant).collect();
    match (chosen.len(), &args.id) {
        (1, _) => Ok(chosen),
        (0, Some(id)) => Err(Failure::new(
            ExitCode::NotFound,
            format!("no worker of this project is called {id:?}"),
        )
        .hint("see them: `handoff worker list`")),
        (0, None) => Err(Failure::new(ExitCode::NotFound, "no worker lives here")),
        (_, _) => Err(
            Failure::usage(format!("{many} workers live here: which one is meant?"))
                .hint("see them: `handoff worker list`; all of them: `handoff worker stop --all`"),
        ),
    }
}

fn order(worker: &LivingWorker) -> Result<(), Failure> {
    let cannot = || Failure::failed("cannot tell a worker to stop");
    let place = worker.lock.parent().ok_or_else(cannot)?;
    let dir = Dir::open(place).map_err(|error| cannot().because(&error))?;
    match atomic::create_new(&dir, &format!("{}.stop", worker.id), b"", Mode::Private) {
        // Somebody else has told it.
        Ok(()) | Err(WriteError::AlreadyExists(_)) => Ok(()),
        Err(error) => Err(cannot().because(&error)),
    }
}

/// Whether it has let go of its lock, in the time that it gets.
fn has_ended(worker: &LivingWorker, ctx: &Context) -> Result<bool, Failure> {
    let cannot = || Failure::failed("cannot tell whether the worker has stopped");
    let clock = ctx.clock()?;
    let deadline = clock.now().moment.awake.after(STOPPING_TAKES);
    loop {
        if !Lock::is_held(&worker.lock).map_err(|error| cannot().because(&error))? {
            // What it was told is done; whoever signs in next would clear it away too.
            std::fs::remove_file(worker.lock.with_extension("stop")).ok();
            return Ok(true);
        }
        let left = deadline.since(clock.now().moment.awake);
        if left.is_zero() {
            return Ok(false);
        }
        match Watch::on(&worker.lock) {
            // The kernel tells that a file was closed a moment before it lets go of the lock.
            Ok(mut watch) => drop(watch.wait(Some(left.min(LOOK_AGAIN)))),
            Err(_) => std::thread::park_timeout(left.min(LOOK_AGAIN)),
        }
    }
}

fn show(document: &StoppedWorkersDocument, ctx: &mut Context) -> Result<ExitCode, Failure> {
    if ctx.out.is_json() {
        ctx.out.document(StoppedWorkersDocument::SCHEMA, document)?;
    } else {
        for name in &document.stopped {
            ctx.out.line(format!("worker {name} has stopped"))?;
        }
        for name in &document.left {
            ctx.out
                .line(format!("worker {name} was told, and has not stopped yet"))?;
        }
        ctx.out
            .note("Agents that were at work go on; the next worker takes them over.")?;
    }
    Ok(if document.left.is_empty() {
        ExitCode::Done
    } else {
        ExitCode::TimedOut
    })
}
