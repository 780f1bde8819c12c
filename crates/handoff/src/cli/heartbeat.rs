//! `handoff heartbeat`: keeps the lease of a task alive that somebody works on outside of a session. Inside of one nobody needs
//! it. From a tab that a worker opened it is the sign that the tab is alive.

use handoff_api::ExitCode;
use handoff_core::task::Command;
use handoff_store::queue::Change;

use super::queue::{KeyArg, change_task};
use super::session::Tab;
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
    let change = Change::Tell {
        task: task.clone(),
        command: Command::Renew { fence },
    };
    let shown = change_task(&mut desk, change, args.key, "renewed", ctx)?;
    // A tab that a worker opened shows by this that somebody is in it.
    Tab::give_sign(&desk.find(&task)?, ctx)?;
    Ok(shown)
}
