//! The name of a kind of agent CLI. It is also the name of a file, so it has nothing in it that could lead elsewhere.

use serde::{Deserialize, Serialize};

use crate::checked_text::checked_text;

/// Lower-case letters, digits and `-`, and a letter first.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct AgentName(String);

/// A text that cannot name an agent.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error(
    "`{0}` is no name for an agent: it takes a letter and then letters, digits and `-`, all small, at most 32"
)]
pub struct AgentNameError(pub String);

const LONGEST: usize = 32;

checked_text!(AgentName, AgentNameError, |text| {
    let is_allowed = |it: char| it.is_ascii_lowercase() || it.is_ascii_digit() || it == '-';
    let is_name = text.starts_with(|it: char| it.is_ascii_lowercase())
        && text.len() <= LONGEST
        && text.chars().all(is_allowed);
    is_name
        .then_some(())
        .ok_or_else(|| AgentNameError(text.to_owned()))
});

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_leads_nowhere() {
        assert_eq!(
            "my-agent2".parse::<AgentName>().unwrap().as_str(),
            "my-agent2"
        );
        for text in [
            "",
            "../x",
            "Claude",
            "2x",
            "a.toml",
            "a/b",
            "-a",
            &"a".repeat(33),
        ] {
            assert!(text.parse::<AgentName>().is_err(), "{text}");
        }
    }
}
