//! Which choice a person means.

use super::Dialog;

/// What somebody wants chosen.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Wish {
    /// By its place, from one.
    Number(usize),
    Yes,
    No,
    /// By its words, or some of them.
    Words(String),
}

/// The wish does not mean one of the choices.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ChoiceError {
    #[error("there is no choice number {0}")]
    NoNumber(usize),
    #[error("none of the choices is {0}")]
    None(String),
    #[error("{0} fits several choices")]
    Several(String),
}

/// A choice that reaches further than this one question is never meant by a plain yes.
const LASTING: [&str; 12] = [
    "always",
    "don't ask",
    "do not ask",
    "auto",
    "all ",
    "session",
    "skip",
    "permanent",
    "forever",
    "never ask",
    "from now on",
    "remember",
];
const YES: [&str; 6] = ["yes", "allow", "trust", "approve", "proceed", "continue"];
const NO: [&str; 7] = ["no", "reject", "deny", "cancel", "exit", "don't", "back"];

impl From<&str> for Wish {
    fn from(text: &str) -> Self {
        match (text.parse(), text.to_lowercase().as_str()) {
            (Ok(number), _) => Self::Number(number),
            (_, "yes" | "y") => Self::Yes,
            (_, "no" | "n") => Self::No,
            _ => Self::Words(text.to_owned()),
        }
    }
}

impl Dialog {
    /// The place of the choice that is meant, from zero.
    pub fn find(&self, wish: &Wish) -> Result<usize, ChoiceError> {
        match wish {
            Wish::Number(number) => match number.checked_sub(1) {
                Some(index) if index < self.choices.len() => Ok(index),
                Some(_) | None => Err(ChoiceError::NoNumber(*number)),
            },
            Wish::Yes => self
                .first(&YES)
                .ok_or(ChoiceError::None("a plain yes".into())),
            Wish::No => self.first(&NO).ok_or(ChoiceError::None("a no".into())),
            Wish::Words(words) => self.by_words(words),
        }
    }

    /// The first that begins with one of these words and means no more than this time.
    fn first(&self, beginnings: &[&str]) -> Option<usize> {
        self.choices.iter().position(|choice| {
            let label = plain_words(&choice.label);
            let word = label.split(|it: char| !it.is_alphanumeric() && it != '\'');
            let word = word.into_iter().find(|word| !word.is_empty());
            word.is_some_and(|word| beginnings.contains(&word))
                && !LASTING.iter().any(|lasting| label.contains(lasting))
        })
    }

    fn by_words(&self, words: &str) -> Result<usize, ChoiceError> {
        let wanted = words.to_lowercase();
        let labels = || {
            self.choices
                .iter()
                .map(|choice| choice.label.to_lowercase())
        };
        if let Some(exact) = labels().position(|label| label == wanted) {
            return Ok(exact);
        }
        let mut parts = (0..)
            .zip(labels())
            .filter(|(_, label)| label.contains(&wanted));
        match (parts.next(), parts.next()) {
            (Some((index, _)), None) => Ok(index),
            (None, _) => Err(ChoiceError::None(format!("{words:?}"))),
            (Some(_), Some(_)) => Err(ChoiceError::Several(format!("{words:?}"))),
        }
    }
}

/// In small letters, with the apostrophe that a keyboard has: programs also print those of a printer.
fn plain_words(label: &str) -> String {
    let apostrophes = ['\u{2018}', '\u{2019}', '\u{2bc}', '\u{ff07}', '`'];
    label.to_lowercase().replace(apostrophes, "'")
}
