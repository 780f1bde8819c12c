//! `handoff pane`: what a session's terminal shows.

use handoff_api::{ExitCode, PaneDocument};
use handoff_session::Client;
use handoff_session::control::Screenshot;

use super::address::{Address, unreachable};
use crate::context::Context;
use crate::failure::Failure;
use crate::output::plain;

#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    #[command(flatten)]
    address: Address,
    /// Keep the colours.
    #[arg(long)]
    ansi: bool,
    /// Only the last so many lines.
    #[arg(long, value_name = "N")]
    lines: Option<usize>,
}

pub(super) fn run(args: &Args, ctx: &mut Context) -> Result<ExitCode, Failure> {
    let known = args.address.find_live(ctx)?;
    let client = Client::new(&known.record.socket);
    let screen = client
        .screen()
        .map_err(|error| unreachable(&known, &error))?;
    let range = range(&screen, args.lines);
    if ctx.out.is_json() {
        let id = known.record.id.to_string();
        let document = document(id, &screen, &screen.lines[range]);
        ctx.out.document(PaneDocument::SCHEMA, document)?;
        return Ok(ExitCode::Done);
    }
    for index in range {
        if args.ansi {
            // Only what our own emulator writes: text and its colours.
            ctx.out.line(format!("{}\x1b[0m", screen.ansi[index]))?;
        } else {
            ctx.out.line(plain(&screen.lines[index]))?;
        }
    }
    Ok(ExitCode::Done)
}

/// The rows down to the last one with text, or the last so many of them.
fn range(screen: &Screenshot, lines: Option<usize>) -> std::ops::Range<usize> {
    let last = screen.lines.iter().rposition(|line| !line.is_empty());
    let end = last.map_or(0, |last| last + 1);
    end.saturating_sub(lines.unwrap_or(end))..end
}

fn document(session: String, screen: &Screenshot, lines: &[String]) -> PaneDocument {
    PaneDocument {
        session,
        rows: screen.rows,
        columns: screen.columns,
        cursor_row: screen.cursor_row,
        cursor_column: screen.cursor_column,
        title: screen.title.clone(),
        is_alternate: screen.is_alternate,
        lines: lines.to_vec(),
    }
}
