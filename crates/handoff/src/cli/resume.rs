//! `handoff resume`: lets a paused task go on in a fresh session, from where its package says.

use handoff_api::{ExitCode, ReceivedDocument};
use handoff_core::PackageId;
use handoff_core::task::Command;
use handoff_store::queue::{Change, TaskRef};
use handoff_store::{StoreError, packages, read, tasks};

use super::package::desk_for;
use super::package::receive::{self, PolicyArg};
use crate::context::Context;
use crate::failure::Failure;

#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// The package that `handoff pause` made.
    package: PackageId,
    /// What becomes of keys of the task's context that were changed since.
    #[arg(long, value_enum, default_value_t = PolicyArg::Refuse)]
    policy: PolicyArg,
}

pub(super) fn run(args: &Args, ctx: &mut Context) -> Result<ExitCode, Failure> {
    let mut desk = desk_for(args.package, ctx)?;
    let id = args.package;
    let record = read(&mut *desk.store, |tx| packages::get(tx, id))?;
    let unknown = || {
        Failure::new(
            ExitCode::NotFound,
            "the task of this package is not in this store",
        )
        .hint(format!(
            "take its content in: `handoff package receive {id}`"
        ))
    };
    let task = record.label.task.ok_or_else(unknown)?;
    let task = match read(&mut *desk.store, |tx| tasks::get(tx, task)) {
        Err(StoreError::NotFound { .. }) => return Err(unknown()),
        found => found?,
    };
    let asked = receive::Args::into_task(id, &task, args.policy);
    let received = receive::receive(&asked, &mut desk, ctx)?;
    let change = Change::Tell {
        task: TaskRef::Id(task.id),
        command: Command::Unhold,
    };
    desk.submit(change, None)?;
    let name = &task.spec.name;
    if ctx.out.is_json() {
        let document = received.document(&asked);
        ctx.out.document(ReceivedDocument::SCHEMA, document)?;
    } else {
        ctx.out.line(format!(
            "{name} goes on: `handoff worker --once`, or `handoff run AGENT --task {name}`"
        ))?;
    }
    Ok(ExitCode::Done)
}
