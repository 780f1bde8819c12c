//! A full screen: rows in a box on the alternate screen.

/// To the alternate screen, without a cursor.
pub(crate) const ENTER: &str = "\x1b[?1049h\x1b[?25l";
/// Back to the ordinary screen, with the cursor.
pub(crate) const LEAVE: &str = "\x1b[?25h\x1b[?1049l";

/// A whole redraw: clears the screen and draws a box around `rows`.
///
/// Lines end with CR LF, which is right in raw mode too. A character counts as one column.
pub(crate) fn frame(rows: &[String]) -> String {
    let width = rows
        .iter()
        .map(|row| row.chars().count())
        .max()
        .unwrap_or(0);
    let edge = "─".repeat(width + 2);
    let body: String = rows
        .iter()
        .map(|row| format!("│ {row:width$} │\r\n"))
        .collect();
    format!("\x1b[H\x1b[2J┌{edge}┐\r\n{body}└{edge}┘\r\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_box_fits_its_widest_row() {
        let rows = ["é".to_owned(), "ready".to_owned()];
        let expected = "\x1b[H\x1b[2J┌───────┐\r\n│ é     │\r\n│ ready │\r\n└───────┘\r\n";
        assert_eq!(frame(&rows), expected);
    }
}
