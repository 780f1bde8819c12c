//! `handoff land`.

use handoff_api::{ExitCode, LandingDocument};
use handoff_core::BranchName;
use handoff_operations::{Failure, Land, call};

use crate::context::Context;
use crate::output::plain;

#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// A task or a batch, by name or id, or one of their branches.
    what: String,
    /// The branch to move; the one that is checked out here, unless said otherwise.
    #[arg(long, value_name = "BRANCH")]
    into: Option<BranchName>,
}

pub(super) fn run(args: &Args, ctx: &mut Context) -> Result<ExitCode, Failure> {
    let land = Land {
        what: args.what.clone(),
        into: args.into.clone(),
    };
    let landed = call(land, ctx)?;
    if ctx.out.is_json() {
        ctx.out.document(LandingDocument::SCHEMA, landed)?;
        return Ok(ExitCode::Done);
    }
    let (into, branch) = (plain(&landed.into), plain(&landed.branch));
    ctx.out.line(match landed.commits {
        0 => format!("{into} has all of {branch} already."),
        1 => format!("{into} has 1 commit more, from {branch}."),
        count => format!("{into} has {count} commits more, from {branch}."),
    })?;
    Ok(ExitCode::Done)
}
