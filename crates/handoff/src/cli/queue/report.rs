//! What the holder of a lease reports, and how a person overrides it: `heartbeat`, `complete`, `fail`, `block`, `release`,
//! `cancel`, `retry`.

use handoff_api::ExitCode;
use handoff_core::task::{Command, Reason, Summary};
use handoff_core::{Action, Fence};
use handoff_operations::project::fence;
use handoff_operations::{Failure, Project};
use handoff_store::queue::Change;

use super::{KeyArg, change_task};
use crate::confirmation::{Destruction, YesArg, confirm};
use crate::context::Context;

/// A task, and the right to report on it.
#[derive(Debug, clap::Args)]
pub(super) struct Reported {
    /// Its name or id.
    task: String,
    /// The fence you got when you claimed it; a session has it in HANDOFF_FENCE.
    #[arg(long, value_name = "NUMBER")]
    fence: Option<u64>,
    #[command(flatten)]
    key: KeyArg,
}

#[derive(Debug, clap::Args)]
pub(crate) struct HeartbeatArgs {
    #[command(flatten)]
    reported: Reported,
}

#[derive(Debug, clap::Args)]
pub(crate) struct CompleteArgs {
    #[command(flatten)]
    reported: Reported,
    /// What was done.
    #[arg(long, short, value_name = "TEXT")]
    summary: Option<Summary>,
}

#[derive(Debug, clap::Args)]
pub(crate) struct ReasonArgs {
    #[command(flatten)]
    reported: Reported,
    /// Why.
    #[arg(long, short, value_name = "TEXT")]
    reason: Reason,
}

#[derive(Debug, clap::Args)]
pub(crate) struct ReleaseArgs {
    #[command(flatten)]
    reported: Reported,
    /// Why.
    #[arg(long, short, value_name = "TEXT")]
    reason: Option<Reason>,
}

#[derive(Debug, clap::Args)]
pub(crate) struct CancelArgs {
    /// Its name or id.
    task: String,
    /// Why.
    #[arg(long, short, value_name = "TEXT")]
    reason: Option<Reason>,
    #[command(flatten)]
    yes: YesArg,
    #[command(flatten)]
    key: KeyArg,
}

#[derive(Debug, clap::Args)]
pub(crate) struct RetryArgs {
    /// Its name or id.
    task: String,
    #[command(flatten)]
    key: KeyArg,
}

pub(super) fn heartbeat(args: HeartbeatArgs, ctx: &mut Context) -> Result<ExitCode, Failure> {
    let fence = needed_fence(&args.reported, ctx)?;
    tell(args.reported, Command::Renew { fence }, "renewed", ctx)
}

pub(super) fn complete(args: CompleteArgs, ctx: &mut Context) -> Result<ExitCode, Failure> {
    let fence = fence(ctx, args.reported.fence);
    let command = Command::Complete {
        fence,
        summary: args.summary,
    };
    let told = tell(args.reported, command, "completed", ctx);
    told.map_err(|failure| {
        if failure.code == ExitCode::Forbidden {
            failure.hint("inside a session: `handoff done --summary TEXT`")
        } else {
            failure
        }
    })
}

pub(super) fn fail(args: ReasonArgs, ctx: &mut Context) -> Result<ExitCode, Failure> {
    let fence = fence(ctx, args.reported.fence);
    tell(
        args.reported,
        Command::Fail {
            fence,
            reason: args.reason,
        },
        "failed",
        ctx,
    )
}

pub(super) fn block(args: ReasonArgs, ctx: &mut Context) -> Result<ExitCode, Failure> {
    let fence = fence(ctx, args.reported.fence);
    tell(
        args.reported,
        Command::Block {
            fence,
            reason: args.reason,
        },
        "blocked",
        ctx,
    )
}

pub(super) fn release(args: ReleaseArgs, ctx: &mut Context) -> Result<ExitCode, Failure> {
    let fence = needed_fence(&args.reported, ctx)?;
    tell(
        args.reported,
        Command::Release {
            fence,
            reason: args.reason,
        },
        "released",
        ctx,
    )
}

pub(super) fn cancel(args: CancelArgs, ctx: &mut Context) -> Result<ExitCode, Failure> {
    confirm_running(&args, ctx)?;
    let reported = Reported {
        task: args.task,
        fence: None,
        key: args.key,
    };
    tell(
        reported,
        Command::Cancel {
            reason: args.reason,
        },
        "cancelled",
        ctx,
    )
}

/// Nobody is asked about a task that nobody works on, nor about one that is not there: the ledger says what is wrong with it.
fn confirm_running(args: &CancelArgs, ctx: &mut Context) -> Result<(), Failure> {
    let mut desk = Project::open(ctx)?;
    desk.caller.may(Action::Steer)?;
    match desk.task(&args.task) {
        Ok(task) if task.state.lease().is_some() => {
            let what = Destruction::RunningTask(task.spec.name);
            confirm(&what, args.yes, ctx)
        }
        Ok(_) => Ok(()),
        Err(missing) if missing.code == ExitCode::NotFound => Ok(()),
        Err(failure) => Err(failure),
    }
}

pub(super) fn retry(args: RetryArgs, ctx: &mut Context) -> Result<ExitCode, Failure> {
    let reported = Reported {
        task: args.task,
        fence: None,
        key: args.key,
    };
    tell(reported, Command::Retry, "reopened", ctx)
}

fn tell(
    reported: Reported,
    command: Command,
    verb: &str,
    ctx: &mut Context,
) -> Result<ExitCode, Failure> {
    let mut desk = Project::open(ctx)?;
    let task = desk.task_ref(&reported.task)?;
    change_task(
        &mut desk,
        Change::Tell { task, command },
        reported.key,
        verb,
        ctx,
    )
}

fn needed_fence(reported: &Reported, ctx: &Context) -> Result<Fence, Failure> {
    fence(ctx, reported.fence).ok_or_else(|| {
        Failure::usage("`--fence` is needed: the number you got when you claimed the task")
    })
}
