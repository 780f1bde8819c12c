//! `handoff package gc`.

use handoff_api::{ExitCode, SweepDocument};
use handoff_core::caller::Action;
use handoff_engine::gc::{self, Found, Kind, Parcels};
use handoff_operations::{Failure, Project, Span};
use handoff_store::StoreError;

use super::orphans;
use crate::cli::gc::confirm_loss;
use crate::confirmation::YesArg;
use crate::context::Context;

#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// Do it; otherwise it is only told what would be done.
    #[arg(long)]
    apply: bool,
    /// Packages that nobody can receive any more for so long go; without it what `[gc] packages` of your configuration says, else
    /// 30 days.
    #[arg(long, value_name = "TIME")]
    older_than: Option<Span>,
    #[command(flatten)]
    yes: YesArg,
}

pub(super) fn run(args: &Args, ctx: &mut Context) -> Result<ExitCode, Failure> {
    let limits = ctx.config()?.gc.limits(args.older_than);
    let Some(mut desk) = Project::peek(ctx)? else {
        return show(&document(args, &Parcels::default()), ctx);
    };
    desk.caller.may(Action::Steer).map_err(StoreError::from)?;
    let clock = ctx.clock()?;
    let mut workshop = desk.workshop(ctx, &*clock)?;
    if args.apply {
        let parcels = gc::survey_packages(&mut workshop, limits)?;
        confirm_loss(parcels.found.iter(), args.yes, ctx)?;
    }
    let parcels = if args.apply {
        gc::clear_packages(&mut workshop, limits)?
    } else {
        gc::survey_packages(&mut workshop, limits)?
    };
    show(&document(args, &parcels), ctx)
}

fn document(args: &Args, parcels: &Parcels) -> SweepDocument {
    let count = |kind: Kind| {
        let goes = |it: &&Found| it.kind == kind && it.verdict.goes();
        parcels.found.iter().filter(goes).count()
    };
    let unknown = parcels.unknown.iter();
    SweepDocument {
        leftovers: parcels.leftovers,
        packages: count(Kind::Package),
        attachments: count(Kind::Attachment),
        unknown: unknown.map(|it| it.display().to_string()).collect(),
        is_dry_run: !args.apply,
    }
}

fn show(document: &SweepDocument, ctx: &mut Context) -> Result<ExitCode, Failure> {
    if ctx.out.is_json() {
        ctx.out.document(SweepDocument::SCHEMA, document)?;
        return Ok(ExitCode::Done);
    }
    let (verb, swept) = if document.is_dry_run {
        ("Would remove", "")
    } else {
        ("Removed", "; swept ")
    };
    let leftovers = match swept {
        "" => String::new(),
        swept => format!("{swept}{} leftovers", document.leftovers),
    };
    let (packages, attachments) = (document.packages, document.attachments);
    ctx.out.line(format!(
        "{verb} {packages} package files and {attachments} attachments{leftovers}."
    ))?;
    for path in &document.unknown {
        ctx.out.note(orphans::in_words(path))?;
    }
    Ok(ExitCode::Done)
}
