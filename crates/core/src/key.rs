//! Idempotency keys. An error on commit means "unknown": whoever repeats a call with the same key
//! gets the one result that there is, never a second one.

use serde::{Deserialize, Serialize};

use crate::checked_text::checked_text;
use crate::{ProjectId, SessionId, TaskId};

/// The longest key, in bytes.
pub const MAX_LEN: usize = 200;

/// Names one act of one caller, so that repeating the act does nothing new.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct IdempotencyKey(String);

/// A text that cannot be a key.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("an idempotency key has 1 to {MAX_LEN} printable ASCII characters and no spaces")]
pub struct KeyError;

impl IdempotencyKey {
    /// The key of what a session does to its task: the same act by the same session is the same act.
    pub fn of_session(session: SessionId, task: TaskId, verb: &str) -> Self {
        Self(format!("{session}/{task}/{verb}"))
    }

    /// What a person calls a key is theirs within one project.
    pub fn in_project(&self, project: ProjectId) -> Self {
        Self(format!("{project}/{self}"))
    }
}

checked_text!(IdempotencyKey, KeyError, |text| {
    let fits = (1..=MAX_LEN).contains(&text.len());
    let is_plain = text.bytes().all(|byte| byte.is_ascii_graphic());
    (fits && is_plain).then_some(()).ok_or(KeyError)
});

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_are_short_and_printable() {
        let long = "k".repeat(MAX_LEN + 1);
        for bad in ["", "a b", "a\n", "é", "\u{1b}[0m", long.as_str()] {
            assert_eq!(bad.parse::<IdempotencyKey>(), Err(KeyError), "{bad:?}");
        }
        assert!("ci-run-17/add".parse::<IdempotencyKey>().is_ok());
    }
}
