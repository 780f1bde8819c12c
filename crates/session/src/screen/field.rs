//! What stands in the box where one types.

use crate::delivery::Field;

/// Looks behind the last row that begins with `mark`, and below it to the edge of the box: the first row of a draft may be empty.
/// Faint text is the program's suggestion, inverse text its cursor.
pub(super) fn field(screen: &vt100::Screen, mark: &str) -> Field {
    let (rows, columns) = screen.size();
    let texts: Vec<String> = screen.rows(0, columns.get()).collect();
    let Some(row) = texts.iter().rposition(|text| text.starts_with(mark)) else {
        return Field::Unread;
    };
    let more = rows_below(&texts[row + 1..]);
    let first = u16::try_from(row).unwrap_or(rows.get());
    let last = u16::try_from(row + more).unwrap_or(rows.get());
    let behind = u16::try_from(mark.chars().count()).unwrap_or(columns.get());
    let is_text = |row: u16, column: u16| {
        screen.cell(row, column).is_some_and(|cell| {
            let is_blank = cell.contents().chars().all(char::is_whitespace);
            !is_blank && !cell.dim() && !cell.inverse()
        })
    };
    let is_suggested = cursor_comes_first(screen, first, behind);
    let is_filled = |row: u16| {
        let begin = match (row == first, is_suggested) {
            (true, true) => columns.get(),
            (true, false) => behind,
            (false, _) => 0,
        };
        (begin..columns.get()).any(|column| is_text(row, column))
    };
    if (first..=last).any(is_filled) {
        Field::Filled
    } else {
        Field::Empty
    }
}

/// Whether the cursor stands on a blank right behind the mark: what follows in this row is the program's suggestion, also where it
/// is not faint. A cursor in front of a draft would stand on its first character.
fn cursor_comes_first(screen: &vt100::Screen, row: u16, behind: u16) -> bool {
    let is_cursor = |column: u16| {
        screen.cell(row, column).is_some_and(|cell| {
            let is_blank = cell.contents().chars().all(char::is_whitespace);
            is_blank && cell.inverse()
        })
    };
    (behind..behind.saturating_add(2)).any(is_cursor)
}

/// How many rows below the first belong to the box: up to the line that closes it, else up to a blank row.
fn rows_below(below: &[String]) -> usize {
    let edge = below.iter().position(|row| is_edge(row));
    let blank = || below.iter().position(|row| row.trim().is_empty());
    edge.or_else(blank).unwrap_or(0)
}

fn is_edge(row: &str) -> bool {
    let row = row.trim();
    let is_line = |it: char| {
        matches!(
            it,
            '─' | '━' | '═' | '▀' | '▄' | '╌' | '▔' | '▁' | '╰' | '╯' | '└' | '┘'
        )
    };
    row.chars().count() >= 4 && row.starts_with(is_line) && row.ends_with(is_line)
}

#[cfg(test)]
mod tests {
    use handoff_process::Size;

    use super::*;
    use crate::screen::Screen;

    fn seen(text: &str) -> Field {
        let mut screen = Screen::new(Size {
            rows: 6,
            columns: 40,
        });
        screen.print(text.as_bytes());
        screen.field("❯")
    }

    #[test]
    fn a_draft_is_told_from_a_suggestion_and_from_the_cursor() {
        let table = [
            ("no box", Field::Unread),
            ("❯\u{a0}\x1b[7m ", Field::Empty),
            ("❯\u{a0}text\x1b[7m ", Field::Filled),
            ("❯ old message\r\n\r\n❯ \x1b[2mTry \"fix it\"", Field::Empty),
            ("❯\u{a0}\x1b[7mP\x1b[0;2mress up to edit", Field::Empty),
            ("❯ [Pasted text #1 +59 lines]", Field::Filled),
            ("❯ \x1b[7m \x1b[0;38;5;248m Type your message", Field::Empty),
            ("❯ \x1b[7md\x1b[27mraft", Field::Filled),
            ("❯ \x1b[7m \x1b[27m\r\n  draft\r\n\r\n", Field::Filled),
            (
                "────\r\n❯ \r\n\r\n  draft\r\n────\r\n  footer",
                Field::Filled,
            ),
            ("────\r\n❯ \r\n────\r\n  footer", Field::Empty),
            ("❯ \r\n  draft\r\n\r\n  footer", Field::Filled),
            ("❯ \r\n\r\n  footer", Field::Empty),
            ("❯ \r\n  \x1b[2mfooter", Field::Empty),
        ];
        for (text, expected) in table {
            assert_eq!(seen(text), expected, "{text:?}");
        }
    }
}
