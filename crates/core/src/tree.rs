//! What the code looked like at a moment, and how far it has moved since.

mod freshness;

pub use freshness::{Drift, Freshness, Ignorance, Relation};

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::checked_text::checked_text;
use crate::{CommitId, Digest};

/// A branch of the user, whatever they call it. To be shown and compared; given to git only as the end of a full name.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct HeadName(String);

/// A text that cannot be shown as a branch.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("the name of a branch has 1 to 1024 bytes and no control character")]
pub struct HeadNameError;

checked_text!(HeadName, HeadNameError, |text| {
    let is_name = !text.is_empty() && text.len() <= 1024 && !text.contains(char::is_control);
    is_name.then_some(()).ok_or(HeadNameError)
});

/// What the code looked like at a moment.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct TreeState {
    /// The branch that was checked out; none if a commit was.
    pub branch: Option<HeadName>,
    /// The commit; none before the first one.
    pub commit: Option<CommitId>,
    /// What was not committed; none if all was.
    pub dirty: Option<Dirty>,
}

impl TreeState {
    /// Whether it is certain that both are the same code, whatever the branch is called. Edits without a digest may be any
    /// edits.
    pub fn is_same_code(&self, other: &Self) -> bool {
        self.commit == other.commit && self.dirty == other.dirty && self.is_read()
    }

    /// Whether what is not committed could be read.
    pub fn is_read(&self) -> bool {
        self.dirty
            .as_ref()
            .is_none_or(|dirty| dirty.digest.is_some())
    }
}

/// What was not committed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Dirty {
    /// Of the names and contents of these files; none if they were too large to be read.
    pub digest: Option<Digest>,
    /// How many files.
    pub files: u32,
}
