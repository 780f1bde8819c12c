//! Patterns of keys: `phase.*`. A star is any run of characters, a question mark is one.

use serde::{Deserialize, Serialize};

use super::ContextKey;
use crate::checked_text::checked_text;

/// A pattern of keys.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct ContextPattern(String);

/// A text that is no pattern.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("a pattern is a key in which `*` stands for anything and `?` for one character")]
pub struct PatternError;

checked_text!(ContextPattern, PatternError, |text| {
    super::check_word(text, "a pattern", 200).map_err(|super::WordError { .. }| PatternError)
});

impl ContextPattern {
    /// Whether a key is one of those that are meant.
    pub fn matches(&self, key: &ContextKey) -> bool {
        let pattern: Vec<_> = self.0.chars().collect();
        let text: Vec<_> = key.as_str().chars().collect();
        is_match(&pattern, &text)
    }
}

/// Goes back to the last star only: each star but the last has nothing to gain from taking more.
fn is_match(pattern: &[char], text: &[char]) -> bool {
    let (mut at, mut place, mut retry) = (0, 0, None);
    while place < text.len() {
        match pattern.get(at) {
            Some('*') => {
                retry = Some((at, place));
                at += 1;
            }
            Some(&wanted) if wanted == '?' || wanted == text[place] => {
                (at, place) = (at + 1, place + 1);
            }
            Some(_) | None => {
                let Some((star, taken)) = retry else {
                    return false;
                };
                retry = Some((star, taken + 1));
                (at, place) = (star + 1, taken + 1);
            }
        }
    }
    pattern[at..].iter().all(|&wanted| wanted == '*')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stars_take_anything_and_question_marks_one() {
        for (pattern, key, expected) in [
            ("*", "phase.a", true),
            ("phase.*", "phase.a", true),
            ("phase.*", "phase.", true),
            ("phase.*", "phases", false),
            ("*.result", "a.b.result", true),
            ("a*b*c", "axxbyybzzc", true),
            ("a*b*c", "axxbyybzz", false),
            ("?ä?", "xäy", true),
            ("?", "xy", false),
            ("a.b", "aXb", false),
        ] {
            let pattern: ContextPattern = pattern.parse().unwrap();
            assert_eq!(
                pattern.matches(&key.parse().unwrap()),
                expected,
                "{pattern} {key}"
            );
        }
    }

    #[test]
    fn a_hostile_pattern_is_quick() {
        let pattern: ContextPattern = "*a".repeat(100).parse().unwrap();
        assert!(!pattern.matches(&"a".repeat(99).parse().unwrap()));
    }
}
