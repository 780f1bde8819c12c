//! A text as it reads: without control sequences and invisible characters, and joined over line breaks.
//!
//! A terminal wraps a token wherever its line ends and may colour it in the middle. Whoever reads the screen sees the token; a look
//! at the bytes does not.

use super::Span;

/// A text with parts left out, and where the rest stands in the original.
pub(super) struct View {
    text: String,
    /// Where each kept piece begins: here, and in the original. Consecutive pieces are not adjacent there.
    pieces: Vec<(usize, usize)>,
}

/// Whether a character says nothing to a reader. Line feed and tab do.
fn is_invisible(character: char) -> bool {
    (character.is_control() && !matches!(character, '\n' | '\t'))
        || matches!(character,
            '\u{ad}' | '\u{34f}' | '\u{61c}' | '\u{180e}' | '\u{200b}'..='\u{200f}'
            | '\u{202a}'..='\u{202e}' | '\u{2060}'..='\u{206f}' | '\u{fe00}'..='\u{fe0f}' | '\u{feff}')
}

/// Whether a character frames text on a screen.
const fn is_frame(character: char) -> bool {
    matches!(character, '|' | '\u{2500}'..='\u{257f}')
}

/// Whether a character begins a line that is framed, or one of a diff or a quotation.
const fn is_mark(character: char) -> bool {
    is_frame(character) || matches!(character, '+' | '-' | '>')
}

impl View {
    /// Without control sequences and invisible characters; none if there are none.
    pub(super) fn plain(text: &str) -> Option<Self> {
        let needs_it = !text.is_ascii()
            || text
                .bytes()
                .any(|it| it.is_ascii_control() && !matches!(it, b'\n' | b'\t'));
        if !needs_it || !text.contains(is_invisible) {
            return None;
        }
        let mut view = Self::empty();
        let mut at = 0;
        while let Some(character) = text[at..].chars().next() {
            if is_invisible(character) {
                at += sequence(&text[at..]);
            } else {
                view.push(&text[at..at + character.len_utf8()], at);
                at += character.len_utf8();
            }
        }
        Some(view)
    }

    /// Joined over line breaks; none if there are none.
    pub(super) fn joined(text: &str, edges: Edges) -> Option<Self> {
        if !text.contains('\n') {
            return None;
        }
        let mut view = Self::empty();
        let mut at = 0;
        for line in text.split_inclusive('\n') {
            let kept = match edges {
                Edges::Kept => line.trim_end_matches('\n'),
                Edges::Trimmed => line.trim(),
                Edges::Cut => inner(line),
            };
            let start = line.find(kept).unwrap_or(0);
            view.push(kept, at + start);
            at += line.len();
        }
        Some(view)
    }

    const fn empty() -> Self {
        Self {
            text: String::new(),
            pieces: vec![],
        }
    }

    fn push(&mut self, part: &str, original: usize) {
        if part.is_empty() {
            return;
        }
        let here = self.text.len();
        let follows = self
            .pieces
            .last()
            .is_some_and(|(begins, there)| there + (here - begins) == original);
        if !follows {
            self.pieces.push((here, original));
        }
        self.text.push_str(part);
    }

    /// What is left.
    pub(super) fn text(&self) -> &str {
        &self.text
    }

    /// Whether something was left out right before this place.
    pub(super) fn is_seam(&self, place: usize) -> bool {
        self.pieces.binary_search_by_key(&place, |it| it.0).is_ok()
    }

    /// Where a byte stands in the original.
    pub(super) fn original(&self, place: usize) -> usize {
        let piece = self.pieces.partition_point(|it| it.0 <= place);
        let (begins, there) = piece.checked_sub(1).map_or((0, 0), |it| self.pieces[it]);
        there + (place - begins)
    }

    /// The same span in the original.
    pub(super) fn in_original(&self, span: &Span) -> Span {
        Span {
            kind: span.kind,
            start: self.original(span.start),
            end: self.original(span.end.saturating_sub(1)) + 1,
        }
    }
}

/// What becomes of the ends of lines that are joined.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Edges {
    /// They stay.
    Kept,
    /// White space is left out.
    Trimmed,
    /// White space and one mark of a frame or of a diff are left out.
    Cut,
}

fn inner(line: &str) -> &str {
    let line = line.trim();
    let line = line.strip_prefix(is_mark).unwrap_or(line);
    let line = line.strip_suffix(is_frame).unwrap_or(line);
    line.trim()
}

/// How long the invisible thing is that begins here: a control sequence of a terminal, or one character.
fn sequence(text: &str) -> usize {
    let first = text.chars().next().map_or(1, char::len_utf8);
    let (kind, rest) = match text.as_bytes() {
        [0x1b, kind, ..] => (*kind, 2),
        // The same in one character: U+009B and U+009D.
        [0xc2, 0x9b, ..] => (b'[', 2),
        [0xc2, 0x9d, ..] => (b']', 2),
        _ => return first,
    };
    let tail = &text.as_bytes()[rest..];
    match kind {
        b'[' => {
            let parameters = tail
                .iter()
                .take_while(|it| (0x20..=0x3f).contains(*it))
                .count();
            let has_end = tail
                .get(parameters)
                .is_some_and(|it| (0x40..=0x7e).contains(it));
            rest + parameters + usize::from(has_end)
        }
        // Ends with BEL or ST. One without an end hides nothing: only its beginning is left out.
        b']' | b'P' | b'_' | b'^' | b'X' => {
            let bell = tail.iter().position(|it| *it == 0x07).map(|at| at + 1);
            let st = tail
                .windows(2)
                .position(|it| it == b"\x1b\\")
                .map(|at| at + 2);
            let end = bell.into_iter().chain(st).min();
            end.map_or(rest, |end| rest + end)
        }
        b' '..=b'/' => (rest + 1).min(text.len()),
        0x30..=0x7e => rest,
        _ => first,
    }
}
