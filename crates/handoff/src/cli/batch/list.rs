//! `handoff batch list`.

use handoff_api::{BatchRow, BatchesDocument, ExitCode};
use handoff_operations::batch::ListBatches;
use handoff_operations::{Failure, call};

use crate::context::Context;
use crate::output::{Table, Tone};

#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// How many at most.
    #[arg(long, default_value_t = 20, value_parser = clap::value_parser!(u32).range(1..=1000))]
    limit: u32,
}

pub(super) fn run(args: &Args, ctx: &mut Context) -> Result<ExitCode, Failure> {
    let list = ListBatches { limit: args.limit };
    let page = call(list, ctx)?;
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
