//! Text from outside, made harmless for a terminal and honest for a reader.

use std::fmt::Write as _;

/// Makes text safe to print: control characters, and characters that hide or reorder others, are shown as escapes. Newline
/// and tab stay.
pub(crate) fn plain(text: &str) -> String {
    escape(text, |character| matches!(character, '\n' | '\t'))
}

/// The same on one line: newlines and tabs become a space.
pub(crate) fn one_line(text: &str) -> String {
    let words: Vec<_> = text.split_whitespace().collect();
    escape(&words.join(" "), |_| false)
}

fn escape(text: &str, is_kept: impl Fn(char) -> bool) -> String {
    let mut safe = String::with_capacity(text.len());
    for character in text.chars() {
        if is_kept(character) || !is_dangerous(character) {
            safe.push(character);
        } else {
            write!(safe, "\\u{{{:x}}}", u32::from(character)).expect("a string takes everything");
        }
    }
    safe
}

/// Control characters (C0, DEL, C1), and what is invisible or turns text around: bidirectional controls,
/// zero-width characters, the tag block.
pub(super) fn is_dangerous(character: char) -> bool {
    character.is_control()
        || matches!(character,
            '\u{ad}'
            | '\u{61c}'
            | '\u{180e}'
            | '\u{200b}'..='\u{200f}'
            | '\u{2028}'..='\u{202e}'
            | '\u{2060}'..='\u{206f}'
            | '\u{feff}'
            | '\u{fff9}'..='\u{fffb}'
            | '\u{e0000}'..='\u{e007f}')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_that_moves_the_terminal_comes_through() {
        let corpus = [
            "\u{1b}]52;c;aGk=\u{7}",
            "\u{1b}[2J",
            "\u{9b}2J",
            "\u{1b}P1$r\u{1b}\\",
            "a\rb",
            "a\u{8}b",
            "\u{1b}c",
            "\u{7f}",
            "\u{202e}evil",
            "a\u{200b}b",
            "\u{e0041}",
        ];
        for text in corpus {
            let safe = plain(text);
            assert!(safe.chars().all(|c| !is_dangerous(c)), "{safe:?}");
            assert!(safe.contains("\\u{"), "{safe:?}");
        }
        assert_eq!(plain("two\n\tlines"), "two\n\tlines");
        assert_eq!(one_line("two\n\t lines "), "two lines");
    }
}
