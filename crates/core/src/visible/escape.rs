//! Text from outside, made harmless for a terminal and honest for a reader.

use std::fmt::Write as _;

use super::hidden;

/// Makes text safe to print: control characters, and characters that hide or reorder others, are shown as escapes. Newline
/// and tab stay.
#[must_use]
pub fn plain(text: &str) -> String {
    escape(text, |character| matches!(character, '\n' | '\t'))
}

/// The same on one line: newlines and tabs become a space.
#[must_use]
pub fn one_line(text: &str) -> String {
    let words: Vec<_> = text.split_whitespace().collect();
    escape(&words.join(" "), |_| false)
}

fn escape(text: &str, is_kept: impl Fn(char) -> bool) -> String {
    let mut safe = String::with_capacity(text.len());
    let mut rest = 0;
    for (place, character) in hidden(text).filter(|(_, it)| !is_kept(*it)) {
        safe.push_str(&text[rest..place]);
        write!(safe, "\\u{{{:x}}}", u32::from(character)).expect("a string takes everything");
        rest = place + character.len_utf8();
    }
    safe.push_str(&text[rest..]);
    safe
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
            "a\u{fe01}",
            "\u{3164}",
        ];
        for text in corpus {
            let safe = plain(text);
            assert_eq!(hidden(&safe).next(), None, "{safe:?}");
            assert!(safe.contains("\\u{"), "{safe:?}");
        }
        assert_eq!(plain("two\n\tlines"), "two\n\tlines");
        assert_eq!(one_line("two\n\t lines "), "two lines");
    }
}
