//! `handoff step`: what happened to a step of the plan, written into `STATE.md`.

mod add;
mod block;
mod done;
mod start;

use handoff_api::{ExitCode, StepReceipt};
use handoff_core::feature::{Mark, StepTitle};
use handoff_core::{FeatureEvent, FeatureName};
use handoff_operations::Failure;
use handoff_operations::feature::FeatureSite;
use handoff_operations::feature::pen::Pen;
use handoff_operations::feature::plan_view::{plan_document, standing, step_document};
use handoff_workspace::Document;
use handoff_workspace::plan::{Edit, EditError, Edited, FindError, Plan, Step, StepWord, edit};

use super::choice::FeatureArg;
use crate::context::Context;
use crate::output::one_line;

#[derive(Debug, clap::Subcommand)]
pub(crate) enum Command {
    /// Make a step the current one; this also unblocks it, or opens it again.
    Start(start::Args),
    /// Mark a step as done; the next one becomes current.
    Done(done::Args),
    /// Mark a step as blocked, with the reason.
    Block(block::Args),
    /// Put a new step into the plan.
    Add(add::Args),
}

pub(super) fn run(command: Command, ctx: &mut Context) -> Result<ExitCode, Failure> {
    match command {
        Command::Start(args) => start::run(&args, ctx),
        Command::Done(args) => done::run(&args, ctx),
        Command::Block(args) => block::run(&args, ctx),
        Command::Add(args) => add::run(&args, ctx),
    }
}

/// What came of an edit.
struct Changed {
    feature: FeatureName,
    edited: Edited,
    /// It was so already, and nothing was written.
    is_repeat: bool,
}

/// Edits the plan: reads it, chooses the edit, replaces it, and records what happened.
fn change(
    choice: &FeatureArg,
    choose: impl FnOnce(&Plan) -> Result<Edit, Failure>,
    event: impl FnOnce(StepTitle, Mark) -> FeatureEvent,
    ctx: &Context,
) -> Result<Changed, Failure> {
    let site = FeatureSite::find(ctx)?;
    let pen = Pen::take(&site, &choice.choice())?;
    let text = pen.read(Document::State)?;
    let wanted = choose(&Plan::parse(&text))?;
    let edited = edit(&text, &wanted).map_err(|error| refused(&error))?;
    let is_repeat = edited.text == text;
    if !is_repeat {
        let title = recorded_title(&edited)?;
        pen.write(ctx, Document::State, &edited.text, |mark| {
            event(title, mark)
        })?;
    }
    Ok(Changed {
        feature: pen.feature.name,
        edited,
        is_repeat,
    })
}

/// Says what came of it.
fn report(changed: &Changed, state: &str, ctx: &mut Context) -> Result<ExitCode, Failure> {
    let Edited { plan, step, .. } = &changed.edited;
    let Some(step) = plan.step(*step) else {
        let text = "the edited step is not in the plan";
        return Err(Failure::new(ExitCode::Internal, text));
    };
    if ctx.out.is_json() {
        let receipt = StepReceipt {
            feature: changed.feature.to_string(),
            step: step_document(step),
            is_repeat: changed.is_repeat,
            plan: plan_document(plan),
        };
        ctx.out.document(StepReceipt::SCHEMA, receipt)?;
        return Ok(ExitCode::Done);
    }
    let (number, title) = (step.number, one_line(&step.title));
    let already = if changed.is_repeat { " already" } else { "" };
    ctx.out
        .line(format!("Step {number} is{already} {state}: {title}"))?;
    if plan
        .current()
        .is_none_or(|current| current.number != number)
    {
        ctx.out.line(standing(plan))?;
    }
    Ok(ExitCode::Done)
}

/// The step that is meant, in a plan that has steps.
fn find<'plan>(plan: &'plan Plan, word: &StepWord) -> Result<&'plan Step, Failure> {
    if plan.steps.is_empty() {
        return Err(no_steps(plan));
    }
    plan.find(word).map_err(|error| not_found(&error))
}

fn no_steps(plan: &Plan) -> Failure {
    let failure = Failure::new(ExitCode::NotFound, "there is no step in the plan yet");
    match plan.errors().next() {
        Some(problem) => failure
            .because(&problem.fault)
            .hint("see what is wrong: `handoff validate`"),
        None => failure
            .hint("have the plan made: `handoff tasks`; or add a step: `handoff step add TEXT`"),
    }
}

fn not_found(error: &FindError) -> Failure {
    let (code, steps) = match error {
        FindError::Unknown { could_be, .. } => (ExitCode::NotFound, could_be),
        FindError::Several { all, .. } => (ExitCode::Usage, all),
    };
    let failure = Failure::new(code, error.to_string());
    let steps = steps.iter();
    steps.fold(failure, |failure, (number, title)| {
        failure.hint(format!(
            "name it by its number: {number} is {}",
            one_line(title)
        ))
    })
}

fn refused(error: &EditError) -> Failure {
    let (code, hint) = match error {
        EditError::Structure(_) => (
            ExitCode::Damaged,
            "see all that is wrong: `handoff validate`".to_owned(),
        ),
        EditError::NoSuchStep { .. } => (
            ExitCode::NotFound,
            "see where the plan stands: `handoff status`".to_owned(),
        ),
        EditError::AlreadyDone(step) => (
            ExitCode::Conflict,
            format!("open it again first: `handoff step start {step}`"),
        ),
        EditError::SameStep(step) => (
            ExitCode::Conflict,
            format!("work on that one: `handoff step start {step}`"),
        ),
    };
    Failure::new(code, error.to_string()).hint(hint)
}

/// The title as the ledger takes it: a document may hold longer ones, and steps without any.
fn recorded_title(edited: &Edited) -> Result<StepTitle, Failure> {
    let title = edited
        .plan
        .step(edited.step)
        .map_or("", |step| step.title.as_str());
    let mut title = title.replace('\0', " ");
    title.truncate(title.floor_char_boundary(StepTitle::LIMIT));
    if title.trim().is_empty() {
        title = format!("step {}", edited.step);
    }
    StepTitle::try_from(title)
        .map_err(|error| Failure::failed("the step cannot be recorded").because(&error))
}
