//! `handoff export`.

use handoff_api::{ExitCode, ExportDocument};
use handoff_operations::Failure;
use handoff_operations::feature::FeatureSite;
use handoff_workspace::Template;
use handoff_workspace::template::{Exported, FOLDER, Overwrite};

use crate::context::Context;

#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// Only these, such as `continue_prompt`; all if none is named.
    #[arg(value_name = "NAME", value_parser = parse)]
    templates: Vec<Template>,
    /// Write over files that were changed too; their text is kept in the trash.
    #[arg(long)]
    force: bool,
}

fn parse(name: &str) -> Result<Template, String> {
    Template::named(name).ok_or_else(|| {
        let names = Template::ALL.iter().map(|it| it.file_name());
        format!(
            "there is no such template; there are {}",
            names.collect::<Vec<_>>().join(", ")
        )
    })
}

pub(super) fn run(args: &Args, ctx: &mut Context) -> Result<ExitCode, Failure> {
    let site = FeatureSite::find_to_change(ctx)?;
    let workspace = site.workspace()?;
    let overwrite = if args.force {
        Overwrite::Always
    } else {
        Overwrite::Never
    };
    let templates = match args.templates.as_slice() {
        [] => Template::ALL,
        named => named,
    };
    let lock = site.lock()?;
    let exported = workspace.export(templates, overwrite, ctx.stamp()?)?;
    lock.release();
    let folder = workspace.dir().path().join(FOLDER);
    if ctx.out.is_json() {
        let document = ExportDocument {
            path: folder.display().to_string(),
            written: names(&exported.written),
            kept: names(&exported.kept),
        };
        ctx.out.document(ExportDocument::SCHEMA, document)?;
        return Ok(ExitCode::Done);
    }
    report(&exported, &site.shown(&folder, ctx), ctx)
}

fn report(exported: &Exported, folder: &str, ctx: &mut Context) -> Result<ExitCode, Failure> {
    if exported.written.is_empty() {
        ctx.out
            .line(format!("Nothing to write: `{folder}` has them already."))?;
    } else {
        let written = names(&exported.written).join("\n  ");
        ctx.out
            .line(format!("Written to `{folder}`:\n  {written}"))?;
    }
    if !exported.kept.is_empty() {
        let kept = names(&exported.kept).join("\n  ");
        ctx.out.line(format!(
            "Changed by somebody, and left as they are:\n  {kept}"
        ))?;
        ctx.out
            .note("`--force` writes over these too, and keeps their text in `.handoff/trash/`.")?;
    }
    Ok(ExitCode::Done)
}

fn names(templates: &[Template]) -> Vec<&'static str> {
    templates
        .iter()
        .map(|template| template.file_name())
        .collect()
}
