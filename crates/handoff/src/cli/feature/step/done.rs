//! `handoff step done`.

use handoff_api::ExitCode;
use handoff_core::FeatureEvent;
use handoff_operations::Failure;
use handoff_workspace::plan::{Edit, Plan, StepWord, Then};

use super::{FeatureArg, change, find, report};
use crate::context::Context;

#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// The step, by its number or the beginning of its text. It has to be named, so that repeating the command does
    /// not finish the next one too.
    step: StepWord,
    /// Leave the next step as it is.
    #[arg(long)]
    no_next: bool,
    #[command(flatten)]
    choice: FeatureArg,
}

pub(super) fn run(args: &Args, ctx: &mut Context) -> Result<ExitCode, Failure> {
    let then = if args.no_next {
        Then::Rest
    } else {
        Then::StartNext
    };
    let choose = |plan: &Plan| {
        let step = find(plan, &args.step)?.number;
        Ok(Edit::Done { step, then })
    };
    let event = |step, mark| FeatureEvent::StepFinished { step, mark };
    let changed = change(&args.choice, choose, event, ctx)?;
    report(&changed, "done", ctx)
}
