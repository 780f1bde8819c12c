//! `handoff list`.

use handoff_api::{ArchiveRow, ExitCode, FeatureRow, FeaturesDocument, PlanVerdict};
use handoff_core::FeatureName;
use handoff_operations::Failure;
use handoff_operations::feature::FeatureSite;
use handoff_operations::feature::plan_view::plan_document;
use handoff_workspace::{Current, Document, Plan, Workspace};

use crate::context::Context;
use crate::output::{Table, Tone, one_line};

pub(super) fn run(ctx: &mut Context) -> Result<ExitCode, Failure> {
    let site = FeatureSite::find(ctx)?;
    let document = match Workspace::open(&site.root)? {
        Some(workspace) => document(&workspace)?,
        None => FeaturesDocument::default(),
    };
    if ctx.out.is_json() {
        ctx.out.document(FeaturesDocument::SCHEMA, document)?;
        return Ok(ExitCode::Done);
    }
    if document.features.is_empty() {
        ctx.out
            .note("There is no feature yet. Make one: `handoff init <feature>`.")?;
    } else {
        ctx.out.table(&table(&document.features))?;
    }
    notes(&document, ctx)?;
    Ok(ExitCode::Done)
}

fn document(workspace: &Workspace) -> Result<FeaturesDocument, Failure> {
    let listing = workspace.list()?;
    let current = match listing.current {
        // One whose folder is gone is nothing that can be worked on.
        Current::Feature(name) => Some(name).filter(|name| listing.features.contains(name)),
        Current::None | Current::Unknown(_) => None,
    };
    let row = |name: &FeatureName| row(workspace, name, current.as_ref() == Some(name));
    let archive = |archive: handoff_workspace::listing::Archive| ArchiveRow {
        name: archive.name.into(),
        folder: archive.folder,
    };
    Ok(FeaturesDocument {
        features: listing.features.iter().map(row).collect(),
        archives: listing.archives.into_iter().map(archive).collect(),
        strays: listing
            .strays
            .iter()
            .map(|name| name.to_string_lossy().into_owned())
            .collect(),
        current: current.map(String::from),
    })
}

/// A feature whose plan cannot be read is in the list too.
fn row(workspace: &Workspace, name: &FeatureName, is_current: bool) -> FeatureRow {
    let feature = workspace.feature(name).ok().flatten();
    let text = feature.map(|feature| feature.read(Document::State).map(Option::unwrap_or_default));
    let plan = text.and_then(Result::ok).map(|text| Plan::parse(&text));
    FeatureRow {
        name: name.to_string(),
        is_current,
        plan: plan.map(|plan| plan_document(&plan)),
    }
}

fn table(features: &[FeatureRow]) -> Table {
    let mut table = Table::new(&["", "FEATURE", "STEPS", "PLAN"]);
    for feature in features {
        let mark = if feature.is_current { "*" } else { "" };
        let steps = match &feature.plan {
            Some(plan) if plan.total > 0 => format!("{}/{}", plan.done, plan.total),
            Some(_) | None => "-".to_owned(),
        };
        let (tone, words) = in_words(feature.plan.as_ref().map(|plan| plan.verdict));
        table.row([
            (Tone::Active, mark.to_owned()),
            (Tone::Strong, feature.name.clone()),
            (Tone::Plain, steps),
            (tone, words.to_owned()),
        ]);
    }
    table
}

const fn in_words(plan: Option<PlanVerdict>) -> (Tone, &'static str) {
    match plan {
        None => (Tone::Bad, "cannot be read"),
        Some(PlanVerdict::Invalid) => (Tone::Bad, "invalid"),
        Some(PlanVerdict::NotInitialised) => (Tone::Faint, "none yet"),
        Some(PlanVerdict::NothingRemaining) => (Tone::Good, "all done"),
        Some(PlanVerdict::Blocked) => (Tone::Attention, "blocked"),
        Some(PlanVerdict::Ready) => (Tone::Plain, "in work"),
    }
}

fn notes(document: &FeaturesDocument, ctx: &mut Context) -> Result<(), Failure> {
    if !document.archives.is_empty() {
        let folders: Vec<_> = document
            .archives
            .iter()
            .map(|it| it.folder.as_str())
            .collect();
        ctx.out
            .line(format!("\nArchived: {}", folders.join("  ")))?;
    }
    if !document.strays.is_empty() {
        let names = one_line(&document.strays.join("  "));
        ctx.out
            .note(format!("Not features, and left alone: {names}"))?;
    }
    if document.current.is_none() && !document.features.is_empty() {
        ctx.out
            .note("None is current. Choose one: `handoff switch <feature>`.")?;
    }
    Ok(())
}
