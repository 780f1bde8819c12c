//! Telling lines apart and saying what each of them is.
//!
//! It follows CommonMark with three differences on purpose. Fences and comments may be indented as far as one likes,
//! because people put them below list items without counting columns. A fence ends only where it is closed, not with
//! the list item around it: a plan that ends early by mistake is worse than one that is refused. And an indented
//! heading is none: it would depend on the list items above it whether it ends their section or belongs to them, so
//! that a line put in between could change what all lines below it are.

use super::{Ending, Heading, Item, Kind, Line, LineNumber, Markdown, Open, Part};

const BYTE_ORDER_MARK: char = '\u{feff}';

/// Reads a document.
pub(super) fn document(text: &str) -> Markdown<'_> {
    let body = text.strip_prefix(BYTE_ORDER_MARK).unwrap_or(text);
    let mut start = text.len() - body.len();
    let mut block = Block::None;
    let mut lines = vec![];
    for whole in body.split_inclusive('\n') {
        let (text, ending) = without_ending(whole);
        let kind = block.kind(text, LineNumber::at(lines.len()));
        lines.push(Line {
            start,
            text,
            ending,
            kind,
        });
        start += whole.len();
    }
    Markdown {
        text,
        lines,
        open: block.open(),
    }
}

fn without_ending(whole: &str) -> (&str, Ending) {
    let Some(text) = whole.strip_suffix('\n') else {
        return (whole, Ending::Missing);
    };
    match text.strip_suffix('\r') {
        Some(text) => (text, Ending::CrLf),
        None => (text, Ending::Lf),
    }
}

/// What is open at the end of a line.
#[derive(Debug)]
enum Block<'text> {
    None,
    Fence {
        fence: &'text str,
        since: LineNumber,
    },
    Comment {
        since: LineNumber,
    },
}

impl<'text> Block<'text> {
    const fn open(&self) -> Option<Open> {
        match self {
            Self::None => None,
            Self::Fence { since, .. } => Some(Open::Fence(*since)),
            Self::Comment { since } => Some(Open::Comment(*since)),
        }
    }

    /// Says what the next line is.
    fn kind(&mut self, line: &'text str, number: LineNumber) -> Kind<'text> {
        match self {
            Self::Fence { fence, .. } => {
                if closes(line, fence) {
                    *self = Self::None;
                }
                Kind::Code(Part::Rest)
            }
            Self::Comment { .. } => {
                if line.contains("-->") {
                    *self = Self::None;
                }
                Kind::Comment(Part::Rest)
            }
            Self::None => self.outside(line, number),
        }
    }

    fn outside(&mut self, line: &'text str, number: LineNumber) -> Kind<'text> {
        let item = item(line);
        let content = item.map_or(line, |item| &line[item.content..]).trim_start();
        if let Some(fence) = fence(content) {
            *self = Self::Fence {
                fence,
                since: number,
            };
            return Kind::Code(Part::First);
        }
        if let Some(comment) = content.strip_prefix("<!--") {
            if !closes_comment(comment) {
                *self = Self::Comment { since: number };
            }
            return Kind::Comment(Part::First);
        }
        match (item, heading(line)) {
            (Some(item), _) => Kind::Item(item),
            (None, Some(heading)) => Kind::Heading(heading),
            (None, None) if content.is_empty() => Kind::Blank,
            (None, None) => Kind::Text,
        }
    }
}

/// Whether a comment ends on the line it begins on; `<!-->` does.
fn closes_comment(comment: &str) -> bool {
    comment.contains("-->") || comment.starts_with('>') || comment.starts_with("->")
}

/// How far a line is indented.
pub(super) fn column(line: &str) -> usize {
    let indent = line.len() - line.trim_start_matches([' ', '\t']).len();
    width(&line[..indent], 0)
}

/// The column behind a text of spaces, tabs and single-column characters that begins at `from`.
fn width(text: &str, from: usize) -> usize {
    text.bytes().fold(from, |column, byte| match byte {
        b'\t' => (column / 4 + 1) * 4,
        _ => column + 1,
    })
}

/// The fence that a line opens: three or more backticks or tildes.
fn fence(content: &str) -> Option<&str> {
    let mark = content
        .chars()
        .next()
        .filter(|mark| matches!(mark, '`' | '~'))?;
    let info = content.trim_start_matches(mark);
    let fence = &content[..content.len() - info.len()];
    // Backticks behind backticks are code within a line.
    let is_fence = fence.len() >= 3 && (mark == '~' || !info.contains('`'));
    is_fence.then_some(fence)
}

fn closes(line: &str, fence: &str) -> bool {
    let line = line.trim();
    line.len() >= fence.len() && line.starts_with(fence) && {
        let mark = &fence[..1];
        line.trim_start_matches(mark).is_empty()
    }
}

/// A heading with its number signs.
fn heading(line: &str) -> Option<Heading<'_>> {
    let rest = line.trim_start_matches('#');
    let level = u8::try_from(line.len() - rest.len()).ok()?;
    let is_heading = (1..=6).contains(&level) && (rest.is_empty() || rest.starts_with([' ', '\t']));
    is_heading.then(|| Heading {
        level,
        title: without_closing(rest.trim()),
    })
}

/// `Title ##` is `Title`; `C#` stays.
fn without_closing(title: &str) -> &str {
    let before = title.trim_end_matches('#');
    if before.is_empty() || before.ends_with([' ', '\t']) {
        before.trim_end()
    } else {
        title
    }
}

/// The marker that begins a list item.
fn item(line: &str) -> Option<Item> {
    let text = line.trim_start_matches([' ', '\t']);
    let indent = line.len() - text.len();
    let marker = marker(text)?;
    let rest = &text[marker..];
    let content = rest.trim_start_matches([' ', '\t']);
    let gap = rest.len() - content.len();
    if gap == 0 && !rest.is_empty() {
        return None;
    }
    let column = width(&line[..indent], 0);
    let behind = width(&text[..marker], column);
    // An item without content reaches one column behind its marker.
    let inner_column = if content.is_empty() {
        behind + 1
    } else {
        width(&rest[..gap], behind)
    };
    Some(Item {
        column,
        inner_column,
        content: indent + marker + gap,
    })
}

/// How long the list marker is that a text begins with: `-`, `*`, `+`, `1.` or `1)`.
fn marker(text: &str) -> Option<usize> {
    if text.starts_with(['-', '*', '+']) {
        return Some(1);
    }
    let rest = text.trim_start_matches(|digit: char| digit.is_ascii_digit());
    let digits = text.len() - rest.len();
    ((1..=9).contains(&digits) && rest.starts_with(['.', ')'])).then_some(digits + 1)
}
