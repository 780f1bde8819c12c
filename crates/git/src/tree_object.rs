//! What is in a tree of git's, read without git.

use std::collections::BTreeMap;
use std::path::Path;

use crate::loose_object::{self, hex};

/// What a tree has under one name.
pub(crate) struct TreeEntry<'a> {
    pub(crate) mode: &'a [u8],
    pub(crate) id: &'a [u8],
}

pub(crate) const TREE: &[u8] = b"40000";
/// A commit of another repository, of which nothing lies in this one.
const COMMIT: &[u8] = b"160000";
/// The length of an id of SHA-1.
const ID: usize = 20;

impl TreeEntry<'_> {
    /// The object that it names, if that lies in this repository.
    pub(crate) fn content(&self) -> Option<String> {
        (self.mode != COMMIT).then(|| hex(self.id))
    }
}

/// The id of the tree of a commit that lies in a file of its own.
pub(crate) fn of_commit(objects: &Path, commit: &str) -> Option<String> {
    let text = loose_object::read(objects, commit, "commit")?;
    let id = text.strip_prefix(b"tree ")?.get(..2 * ID)?;
    Some(str::from_utf8(id).ok()?.to_owned())
}

/// `<mode> <name> NUL <id>`, one behind the other.
pub(crate) fn entries(mut tree: &[u8]) -> Option<BTreeMap<&[u8], TreeEntry<'_>>> {
    let mut found = BTreeMap::new();
    while !tree.is_empty() {
        let space = tree.iter().position(|&byte| byte == b' ')?;
        let end = tree.iter().position(|&byte| byte == 0)?;
        let (mode, name) = (&tree[..space], tree.get(space + 1..end)?);
        let (id, rest) = tree[end + 1..].split_at_checked(ID)?;
        found.insert(name, TreeEntry { mode, id });
        tree = rest;
    }
    Some(found)
}
