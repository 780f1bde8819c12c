//! `handoff status`: the feature, its step, how fresh it is, what proves it and what blocks it, on one screen.

mod card;
mod follow;

use handoff_api::{ExitCode, StatusDocument, TreeDocument};
use handoff_workspace::briefing::freshness_verdict;
use handoff_workspace::plan::{Marker, Plan, Verdict};

use super::choice::FeatureArg;
use super::plan_view::{plan_document, step_document};
use super::site::Site;
use super::survey::Survey;
use super::verify::standing;
use crate::context::Context;
use crate::failure::Failure;

#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// Show it again whenever something changes, until you stop it.
    #[arg(long, short)]
    follow: bool,
    #[command(flatten)]
    feature: FeatureArg,
}

pub(super) fn run(args: &Args, ctx: &mut Context) -> Result<ExitCode, Failure> {
    let site = Site::find(ctx)?;
    if args.follow {
        return follow::run(&site, &args.feature, ctx);
    }
    let document = document(&Survey::take(&site, &args.feature, ctx)?);
    show(document, ctx)?;
    Ok(ExitCode::Done)
}

fn show(document: StatusDocument, ctx: &mut Context) -> Result<(), Failure> {
    if ctx.out.is_json() {
        ctx.out.document(StatusDocument::SCHEMA, document)?;
        return Ok(());
    }
    for line in card::lines(&document, &ctx.out) {
        ctx.out.line(line)?;
    }
    Ok(())
}

fn document(survey: &Survey) -> StatusDocument {
    let tree = survey.code.as_ref().map(|code| &code.tree);
    let marked = survey
        .record
        .as_ref()
        .and_then(|record| record.mark.as_ref());
    let blocked = survey.plan.steps.iter();
    let blocked = blocked.filter(|step| matches!(step.marker, Marker::Blocked { .. }));
    let checks = survey.config.checks.iter();
    StatusDocument {
        feature: survey.feature.name.to_string(),
        plan: plan_document(&survey.plan),
        blocked: blocked.map(step_document).collect(),
        freshness: freshness_verdict(&survey.freshness, tree),
        is_current: survey.freshness.is_current(),
        recorded_at: marked.map(|marked| marked.at),
        recorded: marked.map(|marked| TreeDocument::from(&marked.mark.tree)),
        tree: tree.map(TreeDocument::from),
        edited: survey
            .code
            .as_ref()
            .map_or_else(Vec::new, |code| code.edited.clone()),
        checks: checks.map(|check| standing(survey, check)).collect(),
        next: next_command(&survey.plan),
        warnings: survey.warnings.clone(),
    }
}

/// What to do next, as a command.
const fn next_word(verdict: Verdict) -> &'static str {
    match verdict {
        Verdict::Invalid => "handoff validate",
        Verdict::NotInitialised => "handoff start --copy",
        Verdict::NothingRemaining => "handoff verify --run",
        Verdict::Blocked => "handoff step start",
        Verdict::Ready { .. } => "handoff continue --copy",
    }
}

fn next_command(plan: &Plan) -> &'static str {
    next_word(plan.verdict())
}
