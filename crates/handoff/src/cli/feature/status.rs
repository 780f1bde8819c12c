//! `handoff status`: the feature, its step, how fresh it is, what proves it and what blocks it, on one screen.

mod card;
mod follow;

use handoff_api::{ExitCode, RestDocument, StatusDocument, TreeDocument};
use handoff_core::Rest;
use handoff_process::Kernel;
use handoff_workspace::briefing::freshness_verdict;
use handoff_workspace::plan::{Marker, Verdict};

use super::choice::FeatureArg;
use super::next::action;
use super::plan_view::{plan_document, step_document};
use super::site::Site;
use super::standing::standing;
use super::survey::Survey;
use crate::cli::session::ps;
use crate::context::Context;
use crate::failure::Failure;

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
    let site = Site::find(ctx)?;
    if args.follow {
        return follow::run(&site, &args.feature, ctx);
    }
    let survey = Survey::take(&site, &args.feature, ctx)?;
    let document = document(&site, &survey)?;
    show(document, &survey.rests, ctx)?;
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

fn show(document: StatusDocument, rests: &[Rest], ctx: &mut Context) -> Result<(), Failure> {
    if ctx.out.is_json() {
        ctx.out.document(StatusDocument::SCHEMA, document)?;
        return Ok(());
    }
    for line in card::lines(&document, rests, &ctx.out) {
        ctx.out.line(line)?;
    }
    Ok(())
}

fn document(site: &Site, survey: &Survey) -> Result<StatusDocument, Failure> {
    let tree = survey.code.as_ref().map(|code| &code.tree);
    let marked = survey
        .record
        .as_ref()
        .and_then(|record| record.mark.as_ref());
    let blocked = survey.plan.steps.iter();
    let blocked = blocked.filter(|step| matches!(step.marker, Marker::Blocked { .. }));
    let checks = survey.config.checks.iter();
    let is_plan_edited = survey.facts().knowledge.is_plan_edited();
    Ok(StatusDocument {
        feature: survey.feature.name.to_string(),
        plan: plan_document(&survey.plan),
        blocked: blocked.map(step_document).collect(),
        blockers: survey.blockers(),
        freshness: freshness_verdict(&survey.freshness, tree),
        is_current: survey.freshness.is_current() && !is_plan_edited,
        is_plan_edited,
        recorded_at: marked.map(|marked| marked.at),
        recorded: marked.map(|marked| TreeDocument::from(&marked.mark.tree)),
        tree: tree.map(TreeDocument::from),
        edited: survey
            .code
            .as_ref()
            .map_or_else(Vec::new, |code| code.edited.clone()),
        checks: checks.map(|check| standing(survey, check)).collect(),
        rests: survey.rests.iter().map(RestDocument::of).collect(),
        next: next(site, survey)?,
        warnings: { survey.warnings.iter().cloned() }
            .chain(without_walls(Kernel::read()))
            .collect(),
    })
}

/// What is missing where the kernel holds nobody to their worktree.
fn without_walls(kernel: Kernel) -> Option<String> {
    let is_held = matches!(kernel, Kernel::Holds(_));
    (!is_held).then(|| kernel.to_string())
}

/// What to do next. A person carries the work on by a prompt; what the session then does, `next` says.
fn next(site: &Site, survey: &Survey) -> Result<String, Failure> {
    if let Verdict::Ready { .. } = survey.plan.verdict() {
        return Ok("handoff continue --copy".to_owned());
    }
    let action = action(site, &survey.feature, &survey.plan)?;
    Ok(action.command.unwrap_or(action.sentence))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_kernel_that_holds_nobody_is_a_warning() {
        for kernel in [Kernel::Without, Kernel::TooOld(2)] {
            assert_eq!(without_walls(kernel), Some(kernel.to_string()));
        }
        assert_eq!(without_walls(Kernel::Holds(3)), None);
    }
}
