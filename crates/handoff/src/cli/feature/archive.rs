//! `handoff archive`.

use handoff_api::{ArchiveDocument, ArchiveRow, ExitCode};
use handoff_core::FeatureName;
use handoff_operations::Failure;
use handoff_operations::feature::FeatureSite;
use handoff_operations::feature::clerk::Clerk;

use crate::context::Context;

#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// The feature to put away.
    feature: FeatureName,
}

pub(super) fn run(args: &Args, ctx: &mut Context) -> Result<ExitCode, Failure> {
    let site = FeatureSite::find_to_change(ctx)?;
    let workspace = site.workspace()?;
    let lock = site.lock()?;
    let mut clerk = Clerk::of_known_project(&site, ctx)?;
    let archived = workspace.archive(&args.feature, ctx.stamp()?)?;
    clerk.put_away(&args.feature)?;
    lock.release();
    let archive = archived.archive;
    if ctx.out.is_json() {
        let document = ArchiveDocument {
            archive: ArchiveRow {
                name: archive.name.into(),
                folder: archive.folder,
            },
            was_current: archived.was_current,
        };
        ctx.out.document(ArchiveDocument::SCHEMA, document)?;
        return Ok(ExitCode::Done);
    }
    let folder = site.root.join(".handoff/features").join(&archive.folder);
    let folder = site.shown(&folder, ctx);
    ctx.out
        .line(format!("`{}` is archived as `{folder}`.", archive.name))?;
    if archived.was_current {
        ctx.out.line(
            "It was the current feature; none is now. Choose one: `handoff switch <feature>`.",
        )?;
    }
    Ok(ExitCode::Done)
}
