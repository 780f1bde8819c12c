//! `handoff heartbeat`: keeps the lease of a task alive that somebody works on outside of a session. Inside of one nobody needs
//! it. From a tab that a worker opened it is the sign that the tab is alive.

use handoff_api::ExitCode;
use handoff_core::task::Command;
use handoff_operations::project::fence;
use handoff_operations::{Failure, Project};
use handoff_session::environment;
use handoff_store::queue::Change;

use super::queue::{KeyArg, change_task};
use super::session::Tab;
use crate::context::Context;

#[derive(Debug, clap::Args)]
pub(super) struct Args {
    /// The task, by name or id; inside a session its own, unless said otherwise.
    #[arg(long, value_name = "TASK")]
    task: Option<String>,
    /// The fence you got when you claimed it.
    #[arg(long, value_name = "NUMBER")]
    fence: Option<u64>,
    #[command(flatten)]
    key: KeyArg,
}

pub(super) fn run(args: Args, ctx: &mut Context) -> Result<ExitCode, Failure> {
    let own = || ctx.ambient.text(environment::TASK).map(str::to_owned);
    let name = args.task.or_else(own).ok_or_else(|| {
        Failure::usage(
            "`--task` is needed: outside of a session nobody knows which task you work on",
        )
    })?;
    let fence = fence(ctx, args.fence).ok_or_else(|| {
        Failure::usage("`--fence` is needed: the number you got when you claimed the task")
    })?;
    let mut desk = Project::open(ctx)?;
    let task = desk.task_ref(&name)?;
    let change = Change::Tell {
        task: task.clone(),
        command: Command::Renew { fence },
    };
    let shown = change_task(&mut desk, change, args.key, "renewed", ctx)?;
    // A tab that a worker opened shows by this that somebody is in it.
    Tab::give_sign(&desk.find(&task)?, ctx)?;
    Ok(shown)
}
