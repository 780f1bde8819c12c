//! Which characters a reader sees.
//!
//! Text from outside is read by people on terminals and by assistants in prompts, and they must read the same: what hides,
//! turns lines around or moves a cursor reaches neither. This is the one definition; whoever shows text drops or escapes
//! what is hidden, whoever accepts text for a command or a template refuses it.
//!
//! Two kinds of invisible characters are part of how languages are written and stay in their place:
//!
//! | character | stays | because |
//! |---|---|---|
//! | joiner, non-joiner (U+200C, U+200D) | alone between two characters that are seen and not ASCII | Persian words, Indic conjuncts and composed emoji change without them |
//! | emoji style (U+FE0E, U+FE0F) | behind a symbol, or in a keycap | `❤` and `❤️` differ to the eye |
//!
//! All other variation selectors choose among shapes of the same character and can spell any message byte by byte; so can
//! the tags, for which a few flags lose their pattern. Direction marks go even from Arabic and Hebrew: the words stay readable,
//! while their order on the line cannot be forged.

mod escape;

pub use escape::{one_line, plain};

const NON_JOINER: char = '\u{200c}';
const JOINER: char = '\u{200d}';
const KEYCAP: char = '\u{20e3}';

/// Whether a character is not seen where it stands alone: controls (line ends and tabs too), what turns text around, and what
/// has no shape.
#[must_use]
pub fn is_hidden(character: char) -> bool {
    character.is_control() || is_format(character) || is_shapeless(character)
}

/// Direction, joining, annotation, and the separators of lines that not every program takes for such.
const fn is_format(character: char) -> bool {
    matches!(character,
        '\u{ad}'
        | '\u{61c}'
        | '\u{200b}'..='\u{200f}'
        | '\u{2028}'..='\u{202e}'
        | '\u{2060}'..='\u{206f}'
        | '\u{feff}'
        | '\u{fff0}'..='\u{fffb}'
        | '\u{1bca0}'..='\u{1bca3}'
        | '\u{1d173}'..='\u{1d17a}')
}

/// Fillers, variation selectors and tags.
const fn is_shapeless(character: char) -> bool {
    matches!(character,
        '\u{34f}'
        | '\u{115f}'..='\u{1160}'
        | '\u{17b4}'..='\u{17b5}'
        | '\u{180b}'..='\u{180f}'
        | '\u{3164}'
        | '\u{fe00}'..='\u{fe0f}'
        | '\u{ffa0}'
        | '\u{e0000}'..='\u{e0fff}')
}

/// Whether a character ends a line, for some program or other.
#[must_use]
pub const fn is_line_end(character: char) -> bool {
    matches!(
        character,
        '\n' | '\r' | '\u{b}' | '\u{c}' | '\u{85}' | '\u{2028}' | '\u{2029}'
    )
}

/// The characters of a text that nobody sees, each with its place in bytes. Those that a language needs where they stand
/// are not among them.
pub fn hidden(text: &str) -> impl Iterator<Item = (usize, char)> {
    let places = text.char_indices();
    places
        .filter(|(place, character)| is_hidden(*character) && !is_needed(text, *place, *character))
}

/// A text without what nobody sees, but with its tabs.
#[must_use]
pub fn without_hidden(text: &str) -> String {
    let mut seen = String::with_capacity(text.len());
    let mut rest = 0;
    for (place, character) in hidden(text).filter(|(_, character)| *character != '\t') {
        seen.push_str(&text[rest..place]);
        rest = place + character.len_utf8();
    }
    seen.push_str(&text[rest..]);
    seen
}

fn is_needed(text: &str, place: usize, character: char) -> bool {
    let before = text[..place].chars().next_back();
    let behind = text[place + character.len_utf8()..].chars().next();
    match character {
        NON_JOINER | JOINER => before.is_some_and(is_joined) && behind.is_some_and(is_joined),
        '\u{fe0e}' | '\u{fe0f}' => before.is_some_and(|it| is_styled(it, behind)),
        _ => false,
    }
}

fn is_joined(character: char) -> bool {
    let is_style = character == '\u{fe0f}';
    is_style || !(character.is_ascii() || character.is_whitespace() || is_hidden(character))
}

fn is_styled(character: char, behind: Option<char>) -> bool {
    if character.is_ascii() {
        return matches!(character, '0'..='9' | '#' | '*') && behind == Some(KEYCAP);
    }
    !(character.is_alphanumeric() || character.is_whitespace() || is_hidden(character))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_hides_goes() {
        for (text, seen) in [
            ("a\u{1b}[2J", "a[2J"),
            ("a\u{202e}b\u{2066}c", "abc"),
            ("a\u{200b}b\u{ad}c\u{2060}d\u{2064}e", "abcde"),
            ("\u{e0041}\u{e0042}x\u{e0100}\u{e01ef}", "x"),
            ("a\u{fe00}\u{fe0f}b\u{34f}\u{3164}\u{115f}c", "abc"),
            ("ig\u{200d}no\u{200c}re", "ignore"),
            ("\u{200d}می\u{200c}\u{200d}شود\u{200c}", "میشود"),
            ("❤\u{fe0f}\u{fe0f}\u{fe0e}", "❤\u{fe0f}"),
            ("1\u{fe0f}2", "12"),
        ] {
            assert_eq!(without_hidden(text), seen, "{text:?}");
        }
    }

    #[test]
    fn what_languages_need_stays() {
        for text in [
            "می\u{200c}شود",
            "क्\u{200d}ष",
            "ශ්\u{200d}රී",
            "👩\u{200d}💻 ❤\u{fe0f}\u{200d}🔥 1\u{fe0f}\u{20e3}",
            "naïve é 漢字 한글 עברית",
            "a\tb",
        ] {
            assert_eq!(without_hidden(text), text);
        }
    }
}
