//! `handoff pane`: what a session's terminal shows.

use handoff_api::{ExitCode, PaneDocument};
use handoff_operations::Failure;
use handoff_operations::session::unreachable;
use handoff_process::Size;
use handoff_session::control::Screenshot;
use handoff_session::screen::Screen;
use handoff_session::{Client, Known};

use super::address::Address;
use super::live_pane;
use crate::context::Context;
use crate::output::{cut, plain};

#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    #[command(flatten)]
    address: Address,
    #[command(flatten)]
    cutout: Cutout,
    /// Show it again each time that it changes, until the session ends.
    #[arg(long, short)]
    follow: bool,
}

/// What of a screen is shown.
#[derive(Debug, clap::Args)]
pub(super) struct Cutout {
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
    if args.follow {
        let screens = client
            .screens()
            .map_err(|error| unreachable(&known, &error))?;
        live_pane::follow(&known, screens, &args.cutout, ctx)?;
        return live_pane::end(&args.address.find(ctx)?);
    }
    let screen = client
        .screen()
        .map_err(|error| unreachable(&known, &error))?;
    if ctx.out.is_json() {
        let document = args.cutout.document(&known, &screen);
        ctx.out.document(PaneDocument::SCHEMA, document)?;
    } else {
        let rows = args.cutout.rows(&screen);
        rows.iter().try_for_each(|row| ctx.out.line(row))?;
    }
    Ok(ExitCode::Done)
}

impl Cutout {
    /// The rows down to the last one with text, or the last so many of them.
    fn range(&self, screen: &Screenshot) -> std::ops::Range<usize> {
        let last = screen.lines.iter().rposition(|line| !line.is_empty());
        let end = last.map_or(0, |last| last + 1);
        end.saturating_sub(self.lines.unwrap_or(end))..end
    }

    /// The rows as a terminal may be given them.
    pub(super) fn rows(&self, screen: &Screenshot) -> Vec<String> {
        let range = self.range(screen);
        if self.ansi {
            // Only what our own emulator writes: text and its colours.
            screen.ansi[range].iter().map(|row| closed(row)).collect()
        } else {
            screen.lines[range].iter().map(|row| plain(row)).collect()
        }
    }

    /// As much of such rows as fits into a window.
    pub(super) fn fitted(&self, rows: &[String], columns: u16, window: u16) -> Vec<String> {
        if !self.ansi {
            return rows.iter().map(|row| cut(row, window.into())).collect();
        }
        if columns <= window {
            return rows.to_vec();
        }
        // Text with colours is cut where it is known what they are.
        let mut screen = Screen::new(Size {
            rows: u16::try_from(rows.len()).unwrap_or(u16::MAX),
            columns,
        });
        screen.print(rows.join("\r\n").as_bytes());
        let rows = screen.rows_formatted_within(window);
        rows.iter().map(|row| closed(row)).collect()
    }

    pub(super) fn document(&self, known: &Known, screen: &Screenshot) -> PaneDocument {
        PaneDocument {
            session: known.record.id.to_string(),
            rows: screen.rows,
            columns: screen.columns,
            cursor_row: screen.cursor_row,
            cursor_column: screen.cursor_column,
            title: screen.title.clone(),
            is_alternate: screen.is_alternate,
            lines: screen.lines[self.range(screen)].to_vec(),
        }
    }
}

/// A row whose colours do not go on in the next one.
fn closed(row: &str) -> String {
    format!("{row}\x1b[0m")
}
