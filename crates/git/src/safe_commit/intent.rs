//! What a commit in the making is going to change, durable before it changes anything.

use std::path::PathBuf;

use handoff_core::{CommitId, Timestamp};
use serde::de::Error as _;
use serde::{Deserialize, Deserializer, Serialize};

/// The file in a booth.
pub(super) const FILE: &str = "intent.json";
/// An intent is a page at most.
pub(super) const LIMIT: u64 = 1024 * 1024;

/// What is about to be done, and where.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Intent {
    #[serde(deserialize_with = "known_version")]
    pub(super) schema_version: u32,
    /// The tree that is committed from.
    pub(super) root: PathBuf,
    /// Its branch; none if its HEAD is detached.
    #[serde(deserialize_with = "full_name")]
    pub(super) branch: Option<String>,
    /// What the commit stands on; none before the first one.
    pub(super) parent: Option<CommitId>,
    pub(super) content: Content,
    /// Who does it. Nobody is signalled by this number.
    pub(super) pid: u32,
    #[serde(default)]
    pub(super) company: Company,
    /// Whether something was put aside before it began.
    #[serde(default)]
    pub(super) has_stash: bool,
    pub(super) at: Timestamp,
}

/// Who else works in the tree.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Company {
    /// No other session: what a hook puts aside is nobody else's.
    Nobody,
    /// Others, or it is not known.
    #[default]
    Others,
}

/// Where the content of a commit comes from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum Content {
    /// The files of the tree.
    Tree,
    /// The same, where a directory takes the place of a file, which `git commit --only` cannot do: they are put into the
    /// index of the booth first.
    Replacing,
    /// What is staged.
    Staged,
    /// What is staged and resolved, and the files of the tree on top: it ends a merge.
    Merge,
}

/// What a later version of this program left is for it to put right.
fn known_version<'de, D: Deserializer<'de>>(input: D) -> Result<u32, D::Error> {
    match u32::deserialize(input)? {
        Intent::VERSION => Ok(Intent::VERSION),
        other => Err(D::Error::custom(format!("unknown version {other}"))),
    }
}

/// The name becomes a path in the repository, and must not lead out of it.
fn full_name<'de, D: Deserializer<'de>>(input: D) -> Result<Option<String>, D::Error> {
    let name = Option::<String>::deserialize(input)?;
    if name.as_deref().is_none_or(is_full_name) {
        return Ok(name);
    }
    Err(D::Error::custom("the branch has no name that git allows"))
}

fn is_full_name(name: &str) -> bool {
    let is_part = |part: &str| !part.is_empty() && !part.starts_with('.');
    name.starts_with("refs/") && !name.contains("..") && name.split('/').all(is_part)
}

impl Intent {
    pub(super) const VERSION: u32 = 1;
}
