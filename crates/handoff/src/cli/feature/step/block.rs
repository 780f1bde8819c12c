//! `handoff step block`.

use handoff_api::ExitCode;
use handoff_core::FeatureEvent;
use handoff_core::task::Reason;
use handoff_operations::Failure;
use handoff_workspace::plan::{Edit, Plan, Sentence, StepWord};

use super::{FeatureArg, change, find, report};
use crate::context::Context;

#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// The step, by its number or the beginning of its text.
    step: StepWord,
    /// Why it cannot go on, and what would help; one line.
    #[arg(long, short, value_name = "TEXT")]
    reason: Sentence,
    #[command(flatten)]
    choice: FeatureArg,
}

pub(super) fn run(args: &Args, ctx: &mut Context) -> Result<ExitCode, Failure> {
    let recorded: Reason = args
        .reason
        .as_str()
        .parse()
        .map_err(|error| Failure::usage("the reason cannot be recorded").because(&error))?;
    let choose = |plan: &Plan| {
        Ok(Edit::Block {
            step: find(plan, &args.step)?.number,
            reason: args.reason.clone(),
        })
    };
    let event = |step, mark| FeatureEvent::StepBlocked {
        step,
        reason: recorded,
        mark,
    };
    let changed = change(&args.choice, choose, event, ctx)?;
    report(&changed, "blocked", ctx)
}
