//! `handoff status --follow`: told when the ledger, a session, a document or the repository changes.

use std::path::{Path, PathBuf};
use std::time::Duration;

use handoff_api::ExitCode;
use handoff_operations::Failure;
use handoff_operations::changes::ChangeWaiter;
use handoff_operations::feature::FeatureSite;
use handoff_operations::overview::Sight;

use super::show;
use crate::cli::feature::choice::FeatureArg;
use crate::context::Context;
use crate::output::end_with_reader;

/// The code itself is not watched: a tree can have more directories than the kernel has watches.
const LOOK_AGAIN: Duration = Duration::from_secs(5);

/// Shows the status whenever it is another than before. Ends only when it is stopped or nobody reads.
pub(super) fn run(
    site: &FeatureSite,
    choice: &FeatureArg,
    ctx: &mut Context,
) -> Result<ExitCode, Failure> {
    end_with_reader();
    let mut changes = ChangeWaiter::at(ctx)?;
    let mut shown = None;
    loop {
        // Before the look: what changes after it wakes us.
        let places = places(site, choice);
        let places: Vec<&Path> = places.iter().map(PathBuf::as_path).collect();
        changes.arm(&places, ctx);
        match Sight::take(site, &choice.choice(), ctx) {
            Ok(sight) => show_if_new(sight, &mut shown, ctx)?,
            // A feature that is switched or moved just now is there again at the next look.
            Err(failure) if shown.is_some() => ctx.out.note(&failure.message)?,
            Err(failure) => return Err(failure),
        }
        if let Err(failure) = changes.wait(Some(LOOK_AGAIN)) {
            // It is said once; from then on one looks now and then.
            ctx.out.note(&failure.message)?;
        }
    }
}

fn show_if_new(sight: Sight, shown: &mut Option<String>, ctx: &mut Context) -> Result<(), Failure> {
    let form = serde_json::to_string(&sight.document)
        .map_err(|error| Failure::failed("cannot write the status").because(&error))?;
    if shown.as_ref() != Some(&form) {
        if shown.is_some() {
            ctx.out.next_screen()?;
        }
        show(sight, ctx)?;
        *shown = Some(form);
    }
    Ok(())
}

/// Where something happens when the status changes: the workspace, the feature, the git directory.
fn places(site: &FeatureSite, choice: &FeatureArg) -> Vec<PathBuf> {
    let workspace = site.workspace().ok();
    let feature = choice.choice().find(site).ok();
    let git = site
        .repository
        .as_ref()
        .map(|repository| repository.git_dir().to_owned());
    let workspace = workspace.map(|workspace| workspace.dir().path().to_owned());
    let feature = feature.map(|feature| feature.dir().path().to_owned());
    [workspace, feature, git].into_iter().flatten().collect()
}
