//! How plain files stand, found without git: starting it takes longer than all the rest that comes before a commit.
//!
//! A file is plain if the index and the tree both have it as one, git keeps it byte for byte, and the objects that lead to it in
//! HEAD lie in files of their own, as those of the last commits do. Of anything else nothing is said, and git is asked.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};

use super::super::index_file::IndexFile;
use super::{Change, Entry, Standing};
use crate::git::Git;
use crate::loose_object::{self, hex};
use crate::repository::Repository;
use crate::sha1::sha1;
use crate::tree_object::{self, TREE};
use crate::tree_path::TreePath;

/// For more, git is no slower.
const FEW: usize = 16;
/// Reading a longer file takes longer than git, which knows from its times that it is the same.
const LARGEST: u64 = 256 * 1024;

const FILE: u32 = 0o100_644;
const PROGRAM: u32 = 0o100_755;
const ATTRIBUTES: &str = ".gitattributes";

impl Git {
    /// How these paths stand, those that have changed; none if git has to be asked.
    pub(super) fn plain_staging(&self, at: &Repository, paths: &[TreePath]) -> Option<Vec<Entry>> {
        if paths.is_empty() || paths.len() > FEW || at.has_long_ids() {
            return None;
        }
        let bytes = fs::read(at.git_dir().join("index")).ok()?;
        let index = IndexFile::parse(&bytes).filter(IndexFile::is_whole)?;
        if !self.keeps_bytes(at, &index, paths) || !loose_object::are_themselves(at) {
            return None;
        }
        let head = Head::read(at)?;
        let root = at.worktree_root()?;
        let stand = |path: &TreePath| {
            let staged = Version::staged(&index, path)?;
            let difference = |other: &Option<Version>| match other {
                Some(other) if *other == staged => Change::None,
                Some(_) | None => Change::Some,
            };
            let standing = Standing::Tracked {
                staged: difference(&head.version(path)?),
                edited: difference(&Some(Version::edited(root, path, &staged)?)),
            };
            let path = path.clone();
            Some(Entry { path, standing })
        };
        let entries = paths.iter().map(stand).collect::<Option<Vec<_>>>()?;
        Some(entries.into_iter().filter(has_changed).collect())
    }

    /// Whether git keeps these files as they are: no filter, no other line ends, no other encoding.
    fn keeps_bytes(&self, at: &Repository, index: &IndexFile<'_>, paths: &[TreePath]) -> bool {
        let has_some = { index.entries.iter() }.any(|it| it.name.ends_with(ATTRIBUTES.as_bytes()));
        let in_tree = paths.iter().flat_map(|path| attributes_above(at, path));
        let Some(elsewhere) = self.attribute_files(at) else {
            return false;
        };
        let is_there = |file: PathBuf| file.symlink_metadata().is_ok();
        !has_some
            && !in_tree.chain(elsewhere).any(is_there)
            && self.configuration_lacks(at, &["autocrlf", "attr"])
    }
}

/// Where a file would lie that says something of this one.
fn attributes_above(at: &Repository, path: &TreePath) -> Vec<PathBuf> {
    let root = at.any_place();
    let above = path.as_path().ancestors().skip(1);
    above.map(|it| root.join(it).join(ATTRIBUTES)).collect()
}

fn has_changed(entry: &Entry) -> bool {
    let same = Standing::Tracked {
        staged: Change::None,
        edited: Change::None,
    };
    entry.standing != same
}

/// What a file is, in one place or another.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Version {
    mode: u32,
    id: Vec<u8>,
}

impl Version {
    /// None if the index does not have it as a plain file.
    fn staged(index: &IndexFile<'_>, path: &TreePath) -> Option<Self> {
        let mut found = index.entries.iter().filter(|it| it.name == path.as_bytes());
        let (mode, id) = found.next()?.plain()?;
        let is_plain = matches!(mode, FILE | PROGRAM) && found.next().is_none();
        let id = id.to_owned();
        is_plain.then_some(Self { mode, id })
    }

    /// None if it is no plain file, or may have got other bits: whether those count is a setting of git's.
    fn edited(root: &Path, path: &TreePath, staged: &Self) -> Option<Self> {
        // To git, what lies beyond a link is not there.
        let above = path.as_path().ancestors().skip(1);
        if !{ above }.all(|it| is_directory(&root.join(it))) {
            return None;
        }
        let file = root.join(path.as_path());
        let metadata = file.symlink_metadata().ok()?;
        let is_program = metadata.permissions().mode() & 0o100 != 0;
        let is_usual = metadata.is_file() && is_program == (staged.mode == PROGRAM);
        if !is_usual || metadata.len() > LARGEST {
            return None;
        }
        let bytes = fs::read(file).ok()?;
        let head = format!("blob {}\0", bytes.len());
        Some(Self {
            mode: staged.mode,
            id: sha1(&[head.as_bytes(), &bytes].concat()).into(),
        })
    }
}

fn is_directory(path: &Path) -> bool {
    path.symlink_metadata().is_ok_and(|it| it.is_dir())
}

/// The tree of the commit that is checked out.
struct Head {
    objects: PathBuf,
    tree: String,
}

impl Head {
    fn read(at: &Repository) -> Option<Self> {
        let objects = at.common_dir().join("objects");
        let commit = at.read_head().ok()?.commit?;
        let tree = tree_object::of_commit(&objects, commit.as_str())?;
        Some(Self { objects, tree })
    }

    /// What it has at a path, if anything; nothing at all if that cannot be told.
    fn version(&self, path: &TreePath) -> Option<Option<Version>> {
        let mut tree = self.tree.clone();
        let mut names = path.as_bytes().split(|&byte| byte == b'/').peekable();
        while let Some(name) = names.next() {
            let text = loose_object::read(&self.objects, &tree, "tree")?;
            let Some(entry) = tree_object::entries(&text)?.remove(name) else {
                return Some(None);
            };
            if names.peek().is_none() {
                let mode = u32::from_str_radix(str::from_utf8(entry.mode).ok()?, 8).ok()?;
                let id = entry.id.to_owned();
                // Of others, git makes one of these or something else.
                let is_plain = matches!(mode, FILE | PROGRAM);
                return is_plain.then_some(Some(Version { mode, id }));
            }
            if entry.mode != TREE {
                return None;
            }
            tree = hex(entry.id);
        }
        None
    }
}

#[cfg(test)]
mod tests;
