//! `handoff queue claim`.

use std::time::Duration;

use handoff_api::{ClaimDocument, ExitCode};
use handoff_core::lease::Ttl;
use handoff_store::queue::{Answer, Change, TenureWish};

use super::KeyArg;
use crate::cli::span::Span;
use crate::context::{Context, fresh_key};
use crate::desk::Desk;
use crate::failure::Failure;
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
    /// Wait until something is ready, at most this long.
    #[arg(long, value_name = "DURATION", conflicts_with = "task")]
    wait: Option<Span>,
    #[command(flatten)]
    key: KeyArg,
}

pub(super) fn run(args: Args, ctx: &mut Context) -> Result<ExitCode, Failure> {
    let ttl = Ttl::new(args.ttl.duration()).map_err(|error| Failure::usage(error.to_string()))?;
    let tenure = TenureWish::Timed { ttl };
    let mut desk = Desk::open(ctx)?;
    let change = match &args.task {
        Some(task) => Change::Claim {
            task: desk.task_ref(task)?,
            tenure,
        },
        None => Change::ClaimNext {
            project: desk.project,
            tenure,
        },
    };
    let key = args.key.key.unwrap_or_else(fresh_key);
    let patience = args.wait.map_or(Duration::ZERO, Span::duration);
    let clock = ctx.clock()?;
    let started = clock.now().moment.elapsed;
    // A server's bell is a connection of its own; who does not wait needs none.
    let mut bell = args.wait.map(|_| desk.store.bell()).transpose()?;
    loop {
        let (receipt, key) = desk.submit(change.clone(), Some(key.clone()))?;
        if let Answer::Task(task) = receipt.answer {
            let task = Some(desk.document(&task)?);
            return show(
                ClaimDocument {
                    task,
                    key: key.to_string(),
                    is_repeat: receipt.is_repeat,
                },
                ctx,
            );
        }
        let left = patience.saturating_sub(clock.now().moment.elapsed.since(started));
        if left.is_zero() {
            return show(
                ClaimDocument {
                    task: None,
                    key: key.to_string(),
                    is_repeat: false,
                },
                ctx,
            );
        }
        if let Some(bell) = &mut bell {
            bell.wait(left.min(LOOK_AGAIN))?;
        }
    }
}

fn show(claim: ClaimDocument, ctx: &mut Context) -> Result<ExitCode, Failure> {
    let code = if claim.task.is_some() {
        ExitCode::Done
    } else {
        ExitCode::NothingReady
    };
    if ctx.out.is_json() {
        ctx.out.document(ClaimDocument::SCHEMA, claim)?;
        return Ok(code);
    }
    match (
        &claim.task,
        claim.task.as_ref().and_then(|task| task.lease.as_ref()),
    ) {
        (Some(task), Some(lease)) => {
            let name = ctx.out.styled(Tone::Strong, &task.name);
            ctx.out.line(format!(
                "claimed {name} with fence {}\n\n{}",
                lease.fence,
                plain(&task.brief)
            ))?;
            let fence = lease.fence;
            ctx.out.note(format!(
                "\nWhen it is done: `handoff queue complete {} --fence {fence}`.",
                task.name
            ))?;
        }
        _ => ctx.out.note("Nothing is ready to be claimed.")?,
    }
    Ok(code)
}
