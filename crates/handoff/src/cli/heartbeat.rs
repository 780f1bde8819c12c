//! `handoff heartbeat`: keeps the lease of a task alive that somebody works on outside of a session. Inside of one nobody needs
//! it.

use handoff_api::ExitCode;
use handoff_core::task::Command;
use handoff_store::queue::Change;

use super::queue::{KeyArg, change_task};
use crate::context::Context;
use crate::desk::{Desk, fence};
use crate::failure::Failure;

#[derive(Debug, clap::Args)]
pub(super) struct Args {
    /// The task, by name or id.
    #[arg(long, value_name = "TASK")]
    task: String,
    /// The fence you got when you claimed it.
    #[arg(long, value_name = "NUMBER")]
    fence: Option<u64>,
    #[command(flatten)]
    key: KeyArg,
}

pub(super) fn run(args: Args, ctx: &mut Context) -> Result<ExitCode, Failure> {
    let fence = fence(ctx, args.fence).ok_or_else(|| {
        Failure::usage("`--fence` is needed: the number you got when you claimed the task")
    })?;
    let mut desk = Desk::open(ctx)?;
    let task = desk.task_ref(&args.task)?;
    let command = Command::Renew { fence };
    change_task(
        &mut desk,
        Change::Tell { task, command },
        args.key,
        "renewed",
        ctx,
    )
}
