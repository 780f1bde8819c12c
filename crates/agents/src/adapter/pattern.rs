//! A pattern for one row of a screen: `*` is any text, `[abc]` and `[1-9]` one character of a set, `\` takes the next
//! character as it is, and `^` at the beginning asks for the left edge of the screen.
//!
//! Regular expressions were left out: what agents print is told apart by a few words in a row, and a pattern that a person reads
//! at one glance is a pattern that stays right.

use std::str::FromStr;

use serde::{Deserialize, Deserializer, de};

/// A pattern for one row, or for one title.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Pattern {
    is_at_edge: bool,
    tokens: Vec<Token>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
enum Token {
    Any,
    Is(char),
    /// Ranges, both ends included.
    OneOf(Vec<(char, char)>),
}

/// Why a text is no pattern.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum PatternError {
    #[error("a pattern needs some text")]
    Empty,
    #[error("`[` begins a set of characters that `]` must end")]
    Open,
    #[error("`\\` at the end takes nothing")]
    Escape,
}

impl Pattern {
    /// Whether a text fits that begins this far from the left edge.
    pub fn fits(&self, text: &str, indent: usize) -> bool {
        (!self.is_at_edge || indent == 0) && matches(&self.tokens, text)
    }
}

/// The last `*` is tried again, one character further, whenever what follows does not fit: no text makes this slow.
fn matches(tokens: &[Token], text: &str) -> bool {
    let text: Vec<char> = text.chars().collect();
    let (mut token, mut at) = (0, 0);
    let mut retry = None;
    while at < text.len() {
        match tokens.get(token) {
            Some(Token::Any) => {
                retry = Some((token, at));
                token += 1;
            }
            Some(one) if one.takes(text[at]) => {
                token += 1;
                at += 1;
            }
            Some(_) | None => {
                let Some((any, from)) = retry else {
                    return false;
                };
                retry = Some((any, from + 1));
                (token, at) = (any + 1, from + 1);
            }
        }
    }
    tokens[token..].iter().all(|rest| *rest == Token::Any)
}

impl Token {
    fn takes(&self, character: char) -> bool {
        match self {
            Self::Any => true,
            Self::Is(own) => *own == character,
            Self::OneOf(ranges) => ranges
                .iter()
                .any(|(first, last)| (*first..=*last).contains(&character)),
        }
    }
}

impl FromStr for Pattern {
    type Err = PatternError;

    fn from_str(text: &str) -> Result<Self, PatternError> {
        let rest = text.strip_prefix('^');
        let mut characters = rest.unwrap_or(text).chars();
        let mut tokens = vec![];
        while let Some(character) = characters.next() {
            tokens.push(match character {
                '*' => Token::Any,
                '[' => Token::OneOf(set(&mut characters)?),
                '\\' => Token::Is(characters.next().ok_or(PatternError::Escape)?),
                own => Token::Is(own),
            });
        }
        if tokens.is_empty() {
            return Err(PatternError::Empty);
        }
        Ok(Self {
            is_at_edge: rest.is_some(),
            tokens,
        })
    }
}

fn set(characters: &mut std::str::Chars<'_>) -> Result<Vec<(char, char)>, PatternError> {
    let mut ranges: Vec<(char, char)> = vec![];
    loop {
        match characters.next().ok_or(PatternError::Open)? {
            ']' if !ranges.is_empty() => return Ok(ranges),
            '-' if !ranges.is_empty() => {
                let last = characters.next().ok_or(PatternError::Open)?;
                if last == ']' {
                    ranges.push(('-', '-'));
                    return Ok(ranges);
                }
                ranges.last_mut().expect("there is one").1 = last;
            }
            own => ranges.push((own, own)),
        }
    }
}

impl<'de> Deserialize<'de> for Pattern {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        text.parse().map_err(de::Error::custom)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn assert_fits(pattern: &str, expected: &[(&str, bool)]) {
        let parsed: Pattern = pattern.parse().unwrap();
        for (text, fits) in expected {
            assert_eq!(parsed.fits(text, 2), *fits, "{pattern} {text:?}");
        }
    }

    #[test]
    fn a_pattern_fits_the_whole_text() {
        assert_fits("esc", &[("esc", true), ("esc now", false), ("", false)]);
        assert_fits("*esc*", &[("press esc now", true), ("es c", false)]);
        assert_fits("*", &[("", true), ("anything", true)]);
        assert_fits("a*b*c", &[("abc", true), ("a-b-b-c", true), ("a-c", false)]);
        assert_fits("[❯›] [1-9]. *", &[("❯ 1. Yes", true), ("❯ a. Yes", false)]);
        assert_fits("\\[y/n\\]", &[("[y/n]", true), ("y", false)]);
        assert_fits("[+-]", &[("-", true), ("+", true), (",", false)]);
    }

    #[test]
    fn the_left_edge_is_asked_for_by_a_mark() {
        let pattern: Pattern = "^❯*".parse().unwrap();
        assert!(pattern.fits("❯ hello", 0));
        assert!(!pattern.fits("❯ hello", 1));
    }

    #[test]
    fn what_is_no_pattern_is_refused() {
        let problem = |text: &str| text.parse::<Pattern>().unwrap_err();
        assert_eq!(problem(""), PatternError::Empty);
        assert_eq!(problem("^"), PatternError::Empty);
        assert_eq!(problem("[ab"), PatternError::Open);
        assert_eq!(problem("a\\"), PatternError::Escape);
    }
}
