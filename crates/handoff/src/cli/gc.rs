//! `handoff gc`: shows what nobody needs any more and why the rest stays; `--apply` clears it away.

use std::collections::BTreeMap;

use handoff_api::{ExitCode, GcDocument, GcItem, GcRow};
use handoff_core::caller::Action;
use handoff_engine::gc::{self, Found, Kind, Parcels, Verdict};
use handoff_operations::{Failure, Project, Span};
use handoff_store::StoreError;

use crate::confirmation::{Destruction, YesArg, confirm};
use crate::context::Context;
use crate::output::{Table, Tone};

#[derive(Debug, clap::Args)]
pub(super) struct Args {
    /// Do it; otherwise it is only told what would be done.
    #[arg(long)]
    apply: bool,
    /// Sessions, transcripts and packages that are over for so long go; without it what `[gc]` of your configuration says, else
    /// 30, 7 and 30 days.
    #[arg(long, value_name = "TIME")]
    older_than: Option<Span>,
    #[command(flatten)]
    yes: YesArg,
}

pub(super) fn run(args: &Args, ctx: &mut Context) -> Result<ExitCode, Failure> {
    let limits = ctx.config()?.gc.limits(args.older_than);
    let Some(mut desk) = Project::peek(ctx)? else {
        return show(&document(args, &[], &Parcels::default()), ctx);
    };
    desk.caller.may(Action::Steer).map_err(StoreError::from)?;
    let clock = ctx.clock()?;
    let mut workshop = desk.workshop(ctx, &*clock)?;
    if args.apply {
        let found = gc::survey(&mut workshop, limits)?;
        let parcels = gc::survey_packages(&mut workshop, limits)?;
        confirm_loss(found.iter().chain(&parcels.found), args.yes, ctx)?;
    }
    let (found, parcels) = if args.apply {
        let found = gc::clear(&mut workshop, limits)?;
        (found, gc::clear_packages(&mut workshop, limits)?)
    } else {
        let found = gc::survey(&mut workshop, limits)?;
        (found, gc::survey_packages(&mut workshop, limits)?)
    };
    show(&document(args, &found, &parcels), ctx)
}

/// Asks before something goes that is nowhere else.
pub(super) fn confirm_loss<'a>(
    found: impl Iterator<Item = &'a Found>,
    yes: YesArg,
    ctx: &mut Context,
) -> Result<(), Failure> {
    let lost = found.filter(|it| it.verdict.is_lost_for_good()).count();
    match lost {
        0 => Ok(()),
        lost => confirm(&Destruction::Unlanded(lost), yes, ctx),
    }
}

fn document(args: &Args, found: &[Found], parcels: &Parcels) -> GcDocument {
    let all = || found.iter().chain(&parcels.found);
    let items = all().filter(|it| it.verdict.goes()).map(|it| GcItem {
        kind: it.kind.word(),
        name: it.name.clone(),
        bytes: it.bytes,
    });
    let unknown = parcels.unknown.iter();
    GcDocument {
        is_dry_run: !args.apply,
        rows: rows(all()),
        items: items.collect(),
        unknown: unknown.map(|it| it.display().to_string()).collect(),
    }
}

/// Added up by kind, fate and reason.
fn rows<'a>(found: impl Iterator<Item = &'a Found>) -> Vec<GcRow> {
    let mut sums: BTreeMap<(Kind, Verdict), (usize, u64)> = BTreeMap::new();
    for it in found {
        let (count, bytes) = sums.entry((it.kind, it.verdict)).or_default();
        *count += 1;
        *bytes += it.bytes;
    }
    let row = |((kind, verdict), (count, bytes)): ((Kind, Verdict), (usize, u64))| GcRow {
        kind: kind.word(),
        goes: verdict.goes(),
        why: verdict.why(),
        count,
        bytes,
    };
    sums.into_iter().map(row).collect()
}

fn show(document: &GcDocument, ctx: &mut Context) -> Result<ExitCode, Failure> {
    if ctx.out.is_json() {
        ctx.out.document(GcDocument::SCHEMA, document)?;
        return Ok(ExitCode::Done);
    }
    if document.rows.is_empty() {
        ctx.out.note("There is nothing to clear away.")?;
    } else {
        ctx.out.table(&table(document))?;
    }
    for path in &document.unknown {
        ctx.out.note(super::package::unknown_file(path))?;
    }
    if document.is_dry_run && document.rows.iter().any(|it| it.goes) {
        ctx.out
            .note("Nothing was done. Do it: `handoff gc --apply`.")?;
    }
    Ok(ExitCode::Done)
}

fn table(document: &GcDocument) -> Table {
    let mut table = Table::new(&["KIND", "COUNT", "SIZE", "FATE", "WHY"]);
    let gone = if document.is_dry_run { "goes" } else { "gone" };
    for row in &document.rows {
        let (tone, fate) = if row.goes {
            (Tone::Attention, gone)
        } else {
            (Tone::Faint, "stays")
        };
        table.row([
            (Tone::Strong, row.kind.to_owned()),
            (Tone::Plain, row.count.to_string()),
            (Tone::Plain, size(row.bytes)),
            (tone, fate.to_owned()),
            (Tone::Plain, row.why.to_owned()),
        ]);
    }
    table
}

/// For people: three digits are enough.
fn size(bytes: u64) -> String {
    const UNITS: [(&str, u64); 3] = [("GiB", 1 << 30), ("MiB", 1 << 20), ("KiB", 1024)];
    match UNITS.iter().find(|(_, unit)| bytes >= *unit) {
        Some((name, unit)) => format!("{} {name}", bytes / unit),
        None => format!("{bytes} B"),
    }
}
