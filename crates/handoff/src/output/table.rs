//! Tables for people: a heading, aligned columns, and a last column that is cut or wrapped to the width.

use unicode_width::{UnicodeWidthChar as _, UnicodeWidthStr as _};

use super::one_line;
use super::style::{Palette, Tone};

/// Between two columns.
const GAP: usize = 2;
/// The last column never gets less than this, however narrow the terminal.
const LEAST: usize = 16;

/// Rows of text with a tone each. Cells are made harmless here, so that no caller can forget it.
pub(crate) struct Table {
    heading: Vec<&'static str>,
    rows: Vec<Vec<(Tone, String)>>,
    long_text: LongText,
}

/// What becomes of text that is too long for the last column.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum LongText {
    Cut,
    Wrapped,
}

impl Table {
    pub(crate) fn new(heading: &[&'static str]) -> Self {
        Self {
            heading: heading.to_vec(),
            rows: vec![],
            long_text: LongText::Cut,
        }
    }

    /// Long text goes on in further lines instead of being cut.
    #[must_use]
    pub(crate) fn wrapped(mut self) -> Self {
        self.long_text = LongText::Wrapped;
        self
    }

    pub(crate) fn row(&mut self, cells: impl IntoIterator<Item = (Tone, String)>) {
        let harmless = cells
            .into_iter()
            .map(|(tone, text)| (tone, one_line(&text)));
        self.rows.push(harmless.collect());
    }

    pub(crate) fn render(&self, width: usize, palette: Palette) -> String {
        let widths = self.widths(width);
        let heading: Vec<_> = self
            .heading
            .iter()
            .map(|text| (Tone::Faint, (*text).to_owned()))
            .collect();
        let lines = std::iter::once(&heading)
            .chain(&self.rows)
            .flat_map(|row| self.lines(row, &widths, palette));
        lines.collect::<Vec<_>>().join("\n")
    }

    /// Each column as wide as its widest cell; the last one gets what is left.
    fn widths(&self, width: usize) -> Vec<usize> {
        let widest = |column: usize| {
            let cells = self.rows.iter().filter_map(|row| row.get(column));
            cells
                .map(|(_, text)| text.width())
                .fold(self.heading[column].width(), usize::max)
        };
        let mut widths: Vec<_> = (0..self.heading.len()).map(widest).collect();
        if let Some((last, others)) = widths.split_last_mut() {
            let taken: usize = others.iter().map(|width| width + GAP).sum();
            *last = (*last).min(width.saturating_sub(taken).max(LEAST));
        }
        widths
    }

    fn lines(&self, row: &[(Tone, String)], widths: &[usize], palette: Palette) -> Vec<String> {
        let Some(((tone, last), others)) = row.split_last() else {
            return vec![];
        };
        let width = widths.last().copied().unwrap_or(LEAST);
        let pieces = match self.long_text {
            LongText::Cut => vec![cut(last, width)],
            LongText::Wrapped => wrap(last, width),
        };
        let blank: String = " ".repeat(widths[..others.len()].iter().map(|it| it + GAP).sum());
        let first: String = others
            .iter()
            .zip(widths)
            .map(|((tone, text), width)| {
                let padding = " ".repeat(width + GAP - text.width());
                format!("{}{padding}", palette.paint(*tone, text))
            })
            .collect();
        let starts = std::iter::once(first).chain(std::iter::repeat(blank));
        let line = |(start, piece): (String, String)| start + &palette.paint(*tone, &piece);
        starts
            .zip(pieces)
            .map(line)
            .map(|line| line.trim_end().to_owned())
            .collect()
    }
}

/// As much as fits, with a sign that there was more.
pub(crate) fn cut(text: &str, width: usize) -> String {
    if text.width() <= width {
        return text.to_owned();
    }
    let mut room = width.saturating_sub(1);
    let fits = |character: &char| {
        let needed = character.width().unwrap_or(0);
        let is_fitting = needed <= room;
        room = room.saturating_sub(needed);
        is_fitting
    };
    let kept: String = text.chars().take_while(fits).collect();
    format!("{}…", kept.trim_end())
}

/// Broken between words; a word that is wider than the column keeps a line to itself.
pub(crate) fn wrap(text: &str, width: usize) -> Vec<String> {
    let mut lines = vec![String::new()];
    for word in text.split(' ') {
        let line = lines.last_mut().expect("there is always a line");
        if line.is_empty() {
            line.push_str(word);
        } else if line.width() + 1 + word.width() <= width {
            line.push(' ');
            line.push_str(word);
        } else {
            lines.push(word.to_owned());
        }
    }
    lines
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_column_is_cut_to_the_width_and_cells_are_harmless() {
        let mut table = Table::new(&["NAME", "BRIEF"]);
        table.row([
            (Tone::Strong, "a".to_owned()),
            (Tone::Faint, "x\u{1b}[31m\ny漢字".repeat(30)),
        ]);
        let text = table.render(40, Palette::Plain);
        assert_eq!(text.lines().count(), 2);
        assert!(text.lines().all(|line| line.width() <= 40), "{text}");
        assert!(!text.contains('\u{1b}'));
    }

    #[test]
    fn wrapped_text_stays_in_its_column() {
        let mut table = Table::new(&["CODE", "MEANING"]).wrapped();
        table.row([
            (Tone::Strong, "1".to_owned()),
            (Tone::Faint, "one two three four five six".to_owned()),
        ]);
        let text = table.render(22, Palette::Plain);
        assert_eq!(
            text,
            "CODE  MEANING\n1     one two three\n      four five six"
        );
    }
}
