//! Choices beside each other at the bottom of a screen, one of them lit: `[Allow once]  Allow always   Reject`.
//!
//! That is told by colours and gaps, not by words: the chosen one stands on a background that the others do not have.

/// Choices in one row.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Menu {
    /// The number of its row, from zero.
    pub row: usize,
    pub labels: Vec<String>,
    /// Which of them is lit, from zero.
    pub lit: usize,
}

/// Words of one choice are nearer to each other.
const GAP: usize = 2;
/// What is farther away is no choice any more, but a hint.
const FAR: usize = 8;
/// How far above the last row with text.
const LOW: usize = 4;

/// A text in a row, with blanks around it.
struct Piece {
    begin: usize,
    end: usize,
    label: String,
    is_lit: bool,
}

pub(super) fn menu(screen: &vt100::Screen) -> Option<Menu> {
    let (rows, columns) = screen.size();
    let texts: Vec<String> = screen.rows(0, columns.get()).collect();
    let is_text = |row: &usize| texts[*row].chars().any(char::is_alphanumeric);
    let low = (0..usize::from(rows.get())).rev().filter(is_text).take(LOW);
    low.filter_map(|row| in_row(screen, row)).next()
}

fn in_row(screen: &vt100::Screen, row: usize) -> Option<Menu> {
    let pieces = near(pieces(screen, u16::try_from(row).ok()?));
    let lit = pieces.iter().position(|piece| piece.is_lit)?;
    let is_one = pieces.iter().filter(|piece| piece.is_lit).count() == 1;
    (is_one && pieces.len() > 1).then(|| Menu {
        row,
        labels: pieces.into_iter().map(|piece| piece.label).collect(),
        lit,
    })
}

/// Those from the first on that stand together.
fn near(pieces: Vec<Piece>) -> Vec<Piece> {
    let mut found: Vec<Piece> = vec![];
    for piece in pieces {
        if found
            .last()
            .is_some_and(|last| piece.begin - last.end >= FAR)
        {
            break;
        }
        found.push(piece);
    }
    found
}

fn pieces(screen: &vt100::Screen, row: u16) -> Vec<Piece> {
    let (_, columns) = screen.size();
    let mut found: Vec<Piece> = vec![];
    for column in 0..columns.get() {
        let Some(cell) = screen.cell(row, column) else {
            break;
        };
        let text = cell.contents();
        // Frames are no part of a choice.
        let is_frame = |it: char| it.is_whitespace() || matches!(it, '│' | '┃' | '║' | '▎');
        if text.chars().all(is_frame) {
            continue;
        }
        let at = usize::from(column);
        let is_lit = cell.inverse() || is_strong(screen, row, column);
        match found.last_mut() {
            Some(last) if at - last.end < GAP => {
                let blanks = " ".repeat(at - last.end);
                last.label.push_str(&blanks);
                last.label.push_str(text);
                last.end = at + 1;
                last.is_lit &= is_lit;
            }
            Some(_) | None => found.push(Piece {
                begin: at,
                end: at + 1,
                label: text.to_owned(),
                is_lit,
            }),
        }
    }
    found
}

/// Whether a cell has another background than most of its row.
fn is_strong(screen: &vt100::Screen, row: u16, column: u16) -> bool {
    let background = |column: u16| screen.cell(row, column).map(vt100::Cell::bgcolor);
    let plain = most_common(screen, row);
    background(column).is_some_and(|own| Some(own) != plain)
}

/// The background that most cells of a row have.
fn most_common(screen: &vt100::Screen, row: u16) -> Option<vt100::Color> {
    let (_, columns) = screen.size();
    let mut counts: Vec<(vt100::Color, usize)> = vec![];
    for column in 0..columns.get() {
        let Some(colour) = screen.cell(row, column).map(vt100::Cell::bgcolor) else {
            continue;
        };
        match counts.iter_mut().find(|(own, _)| *own == colour) {
            Some((_, count)) => *count += 1,
            None => counts.push((colour, 1)),
        }
    }
    counts
        .into_iter()
        .max_by_key(|(_, count)| *count)
        .map(|(colour, _)| colour)
}

#[cfg(test)]
mod tests {
    use handoff_process::Size;

    use crate::screen::Screen;

    fn read(text: &str) -> Option<(Vec<String>, usize)> {
        let mut screen = Screen::new(Size {
            rows: 6,
            columns: 80,
        });
        screen.print(text.as_bytes());
        screen.menu().map(|menu| (menu.labels, menu.lit))
    }

    const HINTS: &str = "              ⇆ select  enter confirm";

    #[test]
    fn the_lit_one_of_choices_in_a_row_is_found() {
        let expected = ["Allow once", "Allow always", "Reject"].map(str::to_owned);
        let dark = "\x1b[48;5;234m";
        let (one, other) = (format!("{dark}  \x1b[48;5;215m"), format!("{dark}  "));
        let first = format!("{one} Allow once {dark}  Allow always   Reject{HINTS}");
        assert_eq!(read(&first), Some((expected.to_vec(), 0)));
        let last = format!("{other} Allow once   Allow always  \x1b[7m Reject \x1b[27m{HINTS}");
        assert_eq!(read(&last), Some((expected.to_vec(), 2)));
    }

    #[test]
    fn a_row_of_words_is_no_menu() {
        assert_eq!(read("  Allow once   Allow always   Reject"), None);
        assert_eq!(
            read("\x1b[7m one   two \x1b[27m  three"),
            None,
            "two are lit"
        );
        assert_eq!(read("\x1b[7m alone \x1b[27m"), None);
        let above = "\x1b[7m yes \x1b[27m  no\r\na\r\nb\r\nc\r\nd";
        assert_eq!(read(above), None);
    }
}
