//! The part of a document below a heading.

use super::{Kind, LineNumber, Markdown};

/// The deepest heading that begins a section with a name.
const DEEPEST: u8 = 3;

/// The part of a document below a heading, up to the next heading of its level or above.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Section {
    /// Where its heading is in the list of lines.
    pub heading: usize,
    /// The level of that heading.
    pub level: u8,
    /// The first line behind it, in the list of lines.
    pub end: usize,
}

impl Section {
    /// The line of its heading.
    #[must_use]
    pub const fn line(&self) -> LineNumber {
        LineNumber::at(self.heading)
    }

    /// Its lines below the heading.
    #[must_use]
    pub const fn body(&self) -> std::ops::Range<usize> {
        self.heading + 1..self.end
    }
}

impl Markdown<'_> {
    /// All sections with this title, as headings of the levels one to three.
    pub fn sections<'doc>(&'doc self, title: &'doc str) -> impl Iterator<Item = Section> + 'doc {
        let headings = self.lines.iter().enumerate();
        headings.filter_map(move |(index, line)| match line.kind {
            Kind::Heading(heading)
                if heading.level <= DEEPEST && is_title(heading.title, title) =>
            {
                Some(self.section_at(index, heading.level))
            }
            Kind::Heading(_)
            | Kind::Blank
            | Kind::Item(_)
            | Kind::Code(_)
            | Kind::Comment(_)
            | Kind::Text => None,
        })
    }

    fn section_at(&self, heading: usize, level: u8) -> Section {
        let below = self.lines.iter().enumerate().skip(heading + 1);
        let ends = |line: &Kind<'_>| matches!(line, Kind::Heading(other) if other.level <= level);
        let end = below
            .into_iter()
            .find(|(_, line)| ends(&line.kind))
            .map_or(self.lines.len(), |(index, _)| index);
        Section {
            heading,
            level,
            end,
        }
    }
}

/// Whether a heading says this title: without case, emphasis, a colon behind it, or the number of its blanks.
#[must_use]
pub fn is_title(heading: &str, title: &str) -> bool {
    let is_decoration = |c: char| matches!(c, '*' | '_' | ':') || c.is_whitespace();
    let words = heading.trim_matches(is_decoration).split_whitespace();
    words
        .map(str::to_lowercase)
        .eq(title.split_whitespace().map(str::to_lowercase))
}
