//! `handoff decide`: what was decided, and why.

use handoff_api::ExitCode;
use handoff_core::FeatureEvent;
use handoff_operations::Failure;
use handoff_workspace::notebook::{Passage, Topic};

use super::choice::FeatureArg;
use super::note::{passage, recorded, write};
use crate::context::Context;

#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// What was decided.
    text: Passage,
    /// Why: without it the next session decides again.
    #[arg(long, value_name = "REASON")]
    because: Passage,
    #[command(flatten)]
    choice: FeatureArg,
}

pub(super) fn run(args: &Args, ctx: &mut Context) -> Result<ExitCode, Failure> {
    let entry = format!("{}\nbecause: {}", args.text.as_str(), args.because.as_str());
    let (decision, because) = (recorded(&args.text)?, recorded(&args.because)?);
    let event = |mark| FeatureEvent::Decided {
        decision,
        because,
        mark,
    };
    write(
        &args.choice,
        Topic::Decisions,
        &passage(&entry)?,
        event,
        ctx,
    )
}
