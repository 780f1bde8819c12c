//! `handoff next`: the one next action.

use handoff_api::{ExitCode, NextDocument, StepDocument, StepState};
use handoff_workspace::plan::{Marker, Plan, Step, Verdict};
use handoff_workspace::workspace::FOLDER;
use handoff_workspace::{Document, Feature, Templates, Worth};

use super::choice::FeatureArg;
use super::pen::read;
use super::plan_view::{plan_document, step_document};
use super::site::Site;
use crate::context::Context;
use crate::failure::Failure;
use crate::output::{Tone, one_line};

#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    #[command(flatten)]
    choice: FeatureArg,
}

/// What to do, and the command that goes with it. The same advice for every command that gives some.
pub(super) struct Action {
    pub(super) sentence: String,
    pub(super) command: Option<String>,
}

pub(super) fn run(args: &Args, ctx: &mut Context) -> Result<ExitCode, Failure> {
    let site = Site::find(ctx)?;
    let feature = args.choice.find(&site)?;
    let plan = Plan::parse(&read(&feature, Document::State)?.unwrap_or_default());
    let Action { sentence, command } = action(&site, &feature, &plan)?;
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

pub(super) fn action(site: &Site, feature: &Feature, plan: &Plan) -> Result<Action, Failure> {
    let name = &feature.name;
    let (sentence, command) = match plan.verdict() {
        Verdict::Invalid => {
            let problem = plan.errors().next().map(ToString::to_string);
            let problem = problem.unwrap_or_default();
            let text = format!("Put the plan right. `STATE.md` {problem}");
            (text, Some("handoff validate".to_owned()))
        }
        Verdict::NotInitialised => unplanned(site, feature)?,
        Verdict::NothingRemaining => (
            "All steps are done. Check the work, and put the feature away.".to_owned(),
            Some(format!("handoff archive {name}")),
        ),
        Verdict::Blocked => (
            "Only blocked steps remain. Find out what unblocks one, then start it.".to_owned(),
            Some("handoff step start STEP".to_owned()),
        ),
        Verdict::Ready { .. } => plan.current().map_or((String::new(), None), ready),
    };
    Ok(Action { sentence, command })
}

fn ready(step: &Step) -> (String, Option<String>) {
    let number = step.number;
    let sentence = format!("Step {number}: {}", step.title);
    let command = match step.marker {
        Marker::Current => format!("handoff step done {number}"),
        Marker::Done | Marker::Pending | Marker::Blocked { .. } | Marker::Unknown { .. } => {
            format!("handoff step start {number}")
        }
    };
    (sentence, Some(command))
}

/// Without a plan: the goal first, then the plan.
fn unplanned(site: &Site, feature: &Feature) -> Result<(String, Option<String>), Failure> {
    let name = &feature.name;
    let templates = Templates::open(&site.workspace()?)?;
    let goal = feature.worth(Document::Feature, &templates, &site.config()?.language)?;
    Ok(match goal {
        Worth::Missing => (
            "The document with the goal is missing. Make what is missing.".to_owned(),
            Some(format!("handoff init {name}")),
        ),
        Worth::Empty | Worth::Untouched => (
            format!("Write the goal into `{FOLDER}/features/{name}/FEATURE.md`."),
            None,
        ),
        Worth::Written => (
            "There is no plan yet. Have it made.".to_owned(),
            Some("handoff start".to_owned()),
        ),
    })
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
