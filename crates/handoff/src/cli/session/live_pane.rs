//! A session's screen as it changes. A person's terminal is painted over in place, on its ordinary screen and without any mode
//! that would have to be left: whoever presses Ctrl-C keeps the last picture and a terminal as it was. Everybody else gets one
//! picture below the other.

use std::fmt::Write as _;

use handoff_api::{ExitCode, PaneDocument};
use handoff_operations::Failure;
use handoff_operations::session::{lost, unreachable};
use handoff_session::client::Screens;
use handoff_session::{Known, Standing};
use rustix::stdio::stdout;
use rustix::termios::tcgetwinsize;

use super::pane::Cutout;
use crate::context::Context;
use crate::output::end_with_reader;

/// Shows every picture until there are no more.
pub(super) fn follow(
    known: &Known,
    screens: Screens,
    cutout: &Cutout,
    ctx: &mut Context,
) -> Result<(), Failure> {
    end_with_reader();
    let mut shown: Option<Vec<String>> = None;
    for screen in screens {
        let screen = screen.map_err(|error| unreachable(known, &error))?;
        if ctx.out.is_json() {
            let document = cutout.document(known, &screen);
            ctx.out.document(PaneDocument::SCHEMA, document)?;
            continue;
        }
        // The cursor or another part of the screen may be all that changed.
        let rows = cutout.rows(&screen);
        if shown.as_ref() == Some(&rows) {
            continue;
        }
        if ctx.out.is_screen() {
            let (height, width) = window();
            let rows = cutout.fitted(last(&rows, height), screen.columns, width);
            let above = shown.map_or(0, |shown| shown.len().min(height));
            ctx.out.raw(repainted(&rows, above).as_bytes())?;
        } else {
            let now = ctx.clock()?.now().wall;
            ctx.out.line(format!("--- {now}"))?;
            rows.iter().try_for_each(|row| ctx.out.line(row))?;
        }
        shown = Some(rows);
    }
    Ok(())
}

/// What a session that is no longer followed ends a follower with.
pub(super) fn end(known: &Known) -> Result<ExitCode, Failure> {
    match known.standing {
        Standing::Live | Standing::Ended => Ok(ExitCode::Done),
        Standing::Lost => Err(lost(known)),
    }
}

/// The rows and columns that there are for a picture; the cursor stands below it. Asked each time: a window may have become
/// smaller, and one that does not know its size says zero.
fn window() -> (usize, u16) {
    let size = tcgetwinsize(stdout()).ok();
    let known = |number: Option<u16>| number.filter(|it| *it > 0);
    let height = known(size.map(|it| it.ws_row)).unwrap_or(24);
    let width = known(size.map(|it| it.ws_col)).unwrap_or(80);
    (usize::from(height.saturating_sub(1)).max(1), width)
}

fn last(rows: &[String], count: usize) -> &[String] {
    &rows[rows.len().saturating_sub(count)..]
}

/// What paints these rows over so many that stand above the cursor.
fn repainted(rows: &[String], above: usize) -> String {
    let mut text = String::new();
    if above > 0 {
        // Writing to a String cannot fail.
        write!(text, "\x1b[{above}A").ok();
    }
    for row in rows {
        // Colours skip over blanks, so that what stood there must be gone before.
        text.extend(["\r\x1b[2K", row, "\r\n"]);
    }
    text + "\x1b[J"
}

#[cfg(test)]
mod tests {
    use handoff_process::Size;
    use handoff_session::screen::Screen;

    use super::*;

    fn rows(rows: &[&str]) -> Vec<String> {
        rows.iter().map(|&row| row.to_owned()).collect()
    }

    #[test]
    fn a_picture_takes_the_place_of_the_one_before_and_leaves_what_was_above() {
        let mut terminal = Screen::new(Size {
            rows: 5,
            columns: 6,
        });
        terminal.print(b"$ pane\r\n");
        let first = rows(&["one", "a long", "three"]);
        terminal.print(repainted(&first, 0).as_bytes());
        assert_eq!(terminal.rows(), ["$ pane", "one", "a long", "three", ""]);
        let second = rows(&["1", "\x1b[2C2"]);
        terminal.print(repainted(&second, first.len()).as_bytes());
        assert_eq!(terminal.rows(), ["$ pane", "1", "  2", "", ""]);
        terminal.print(repainted(&first, second.len()).as_bytes());
        assert_eq!(terminal.rows()[1..4], ["one", "a long", "three"]);
    }
}
