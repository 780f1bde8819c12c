//! Changing some bytes of a text and copying all others.

use std::ops::Range;

use super::{Ending, Line};

/// New text for a range of the old one; an empty range inserts.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Splice {
    pub(crate) range: Range<usize>,
    pub(crate) text: String,
}

/// The text with all splices made. Where two insert at one place, the first comes first; ranges that overlap are a
/// mistake of the caller, and the later one is left out rather than torn.
pub(crate) fn splice(text: &str, mut splices: Vec<Splice>) -> String {
    splices.sort_by_key(|splice| (splice.range.start, splice.range.end));
    let mut result = String::with_capacity(text.len() + 80);
    let mut copied = 0;
    for splice in splices {
        if splice.range.start < copied {
            debug_assert!(false, "splices overlap");
            continue;
        }
        result.push_str(&text[copied..splice.range.start]);
        result.push_str(&splice.text);
        copied = splice.range.end;
    }
    result.push_str(&text[copied..]);
    result
}

impl Splice {
    /// A new line behind another. If that one had no ending, because the file ends there, the new one has none.
    pub(crate) fn line_behind(line: &Line<'_>, text: &str, ending: &str) -> Self {
        let text = match line.ending {
            Ending::Missing => format!("{ending}{text}"),
            Ending::Lf => format!("{text}\n"),
            Ending::CrLf => format!("{text}\r\n"),
        };
        Self {
            range: line.end()..line.end(),
            text,
        }
    }
}
