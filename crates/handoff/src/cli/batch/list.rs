//! `handoff batch list`.

use handoff_api::{BatchRow, BatchesDocument, ExitCode};
use handoff_core::Batch;
use handoff_core::task::Ending;
use handoff_store::{StoreError, Transaction, batches, read, tasks};

use crate::context::Context;
use crate::desk::Desk;
use crate::failure::Failure;
use crate::output::{Table, Tone};

#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// How many at most.
    #[arg(long, default_value_t = 20, value_parser = clap::value_parser!(u32).range(1..=1000))]
    limit: u32,
}

pub(super) fn run(args: &Args, ctx: &mut Context) -> Result<ExitCode, Failure> {
    let page = match Desk::peek(ctx)? {
        Some(mut desk) => page(&mut desk, args.limit)?,
        None => BatchesDocument {
            batches: vec![],
            has_more: false,
        },
    };
    if ctx.out.is_json() {
        ctx.out.document(BatchesDocument::SCHEMA, page)?;
        return Ok(ExitCode::Done);
    }
    if page.batches.is_empty() {
        ctx.out
            .note("There is no batch yet. Open one with `handoff dump --open-batch FILE`.")?;
        return Ok(ExitCode::Done);
    }
    ctx.out.table(&table(&page.batches))?;
    if page.has_more {
        let limit = (args.limit * 4).min(1000);
        ctx.out.note(format!(
            "There are more: `handoff batch list --limit {limit}`."
        ))?;
    }
    Ok(ExitCode::Done)
}

fn page(desk: &mut Desk, limit: u32) -> Result<BatchesDocument, Failure> {
    let project = desk.project;
    Ok(read(&mut *desk.store, |tx| {
        let mut found = batches::page(tx, project, None, limit + 1)?;
        let has_more = found.len() > limit as usize;
        found.truncate(limit as usize);
        let rows = found.iter().map(|batch| row(tx, batch));
        Ok(BatchesDocument {
            batches: rows.collect::<Result<_, StoreError>>()?,
            has_more,
        })
    })?)
}

/// A batch with how far its parts are.
pub(crate) fn row(tx: &mut Transaction<'_>, batch: &Batch) -> Result<BatchRow, StoreError> {
    let tasks = tasks::of_batch(tx, batch.id)?;
    let parts = tasks.iter().filter(|it| it.id != batch.spec.fan_in);
    let endings: Vec<_> = parts.filter_map(|it| it.state.ending()).collect();
    let done = endings.iter().filter(|it| **it == Ending::Done).count();
    Ok(BatchRow {
        id: batch.id.to_string(),
        name: batch.spec.name.to_string(),
        state: batch.state.word(),
        parts: batch.spec.parts.len(),
        done,
        trouble: endings.len() - done,
        opened_at: batch.opened_at,
    })
}

fn table(rows: &[BatchRow]) -> Table {
    let mut table = Table::new(&["NAME", "STATE", "DONE", "TROUBLE", "OPENED"]);
    for row in rows {
        let trouble = match row.trouble {
            0 => (Tone::Faint, "-".to_owned()),
            some => (Tone::Attention, some.to_string()),
        };
        table.row([
            (Tone::Strong, row.name.clone()),
            (tone(row.state), row.state.to_owned()),
            (Tone::Plain, format!("{}/{}", row.done, row.parts)),
            trouble,
            (
                Tone::Faint,
                row.opened_at.strftime("%Y-%m-%d %H:%M").to_string(),
            ),
        ]);
    }
    table
}

/// What a state of a batch feels like.
pub(super) fn tone(state: &str) -> Tone {
    match state {
        "done" => Tone::Good,
        "failed" => Tone::Bad,
        "blocked" => Tone::Attention,
        "cancelled" => Tone::Faint,
        _ => Tone::Active,
    }
}
