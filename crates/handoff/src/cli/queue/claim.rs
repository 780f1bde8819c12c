//! `handoff queue claim`.

use std::time::Duration;

use handoff_api::{ClaimDocument, ExitCode, TaskDocument};
use handoff_core::Cursor;
use handoff_core::lease::Ttl;
use handoff_core::time::Clock;
use handoff_operations::project::Recorded;
use handoff_operations::{Failure, Project, Span, fresh_key};
use handoff_store::queue::{Agents, Answer, Change, TenureWish};
use handoff_store::{events, read};

use super::KeyArg;
use crate::cli::prospect;
use crate::context::Context;
use crate::output::{Tone, plain};

/// How long a waiting claimer sleeps at most: leases run out without ringing a bell.
const LOOK_AGAIN: Duration = Duration::from_secs(5);

#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// Its name or id; without it the first that is ready.
    task: Option<String>,
    /// How long the lease lasts without a heartbeat.
    #[arg(long, value_name = "DURATION", default_value = "10m")]
    ttl: Span,
    /// Wait until something is ready, at most this long (exit code 124 if nothing comes).
    #[arg(long, value_name = "DURATION", conflicts_with = "task")]
    wait: Option<Span>,
    #[command(flatten)]
    key: KeyArg,
}

pub(super) fn run(args: Args, ctx: &mut Context) -> Result<ExitCode, Failure> {
    let ttl = Ttl::new(args.ttl.duration()).map_err(|error| Failure::usage(error.to_string()))?;
    let tenure = TenureWish::Timed { ttl };
    let mut desk = Project::open(ctx)?;
    let change = match &args.task {
        Some(task) => Change::Claim {
            task: desk.task_ref(task)?,
            tenure,
        },
        None => Change::ClaimNext {
            project: desk.id,
            tenure,
            agents: Agents::default(),
        },
    };
    let key = args.key.key.unwrap_or_else(fresh_key);
    let patience = args.wait.map_or(Duration::ZERO, Span::duration);
    let clock = ctx.clock()?;
    let started = clock.now().moment.elapsed;
    let left = || patience.saturating_sub(clock.now().moment.elapsed.since(started));
    loop {
        let seen = read(&mut *desk.store, events::newest)?;
        let recorded = desk.submit(change.clone(), Some(key.clone()))?;
        let is_over = left().is_zero();
        if matches!(recorded.receipt.answer, Answer::Task(_)) || is_over {
            let outcome = show(&mut desk, &recorded, args.wait.is_some(), ctx);
            return outcome.map_err(|failure| recorded.untold(failure));
        }
        wait_for_news(&mut desk, seen, left(), &*clock)?;
    }
}

/// Waits until something was recorded after `seen`, but no longer than `patience` and [`LOOK_AGAIN`] allow. Every claim rings
/// the bell, our own too; only the ledger tells whether there is any news.
fn wait_for_news(
    desk: &mut Project,
    seen: Cursor,
    patience: Duration,
    clock: &dyn Clock,
) -> Result<(), Failure> {
    let mut bell = desk.store.bell()?;
    let patience = patience.min(LOOK_AGAIN);
    let started = clock.now().moment.elapsed;
    let left = || patience.saturating_sub(clock.now().moment.elapsed.since(started));
    while read(&mut *desk.store, events::newest)? == seen && !left().is_zero() {
        bell.wait(left())?;
    }
    Ok(())
}

fn show(
    desk: &mut Project,
    recorded: &Recorded,
    has_waited: bool,
    ctx: &mut Context,
) -> Result<ExitCode, Failure> {
    let receipt = &recorded.receipt;
    let task = match &receipt.answer {
        Answer::Task(task) => Some(desk.document(task, &receipt.now.moment)),
        Answer::NothingReady
        | Answer::Hold { .. }
        | Answer::Feature(_)
        | Answer::Package(_)
        | Answer::Batch(_)
        | Answer::Run(_)
        | Answer::Context { .. }
        | Answer::Repository { .. } => None,
    };
    let code = match &task {
        Some(_) => ExitCode::Done,
        None if has_waited => ExitCode::TimedOut,
        None => ExitCode::NothingReady,
    };
    if ctx.out.is_json() {
        let key = recorded.key.to_string();
        let is_repeat = receipt.is_repeat;
        ctx.out.document(
            ClaimDocument::SCHEMA,
            ClaimDocument {
                task,
                key,
                is_repeat,
            },
        )?;
        return Ok(code);
    }
    match task
        .as_ref()
        .and_then(|task| Some((task, task.lease.as_ref()?)))
    {
        Some((task, lease)) => tell_claimed(task, lease.fence, ctx)?,
        None => {
            ctx.out.note("Nothing is ready to be claimed.")?;
            for line in prospect::holds(desk) {
                ctx.out.note(line)?;
            }
        }
    }
    Ok(code)
}

fn tell_claimed(task: &TaskDocument, fence: u64, ctx: &mut Context) -> Result<(), Failure> {
    let name = ctx.out.styled(Tone::Strong, &task.name);
    let brief = plain(&task.brief);
    ctx.out
        .line(format!("claimed {name} with fence {fence}\n\n{brief}"))?;
    let next = format!("handoff queue complete {} --fence {fence}", task.name);
    Ok(ctx.out.note(format!("\nWhen it is done: `{next}`."))?)
}
