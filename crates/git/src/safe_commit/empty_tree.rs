//! What a commit without a parent is compared with.

use handoff_core::CommitId;

use super::intent::Intent;
use crate::repository::Repository;

impl Intent {
    pub(super) fn parent_tree(&self, at: &Repository) -> String {
        let parent = self.parent.as_ref().map(CommitId::as_str);
        parent.unwrap_or(at.empty_tree()).to_owned()
    }
}

impl Repository {
    /// Whether ids are SHA-256. Git writes that setting only where they are not SHA-1.
    pub(crate) fn has_long_ids(&self) -> bool {
        let config = std::fs::read(self.common_dir().join("config")).unwrap_or_default();
        let config = config.to_ascii_lowercase();
        let mut lines = config.split(|&byte| byte == b'\n').map(<[u8]>::trim_ascii);
        lines.any(|line| line.starts_with(b"objectformat") && line.ends_with(b"sha256"))
    }

    /// The tree without files.
    pub(super) fn empty_tree(&self) -> &'static str {
        if self.has_long_ids() {
            EMPTY_TREE_256
        } else {
            EMPTY_TREE
        }
    }
}

/// The tree without files, by the two kinds of ids.
const EMPTY_TREE: &str = "4b825dc642cb6eb9a060e54bf8d69288fbee4904";
const EMPTY_TREE_256: &str = "6ef19b41225c5369f1c104d45d8d85efa9b057b53b14b4b9b939dd74decc5321";

/// What the parent has, or nothing, in the kind of ids that `commit` has.
pub(super) fn parent_tree(parent: Option<&CommitId>, commit: &CommitId) -> String {
    let empty = if commit.as_str().len() == EMPTY_TREE.len() {
        EMPTY_TREE
    } else {
        EMPTY_TREE_256
    };
    parent.map_or(empty, CommitId::as_str).to_owned()
}
