//! `handoff package release` and `handoff package delete`.

use handoff_api::ExitCode;
use handoff_core::package::PackageCommand;
use handoff_core::task::Reason;
use handoff_core::{Fence, PackageId, PackageRecord};
use handoff_operations::{Failure, Project};
use handoff_store::queue::Change;

use super::{desk_for, tell};
use crate::cli::queue::KeyArg;
use crate::confirmation::{Destruction, YesArg, confirm, require_destroyer};
use crate::context::Context;

#[derive(Debug, clap::Args)]
pub(crate) struct ReleaseArgs {
    /// Which.
    package: PackageId,
    /// The number of the claim; without it, whatever claim there is.
    #[arg(long, value_name = "NUMBER")]
    fence: Option<u64>,
    /// Why.
    #[arg(long, short, value_name = "TEXT")]
    reason: Option<Reason>,
    #[command(flatten)]
    key: KeyArg,
}

#[derive(Debug, clap::Args)]
pub(crate) struct DeleteArgs {
    /// Which.
    package: PackageId,
    /// Why.
    #[arg(long, short, value_name = "TEXT")]
    reason: Option<Reason>,
    #[command(flatten)]
    yes: YesArg,
    #[command(flatten)]
    key: KeyArg,
}

pub(super) fn release(args: ReleaseArgs, ctx: &mut Context) -> Result<ExitCode, Failure> {
    let mut desk = desk_for(args.package, ctx)?;
    let command = PackageCommand::Release {
        fence: args.fence.map(Fence::new),
        reason: args.reason,
    };
    let record = change(&mut desk, args.package, command, args.key)?;
    tell(&mut desk, &record, vec![], ctx)
}

pub(super) fn delete(args: DeleteArgs, ctx: &mut Context) -> Result<ExitCode, Failure> {
    require_destroyer(ctx)?;
    let mut desk = desk_for(args.package, ctx)?;
    confirm(&Destruction::Package(args.package), args.yes, ctx)?;
    let command = PackageCommand::Cancel {
        reason: args.reason,
    };
    let record = change(&mut desk, args.package, command, args.key)?;
    // The row says that it is gone; what was in it harms nobody if it stays for a while.
    let removed = desk.depot().forget(&record);
    let notes = match removed {
        Ok(_) => vec![],
        Err(error) => vec![format!("what was in it is still there: {error}")],
    };
    tell(&mut desk, &record, notes, ctx)
}

/// Tells a package something.
pub(super) fn change(
    desk: &mut Project,
    id: PackageId,
    command: PackageCommand,
    key: KeyArg,
) -> Result<PackageRecord, Failure> {
    let recorded = desk.submit(Change::Package { id, command }, key.key)?;
    let record = recorded.receipt.answer.into_package();
    record.ok_or_else(|| Failure::new(ExitCode::Internal, "the answer is not a package"))
}
