//! Whether something holds the agent of a session.

use std::fmt;
use std::str::FromStr;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Whether something holds an agent.
#[derive(
    Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "snake_case")]
pub enum Confinement {
    /// It can do what the one who started it can.
    #[default]
    None,
    /// It can change its linked worktree, what is declared as scratch, and nothing else.
    Worktree,
}

/// A word that is no confinement.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("a sandbox is `worktree` or `none`")]
pub struct ConfinementError;

impl Confinement {
    /// Its word.
    pub const fn word(self) -> &'static str {
        match self {
            Self::None => "none",
            Self::Worktree => "worktree",
        }
    }
}

impl fmt::Display for Confinement {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.word())
    }
}

impl FromStr for Confinement {
    type Err = ConfinementError;

    fn from_str(text: &str) -> Result<Self, ConfinementError> {
        [Self::None, Self::Worktree]
            .into_iter()
            .find(|it| it.word() == text)
            .ok_or(ConfinementError)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_word_is_read_back() {
        for confinement in [Confinement::None, Confinement::Worktree] {
            assert_eq!(confinement.word().parse(), Ok(confinement));
        }
        assert_eq!("yes".parse::<Confinement>(), Err(ConfinementError));
    }
}
