//! `handoff step start`.

use handoff_api::ExitCode;
use handoff_core::FeatureEvent;
use handoff_operations::Failure;
use handoff_workspace::plan::{Edit, Plan, StepNumber, StepWord, Verdict};

use super::{FeatureArg, change, find, no_steps, report};
use crate::context::Context;

#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// The step, by its number or the beginning of its text; without it, the one that `handoff next` names.
    step: Option<StepWord>,
    #[command(flatten)]
    choice: FeatureArg,
}

pub(super) fn run(args: &Args, ctx: &mut Context) -> Result<ExitCode, Failure> {
    let choose = |plan: &Plan| {
        let number = match &args.step {
            Some(word) => find(plan, word)?.number,
            None => next(plan)?,
        };
        Ok(Edit::Start(number))
    };
    let event = |step, mark| FeatureEvent::StepStarted { step, mark };
    let changed = change(&args.choice, choose, event, ctx)?;
    report(&changed, "current", ctx)
}

fn next(plan: &Plan) -> Result<StepNumber, Failure> {
    let remedy = |text: &str, hint: &str| Err(Failure::new(ExitCode::Conflict, text).hint(hint));
    match plan.verdict() {
        Verdict::Ready { current } => Ok(current),
        Verdict::NotInitialised => Err(no_steps(plan)),
        Verdict::Invalid => remedy(
            "the plan does not say which step is next",
            "see what is wrong: `handoff validate`; or name the step",
        ),
        Verdict::NothingRemaining => remedy(
            "every step is done",
            "open one again: `handoff step start STEP`; or add one: `handoff step add TEXT`",
        ),
        Verdict::Blocked => remedy(
            "only blocked steps remain",
            "see why: `handoff next`; go on with one that can: `handoff step start STEP`",
        ),
    }
}
