//! `handoff next`: the one next action.

use handoff_api::{ExitCode, NextDocument, StepDocument, StepState};
use handoff_operations::Failure;
use handoff_operations::feature::FeatureSite;
use handoff_operations::feature::advice::{Advice, advice};
use handoff_operations::feature::pen::read;
use handoff_operations::feature::plan_view::{plan_document, step_document};
use handoff_workspace::Document;
use handoff_workspace::plan::{Marker, Plan, Step};

use super::choice::FeatureArg;
use crate::context::Context;
use crate::output::{Tone, one_line};

#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    #[command(flatten)]
    choice: FeatureArg,
}

pub(super) fn run(args: &Args, ctx: &mut Context) -> Result<ExitCode, Failure> {
    let site = FeatureSite::find(ctx)?;
    let feature = args.choice.choice().find(&site)?;
    let plan = Plan::parse(&read(&feature, Document::State)?.unwrap_or_default());
    let Advice { sentence, command } = advice(&site, &feature, &plan)?;
    let is_blocked = |step: &&Step| matches!(step.marker, Marker::Blocked { .. });
    let blocked = plan.steps.iter().filter(is_blocked).map(step_document);
    let document = NextDocument {
        feature: feature.name.to_string(),
        action: sentence,
        command,
        plan: plan_document(&plan),
        blocked: blocked.collect(),
    };
    if ctx.out.is_json() {
        ctx.out.document(NextDocument::SCHEMA, document)?;
    } else {
        show(&document, ctx)?;
    }
    Ok(ExitCode::Done)
}

fn show(document: &NextDocument, ctx: &mut Context) -> Result<(), Failure> {
    let action = ctx.out.styled(Tone::Strong, &one_line(&document.action));
    ctx.out.line(action)?;
    let notes = document.plan.current.iter().flat_map(|step| &step.notes);
    for note in notes {
        ctx.out.line(format!("  {}", one_line(note)))?;
    }
    for step in &document.blocked {
        ctx.out.line(blocked(step))?;
    }
    if let Some(command) = &document.command {
        ctx.out.note(format!("Then: `{command}`"))?;
    }
    Ok(())
}

fn blocked(step: &StepDocument) -> String {
    debug_assert_eq!(step.state, StepState::Blocked);
    let reason = step.reason.as_deref().unwrap_or("nobody said why");
    let (number, title) = (step.number, one_line(&step.title));
    format!("Step {number} is blocked: {title} ({})", one_line(reason))
}
