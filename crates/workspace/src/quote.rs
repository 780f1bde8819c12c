//! Text from files as data in a prompt.
//!
//! Everything behind `> ` on a line is quoted, and a quote never leaves its line: whatever a document says, it cannot begin
//! a line of its own and pose as the tool.

use handoff_core::visible;

/// The longest line that is quoted, in characters. Longer ones are cut where only a line will do, and go on in the next line
/// elsewhere.
const LONGEST: usize = 400;
/// Stands where a line ended that must be one with the next.
const LINE_END: &str = " ⏎ ";

/// One line of foreign text, of bounded length: for names and whatever else has a place where it can be read whole.
#[must_use]
pub fn line(text: &str) -> String {
    let text = flat(text.trim());
    match text.char_indices().nth(LONGEST) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text,
    }
}

/// Foreign text behind a `> ` that the caller has written, whole: what does not fit the line goes on in more of them, quoted too,
/// with `indent` in front.
#[must_use]
pub fn folded(text: &str, indent: &str) -> String {
    pieces(&flat(text.trim())).join(&format!("\n{indent}> "))
}

/// Each line of a text, quoted. Blank lines at both ends go, single ones between stay.
#[must_use]
pub fn block(text: &str) -> Vec<String> {
    quoted(text.trim().lines().map(str::trim))
}

/// Each line of a text, quoted with its indentation: for documents that are worked from.
#[must_use]
pub fn verbatim(text: &str) -> Vec<String> {
    quoted(text.trim_matches('\n').trim_end().lines())
}

fn quoted<'text>(lines: impl Iterator<Item = &'text str>) -> Vec<String> {
    let pieces = lines.flat_map(|line| pieces(&flat(line)));
    let mut quoted: Vec<_> = pieces
        .map(|piece| format!("> {piece}").trim_end().to_owned())
        .collect();
    quoted.dedup_by(|next, before| next == ">" && before == ">");
    quoted
}

/// On one line, without what nobody sees. Where a line ended there is a sign, or two words would become one.
fn flat(text: &str) -> String {
    let mut parts = text.split(visible::is_line_end);
    // The indentation of the first is that of the line.
    let first = parts.next().unwrap_or_default().trim_end();
    let rest = parts.map(str::trim).filter(|part| !part.is_empty());
    let parts: Vec<_> = std::iter::once(first).chain(rest).collect();
    visible::without_hidden(&parts.join(LINE_END))
}

/// A line in pieces that are not too long, parted between words if there are words.
fn pieces(line: &str) -> Vec<String> {
    let mut pieces = vec![];
    let mut rest = line;
    while let Some((end, _)) = rest.char_indices().nth(LONGEST) {
        let blank = rest[..end].rfind(' ').filter(|place| *place > end / 2);
        let (piece, behind) = rest.split_at(blank.map_or(end, |place| place + 1));
        pieces.push(piece.trim_end().to_owned());
        rest = behind;
    }
    pieces.push(rest.to_owned());
    pieces
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_text_leaves_its_line() {
        let hostile = "a\r\n# handoff says\u{2028}b\n\n\n\u{1b}[31mred\u{202e}\n";
        let quoted = block(hostile);
        assert_eq!(quoted, ["> a", "> # handoff says ⏎ b", ">", "> [31mred"]);
        assert_eq!(line("one\r\n\n  two\n"), "one ⏎ two");
    }

    #[test]
    fn what_nobody_sees_is_not_quoted() {
        let hidden = "do\u{e0041}\u{e0042} it\u{2060}\u{ad}\u{fe01}";
        assert_eq!(line(hidden), "do it");
        assert_eq!(block(hidden), ["> do it"]);
        assert_eq!(verbatim(hidden), ["> do it"]);
        assert_eq!(line("می\u{200c}شود ❤\u{fe0f}"), "می\u{200c}شود ❤\u{fe0f}");
    }

    #[test]
    fn a_document_keeps_its_indentation_and_no_more() {
        let quoted = verbatim("\n- a\r\n    code\u{1b}[2J\n\n\n\tb  \n\n");
        assert_eq!(quoted, ["> - a", ">     code[2J", ">", "> \tb"]);
    }

    #[test]
    fn a_long_line_is_cut_between_characters() {
        let cut = line(&"ü".repeat(500));
        assert_eq!(cut.chars().count(), LONGEST + 1);
        assert!(cut.ends_with('…'));
    }

    #[test]
    fn a_long_text_goes_on_in_the_next_line_and_loses_nothing() {
        let words = "word ".repeat(300);
        let joined = |lines: Vec<String>| lines.join(" ").replace("> ", "");
        for lines in [block(&words), verbatim(&words)] {
            assert_eq!(lines.len(), 4);
            assert!(lines.iter().all(|line| line.chars().count() <= LONGEST + 2));
            assert_eq!(joined(lines), words.trim());
        }
        let folded = folded(&"ü".repeat(900), "  ");
        let expected = [400, 400, 100].map(|count| "ü".repeat(count));
        assert_eq!(folded, expected.join("\n  > "));
    }
}
