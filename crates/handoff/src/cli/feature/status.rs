//! `handoff status`: the one screen that a person wants. The feature, its step, how fresh it is, what proves it and what blocks
//! it; what waits for a person; sessions, queue, batches and runs.

mod card;
mod follow;

use handoff_api::{ExitCode, StatusDocument};
use handoff_operations::Failure;
use handoff_operations::feature::FeatureSite;
use handoff_operations::overview::Sight;

use super::choice::FeatureArg;
use crate::cli::session::ps;
use crate::context::Context;

#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// Show it again whenever something changes, until you stop it.
    #[arg(long, short)]
    follow: bool,
    /// List the sessions instead, as `handoff ps` does.
    #[arg(long, conflicts_with = "follow")]
    sessions: bool,
    /// With `--sessions`: those of all projects.
    #[arg(long, requires = "sessions")]
    all: bool,
    #[command(flatten)]
    feature: FeatureArg,
}

pub(super) fn run(args: &Args, ctx: &mut Context) -> Result<ExitCode, Failure> {
    if args.sessions {
        return list_sessions(args, ctx);
    }
    let site = FeatureSite::find(ctx)?;
    if args.follow {
        return follow::run(&site, &args.feature, ctx);
    }
    let sight = Sight::take(&site, &args.feature.choice(), ctx)?;
    show(sight, ctx)?;
    Ok(ExitCode::Done)
}

fn list_sessions(args: &Args, ctx: &mut Context) -> Result<ExitCode, Failure> {
    let listed = ps::Args {
        all: args.all,
        ended: false,
        repo: None,
        id: None,
    };
    ps::run(&listed, ctx)
}

fn show(sight: Sight, ctx: &mut Context) -> Result<(), Failure> {
    if ctx.out.is_json() {
        ctx.out.document(StatusDocument::SCHEMA, sight.document)?;
        return Ok(());
    }
    for line in card::lines(&sight, &ctx.out) {
        ctx.out.line(line)?;
    }
    Ok(())
}
