//! Git's own ids and names, as values that cannot be mistaken for an option or an expression.

use serde::{Deserialize, Serialize};

use crate::checked_text::checked_text;

/// A full object id, SHA-1 or SHA-256. Never an abbreviation, never an expression.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct CommitId(String);

/// A branch that handoff made: `handoff/<task>-<fence>` and the like, without `refs/heads/`.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct BranchName(String);

/// A text that is neither.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum RevisionError {
    /// Not an object id.
    #[error("a commit id has 40 or 64 lower-case hexadecimal digits")]
    CommitId,
    /// Not a branch name.
    #[error("a branch name consists of plain names separated by `/`")]
    BranchName,
}

fn is_object_id(text: &str) -> bool {
    let is_lower_hex = |b: u8| b.is_ascii_digit() || (b'a'..=b'f').contains(&b);
    matches!(text.len(), 40 | 64) && text.bytes().all(is_lower_hex)
}

/// Narrower than git's own rule on purpose: what we make ourselves needs no more.
fn is_plain_branch(text: &str) -> bool {
    let is_plain = |part: &str| {
        part.starts_with(|c: char| c.is_ascii_alphanumeric())
            && part
                .bytes()
                .all(|b| b.is_ascii_alphanumeric() || b"._-".contains(&b))
            && !part.contains("..")
            && !part.ends_with('.')
            && !part.ends_with(".lock")
    };
    text.len() <= 200 && text.split('/').all(is_plain)
}

checked_text!(CommitId, RevisionError, |text| {
    is_object_id(text)
        .then_some(())
        .ok_or(RevisionError::CommitId)
});
checked_text!(BranchName, RevisionError, |text| {
    is_plain_branch(text)
        .then_some(())
        .ok_or(RevisionError::BranchName)
});

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_that_git_could_read_as_more_than_a_name_passes() {
        for bad in [
            "",
            "HEAD",
            "--all",
            "abc",
            "a@{1}",
            &"g".repeat(40),
            &"A".repeat(40),
        ] {
            assert!(bad.parse::<CommitId>().is_err(), "{bad:?}");
        }
        for bad in [
            "", "-x", "a/-x", "a//b", "/a", "a/", "a..b", "a.lock/b", "a b", "a:b", "a~1",
        ] {
            assert!(bad.parse::<BranchName>().is_err(), "{bad:?}");
        }
        assert!("handoff/fix-bug-123-2".parse::<BranchName>().is_ok());
    }
}
