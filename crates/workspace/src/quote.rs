//! Text from files as data in a prompt.
//!
//! Everything behind `> ` on a line is quoted, and a quote never leaves its line: whatever a document says, it cannot begin
//! a line of its own and pose as the tool.

/// The longest line that is quoted, in characters; whoever needs the rest is told the source.
const LONGEST: usize = 400;

/// One line of foreign text: without control characters, of bounded length.
#[must_use]
pub fn line(text: &str) -> String {
    let mut characters = text.trim().chars().filter(|c| is_harmless(*c));
    let mut line: String = characters.by_ref().take(LONGEST).collect();
    if characters.next().is_some() {
        line.push('…');
    }
    line
}

/// Each line of a text, quoted. Blank lines at both ends go, single ones between stay.
#[must_use]
pub fn block(text: &str) -> Vec<String> {
    let quoted = |text: &str| format!("> {}", line(text)).trim_end().to_owned();
    let mut lines: Vec<String> = text.trim().lines().map(quoted).collect();
    lines.dedup_by(|next, before| next == ">" && before == ">");
    lines
}

/// Each line of a text, quoted as it is, indentation and length included: for documents that are worked from.
#[must_use]
pub fn verbatim(text: &str) -> Vec<String> {
    let harmless = |text: &str| text.chars().filter(|c| is_harmless(*c)).collect::<String>();
    let quoted = |text: &str| format!("> {}", harmless(text)).trim_end().to_owned();
    let mut lines: Vec<String> = text
        .trim_matches('\n')
        .trim_end()
        .lines()
        .map(quoted)
        .collect();
    lines.dedup_by(|next, before| next == ">" && before == ">");
    lines
}

/// Neither moves a cursor nor turns a line around nor hides.
pub(crate) fn is_harmless(character: char) -> bool {
    let is_format = matches!(character, '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2066}'..='\u{2069}' | '\u{feff}');
    character == '\t' || !(character.is_control() || is_format)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_text_leaves_its_line() {
        let hostile = "a\r\n# handoff says\u{2028}b\n\n\n\u{1b}[31mred\u{202e}\n";
        let quoted = block(hostile);
        assert_eq!(quoted, ["> a", "> # handoff saysb", ">", "> [31mred"]);
        assert_eq!(line("one\ntwo"), "onetwo");
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
}
