//! `handoff clean`.

use handoff_api::{CleaningDocument, CleaningOutcome, ExitCode};
use handoff_core::FeatureName;
use handoff_operations::Failure;
use handoff_operations::feature::FeatureSite;
use handoff_operations::feature::clerk::Clerk;
use handoff_workspace::Workspace;
use handoff_workspace::trash::{Cleaning, Extent};

use crate::context::Context;
use crate::output::Reply;

#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// Clean away the current feature too.
    #[arg(long)]
    force: bool,
    /// Only say what would be done.
    #[arg(long)]
    dry_run: bool,
    /// Bring back what the last cleaning took.
    #[arg(long, conflicts_with_all = ["force", "dry_run"])]
    undo: bool,
}

pub(super) fn run(args: &Args, ctx: &mut Context) -> Result<ExitCode, Failure> {
    let site = FeatureSite::find_to_change(ctx)?;
    let workspace = site.workspace()?;
    if args.undo {
        return undo(&site, &workspace, ctx);
    }
    let extent = if args.force {
        Extent::Everything
    } else {
        Extent::Others
    };
    let cleaning = workspace.plan_cleaning(extent)?;
    show_plan(&cleaning, ctx)?;
    let outcome = if args.dry_run || is_empty(&cleaning) {
        CleaningOutcome::Planned
    } else if confirm(ctx)? == Reply::No {
        CleaningOutcome::Declined
    } else {
        clean(&site, &workspace, extent, &cleaning, ctx)?;
        CleaningOutcome::Cleaned
    };
    report(outcome, &cleaning, ctx)
}

fn is_empty(cleaning: &Cleaning) -> bool {
    cleaning.features.is_empty() && !cleaning.clears_current
}

/// Does what was shown, or nothing: between showing and doing, another process may have switched.
fn clean(
    site: &FeatureSite,
    workspace: &Workspace,
    extent: Extent,
    shown: &Cleaning,
    ctx: &Context,
) -> Result<(), Failure> {
    let lock = site.lock()?;
    if workspace.plan_cleaning(extent)? != *shown {
        return Err(Failure::new(
            ExitCode::Conflict,
            "the workspace has changed meanwhile, so nothing was cleaned away",
        )
        .hint("look again: `handoff clean --dry-run`"));
    }
    let mut clerk = Clerk::of_known_project(site, ctx)?;
    workspace.clean(shown, ctx.stamp()?)?;
    for name in &shown.features {
        clerk.put_away(name)?;
    }
    lock.release();
    Ok(())
}

fn confirm(ctx: &mut Context) -> Result<Reply, Failure> {
    if !ctx.can_ask() {
        return Ok(Reply::Yes);
    }
    Ok(ctx.out.ask("Go on?")?)
}

fn undo(site: &FeatureSite, workspace: &Workspace, ctx: &mut Context) -> Result<ExitCode, Failure> {
    let lock = site.lock()?;
    let cleaned = workspace.undo_cleaning()?;
    lock.release();
    if ctx.out.is_json() {
        let document = CleaningDocument {
            outcome: CleaningOutcome::Undone,
            features: strings(&cleaned.features),
            kept: None,
            clears_current: false,
        };
        ctx.out.document(CleaningDocument::SCHEMA, document)?;
    } else {
        let names = names(&cleaned.features);
        ctx.out.line(format!("Back from the trash: {names}"))?;
    }
    Ok(ExitCode::Done)
}

fn show_plan(cleaning: &Cleaning, ctx: &mut Context) -> Result<(), Failure> {
    if ctx.out.is_json() {
        return Ok(());
    }
    if is_empty(cleaning) {
        ctx.out.note("There is nothing to clean away.")?;
        return Ok(());
    }
    if !cleaning.features.is_empty() {
        let names = names(&cleaning.features);
        ctx.out.note(format!("To the trash: {names}"))?;
    }
    if let Some(kept) = &cleaning.kept {
        ctx.out.note(format!(
            "Kept: `{kept}`, because it is current, and all archives"
        ))?;
    }
    if cleaning.clears_current {
        ctx.out
            .note("No feature will be current. Archives are kept.")?;
    }
    Ok(())
}

fn report(
    outcome: CleaningOutcome,
    cleaning: &Cleaning,
    ctx: &mut Context,
) -> Result<ExitCode, Failure> {
    if ctx.out.is_json() {
        let document = CleaningDocument {
            outcome,
            features: strings(&cleaning.features),
            kept: cleaning.kept.as_ref().map(ToString::to_string),
            clears_current: cleaning.clears_current,
        };
        ctx.out.document(CleaningDocument::SCHEMA, document)?;
        return Ok(ExitCode::Done);
    }
    match outcome {
        CleaningOutcome::Cleaned => ctx.out.line(format!(
            "{} in `.handoff/trash/`. To bring all of this back: `handoff clean --undo`.",
            counted(cleaning.features.len())
        ))?,
        CleaningOutcome::Declined => ctx.out.line("Nothing was changed.")?,
        CleaningOutcome::Planned if is_empty(cleaning) => {}
        CleaningOutcome::Planned => ctx
            .out
            .line("Nothing was changed; this is what would be.")?,
        CleaningOutcome::Undone => {}
    }
    Ok(ExitCode::Done)
}

fn counted(number: usize) -> String {
    match number {
        1 => "1 feature is".to_owned(),
        number => format!("{number} features are"),
    }
}

fn names(features: &[FeatureName]) -> String {
    strings(features).join("  ")
}

fn strings(features: &[FeatureName]) -> Vec<String> {
    features.iter().map(ToString::to_string).collect()
}
