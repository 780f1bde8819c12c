//! `handoff gc`: shows what nobody needs any more and why the rest stays; `--apply` clears it away.

use std::collections::BTreeMap;

use handoff_api::{ExitCode, GcDocument, GcItem, GcRow, SweepDocument};
use handoff_core::caller::Action;
use handoff_engine::gc::{self, Found, Kind, Limits, Verdict};
use handoff_store::StoreError;

use super::package::gc::{Doing, sweep};
use super::span::Span;
use crate::context::Context;
use crate::desk::Desk;
use crate::failure::Failure;
use crate::output::{Table, Tone};

const MIB: u64 = 1024 * 1024;

#[derive(Debug, clap::Args)]
pub(super) struct Args {
    /// Do it; otherwise it is only told what would be done.
    #[arg(long)]
    apply: bool,
    /// Sessions and transcripts that ended so long ago go; without it what `[gc]` of your configuration says, else 30 and 7 days.
    #[arg(long, value_name = "TIME")]
    older_than: Option<Span>,
}

pub(super) fn run(args: &Args, ctx: &mut Context) -> Result<ExitCode, Failure> {
    let limits = limits(args, ctx)?;
    let Some(mut desk) = Desk::peek(ctx)? else {
        return show(&document(args, &[], None), ctx);
    };
    desk.caller.may(Action::Steer).map_err(StoreError::from)?;
    let clock = ctx.clock()?;
    let mut workshop = desk.workshop(ctx, &*clock)?;
    let found = if args.apply {
        gc::clear(&mut workshop, limits)?
    } else {
        gc::survey(&mut workshop, limits)?
    };
    let swept = sweep(&mut desk, Doing::of(args.apply))?;
    show(&document(args, &found, Some(swept)), ctx)
}

fn limits(args: &Args, ctx: &Context) -> Result<Limits, Failure> {
    let settings = ctx.config()?.gc;
    let usual = Limits::default();
    let span = |setting: Option<Span>, usual| {
        let chosen = args.older_than.or(setting);
        chosen.map_or(usual, Span::duration)
    };
    Ok(Limits {
        sessions: span(settings.sessions, usual.sessions),
        transcripts: span(settings.transcripts, usual.transcripts),
        bytes: settings.megabytes.map(|it| it.saturating_mul(MIB)),
    })
}

fn document(args: &Args, found: &[Found], swept: Option<SweepDocument>) -> GcDocument {
    let going = found.iter().filter(|it| it.verdict.goes());
    let items = going.map(|it| GcItem {
        kind: it.kind.word(),
        name: it.name.clone(),
        bytes: it.bytes,
    });
    let mut document = GcDocument {
        is_dry_run: !args.apply,
        rows: rows(found),
        items: items.collect(),
        unknown: vec![],
    };
    if let Some(swept) = swept {
        let counted = [
            (
                "package",
                "consumed, expired, transferred or deleted",
                swept.packages,
            ),
            ("attachment", "no package names it", swept.attachments),
        ];
        let rows = counted.map(|(kind, why, count)| GcRow {
            kind,
            goes: true,
            why,
            count,
            bytes: None,
        });
        document
            .rows
            .extend(rows.into_iter().filter(|it| it.count > 0));
        document.unknown = swept.unknown;
    }
    document
}

/// Added up by kind, fate and reason.
fn rows(found: &[Found]) -> Vec<GcRow> {
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
        bytes: Some(bytes),
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
            (Tone::Plain, row.bytes.map_or_else(String::new, size)),
            (tone, fate.to_owned()),
            (Tone::Plain, row.why.to_owned()),
        ]);
    }
    table
}

/// For people: three digits are enough.
fn size(bytes: u64) -> String {
    const UNITS: [(&str, u64); 3] = [("GiB", 1 << 30), ("MiB", MIB), ("KiB", 1024)];
    match UNITS.iter().find(|(_, unit)| bytes >= *unit) {
        Some((name, unit)) => format!("{} {name}", bytes / unit),
        None => format!("{bytes} B"),
    }
}
