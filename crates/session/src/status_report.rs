//! The status that a program writes into its output: OSC 7501, `key=value` joined by colons.

use handoff_agents::{Block, Hint};

/// What one OSC 7501 says.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum StatusReport {
    /// What it does.
    Is(Hint),
    /// It waits for a message, and has done what it was to do.
    Done,
    /// What it said before counts no longer.
    Cleared,
}

impl StatusReport {
    /// Reads what follows the number. A word that is not known says nothing.
    pub fn parse(text: &str) -> Option<Self> {
        let field = |key: &str| {
            text.split(':')
                .filter_map(|pair| pair.split_once('='))
                .find_map(|(name, value)| (name == key).then_some(value))
        };
        Some(match field("state")? {
            "idle" => Self::Is(Hint::Prompt),
            "done" => Self::Done,
            "working" => Self::Is(Hint::Busy),
            "blocked" => Self::Is(Hint::Blocked(
                field("kind").map_or(Block::Other, Block::from_word),
            )),
            "error" => Self::Is(Hint::Blocked(Block::Error)),
            "clear" => Self::Cleared,
            _ => return None,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_claude_and_codex_say_is_understood() {
        let table = [
            ("state=idle:app=codex", Some(StatusReport::Is(Hint::Prompt))),
            ("state=working", Some(StatusReport::Is(Hint::Busy))),
            ("state=done", Some(StatusReport::Done)),
            (
                "state=blocked:kind=permission:msg=YXBw",
                Some(StatusReport::Is(Hint::Blocked(Block::Permission))),
            ),
            (
                "state=blocked",
                Some(StatusReport::Is(Hint::Blocked(Block::Other))),
            ),
            (
                "state=error:msg=QQ==",
                Some(StatusReport::Is(Hint::Blocked(Block::Error))),
            ),
            ("state=clear", Some(StatusReport::Cleared)),
            ("state=dancing", None),
            ("app=codex", None),
            ("", None),
        ];
        for (text, expected) in table {
            assert_eq!(StatusReport::parse(text), expected, "{text}");
        }
    }
}
