//! `handoff step add`.

use handoff_api::ExitCode;
use handoff_core::FeatureEvent;
use handoff_operations::Failure;
use handoff_workspace::plan::{Edit, Place, Plan, Sentence, StepWord};

use super::{FeatureArg, change, find, report};
use crate::context::Context;

#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// What is to be done; one line.
    text: Sentence,
    /// Behind this step instead of at the end.
    #[arg(long, value_name = "STEP")]
    after: Option<StepWord>,
    #[command(flatten)]
    choice: FeatureArg,
}

pub(super) fn run(args: &Args, ctx: &mut Context) -> Result<ExitCode, Failure> {
    let choose = |plan: &Plan| {
        let place = match &args.after {
            Some(word) => Place::After(find(plan, word)?.number),
            None => Place::End,
        };
        Ok(Edit::Add {
            title: args.text.clone(),
            place,
        })
    };
    let event = |step, mark| FeatureEvent::StepAdded { step, mark };
    let changed = change(&args.choice, choose, event, ctx)?;
    report(&changed, "new", ctx)
}
