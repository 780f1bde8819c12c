//! What stands in the box where one types.

use crate::delivery::Field;

/// Looks behind the last row that begins with `mark`. Faint text is the program's suggestion, inverse text its cursor.
pub(super) fn field(screen: &vt100::Screen, mark: &str) -> Field {
    let (rows, columns) = screen.size();
    let texts: Vec<String> = screen.rows(0, columns.get()).collect();
    let Some(row) = texts.iter().rposition(|text| text.starts_with(mark)) else {
        return Field::Unread;
    };
    let row = u16::try_from(row).unwrap_or(rows.get());
    let behind = u16::try_from(mark.chars().count()).unwrap_or(columns.get());
    let is_text = |column| {
        screen.cell(row, column).is_some_and(|cell| {
            let is_blank = cell.contents().chars().all(char::is_whitespace);
            !is_blank && !cell.dim() && !cell.inverse()
        })
    };
    if (behind..columns.get()).any(is_text) {
        Field::Filled
    } else {
        Field::Empty
    }
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
        ];
        for (text, expected) in table {
            assert_eq!(seen(text), expected, "{text:?}");
        }
    }
}
