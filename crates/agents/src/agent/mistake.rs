//! Why the description of an agent cannot be read.

/// A mistake in the description of an agent.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("line {line}: {problem}")]
pub struct Mistake {
    /// Counted from one.
    pub line: usize,
    pub problem: String,
}

impl Mistake {
    pub(super) fn in_toml(text: &str, error: &toml::de::Error) -> Self {
        let place = error.span().map_or(0, |span| span.start).min(text.len());
        let before = &text.as_bytes()[..place];
        Self {
            line: before.iter().filter(|byte| **byte == b'\n').count() + 1,
            problem: error.message().to_owned(),
        }
    }

    /// The rule with this number, from one, fits everything.
    pub(super) fn empty_rule(text: &str, number: usize) -> Self {
        let mut rules = text
            .lines()
            .enumerate()
            .filter(|(_, line)| line.trim() == "[[screen]]");
        Self {
            line: rules.nth(number - 1).map_or(1, |(at, _)| at + 1),
            problem: "the rule has no pattern, so it would fit every screen".to_owned(),
        }
    }
}
