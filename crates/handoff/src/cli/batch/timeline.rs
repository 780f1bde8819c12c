//! Time from left to right, one row for each thing that took some.

use unicode_width::UnicodeWidthStr as _;

use crate::output::{Output, Tone, cut, one_line};

/// Something that took time.
pub(super) struct Piece {
    /// Seconds since the beginning.
    pub(super) from: f64,
    pub(super) to: f64,
    pub(super) tone: Tone,
}

/// One thing.
pub(super) struct Row {
    pub(super) name: String,
    pub(super) pieces: Vec<Piece>,
}

/// The longest name that is shown whole.
const WIDEST: usize = 24;

/// The rows as text, all on the same scale, at most `width` wide.
pub(super) fn draw(rows: &[Row], width: usize, out: &Output) -> Vec<String> {
    let paint = |tone, text: &str| out.styled(tone, text);
    drawn(rows, width, &paint)
}

fn drawn(rows: &[Row], width: usize, paint: &dyn Fn(Tone, &str) -> String) -> Vec<String> {
    let names: Vec<_> = rows
        .iter()
        .map(|row| cut(&one_line(&row.name), WIDEST))
        .collect();
    let label = names.iter().map(|name| name.width()).max().unwrap_or(0);
    let room = width.saturating_sub(label + 4).clamp(10, 100);
    let ends = rows
        .iter()
        .flat_map(|row| &row.pieces)
        .map(|piece| piece.to);
    let end = ends.fold(0.0, f64::max);
    let line = |(row, name): (&Row, &String)| {
        let padding = " ".repeat(label - name.width());
        let cells: String = (0..room)
            .map(|cell| at(row, cell, room, end, paint))
            .collect();
        format!("  {name}{padding}  {cells}").trim_end().to_owned()
    };
    rows.iter().zip(&names).map(line).collect()
}

/// What a row was at in one column of the picture.
fn at(
    row: &Row,
    cell: usize,
    room: usize,
    end: f64,
    paint: &dyn Fn(Tone, &str) -> String,
) -> String {
    let edge = |cell: usize| end * cell as f64 / room as f64;
    let (from, to) = (edge(cell), edge(cell + 1));
    let is_here = |piece: &&Piece| piece.from < to && piece.to > from && piece.to > piece.from;
    match row.pieces.iter().rfind(is_here) {
        Some(piece) => paint(piece.tone, sign(piece.tone)),
        None => " ".to_owned(),
    }
}

/// Without colours, too, what came to nothing must look different.
const fn sign(tone: Tone) -> &'static str {
    match tone {
        Tone::Good | Tone::Active | Tone::Plain | Tone::Strong | Tone::Hint => "█",
        Tone::Bad | Tone::Attention => "▓",
        Tone::Faint => "░",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(name: &str, pieces: &[(f64, f64, Tone)]) -> Row {
        let piece = |&(from, to, tone): &(f64, f64, Tone)| Piece { from, to, tone };
        Row {
            name: name.to_owned(),
            pieces: pieces.iter().map(piece).collect(),
        }
    }

    #[test]
    fn rows_share_a_scale() {
        let rows = [
            row("one", &[(0.0, 50.0, Tone::Good)]),
            row("two", &[(0.0, 20.0, Tone::Faint), (25.0, 75.0, Tone::Bad)]),
            row("never", &[]),
            row("fan-in", &[(75.0, 100.0, Tone::Good)]),
        ];
        let plain = |_, text: &str| text.to_owned();
        let expected = "  one     ██████████\n  two     ░░░░ ▓▓▓▓▓▓▓▓▓▓\n  never\n  fan-in                 █████";
        let lines: Vec<_> = drawn(&rows, 30, &plain)
            .iter()
            .map(|it| it.trim_end().to_owned())
            .collect();
        assert_eq!(lines.join("\n"), expected);
    }
}
