//! The box that makes a step of a list item.

use std::ops::Range;

use super::Marker;

/// The longest word in brackets that is taken for a box, such as `[in-progress]`.
const LONGEST_WORD: usize = 16;

/// A box at the beginning of a text.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Checkbox<'text> {
    pub(super) marker: Marker,
    /// What stands between the brackets, in bytes.
    pub(super) inside: Range<usize>,
    /// What follows it.
    pub(super) title: &'text str,
}

impl<'text> Checkbox<'text> {
    /// The box that `content` begins with. A link is none; a word in brackets is one that cannot be read, so
    /// that `[done]` and `[wip]` are not passed over.
    pub(super) fn read(content: &'text str) -> Option<Self> {
        let inside = 1..content.strip_prefix('[')?.find(']')? + 1;
        let rest = &content[inside.end + 1..];
        let found = &content[inside.clone()];
        let is_apart = rest.is_empty() || rest.starts_with(char::is_whitespace);
        (is_apart && is_mark(found)).then(|| Self {
            marker: marker(found),
            inside,
            title: rest.trim(),
        })
    }

    /// The byte of a box for a marker; what cannot be read is never written.
    pub(super) const fn letter(marker: &Marker) -> Option<&'static str> {
        match marker {
            Marker::Done => Some("x"),
            Marker::Current => Some(">"),
            Marker::Pending => Some(" "),
            Marker::Blocked { .. } => Some("!"),
            Marker::Unknown { .. } => None,
        }
    }
}

fn is_mark(found: &str) -> bool {
    let inner = found.trim();
    let length = inner.chars().count();
    length <= 1 || (length <= LONGEST_WORD && !inner.contains(char::is_whitespace))
}

fn marker(found: &str) -> Marker {
    match found {
        "x" | "X" => Marker::Done,
        ">" => Marker::Current,
        " " => Marker::Pending,
        "!" => Marker::Blocked { reason: None },
        _ => Marker::Unknown {
            found: found.to_owned(),
        },
    }
}
