//! The record of a linked worktree in the common directory: `worktrees/<name>`, in git's own form, made without git.
//!
//! `git worktree add` starts two more processes and holds whoever else wants a tree up meanwhile. A record is made in the
//! same order as git makes it, so that one that a killed process left is known by the same signs: it is locked with the
//! word `initializing` until its tree is filled.

use std::fs;
use std::io::{self, ErrorKind};
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};

use handoff_core::BranchName;

use crate::repository::Repository;

/// A record, and the tree that it is of.
#[derive(Debug)]
pub(crate) struct WorktreeRecord {
    directory: PathBuf,
    tree: PathBuf,
}

impl WorktreeRecord {
    /// Makes a record, and a tree with nothing in it, on a branch that is still to be made. Only for one who holds the lock
    /// on worktrees. After a failure nothing is left.
    pub(crate) fn make(
        repository: &Repository,
        tree: &Path,
        branch: &BranchName,
    ) -> io::Result<Self> {
        let common = repository.common_dir();
        if common.join("reftable").exists() {
            return Err(ErrorKind::Unsupported.into());
        }
        let name = tree.file_name().filter(|name| is_plain(name.as_bytes()));
        let name = name.ok_or(ErrorKind::InvalidInput)?;
        fs::create_dir_all(common.join("worktrees"))?;
        let directory = common.join("worktrees").join(name);
        // Whoever has the name keeps it.
        fs::create_dir(&directory)?;
        let record = Self {
            directory,
            tree: tree.to_owned(),
        };
        record.write(branch).inspect_err(|_| {
            // What stays is known as half made.
            fs::remove_dir_all(&record.directory).ok();
            fs::remove_dir(&record.tree).ok();
        })?;
        Ok(record)
    }

    /// The record of the tree at `path`, whether the tree is still there or not.
    pub(crate) fn find(repository: &Repository, path: &Path) -> Option<Self> {
        let of = |directory: PathBuf| Self {
            directory,
            tree: path.to_owned(),
        };
        if let Some(linked) = repository.linked_at(path) {
            return Some(of(linked.git_dir().to_owned()));
        }
        let directory = repository.common_dir().join("worktrees");
        let directory = directory.join(path.file_name()?);
        let told = fs::read(directory.join("gitdir")).ok()?;
        let is_of_path = told.trim_ascii_end() == path.join(".git").as_os_str().as_bytes();
        is_of_path.then(|| of(directory))
    }

    pub(crate) fn directory(&self) -> &Path {
        &self.directory
    }

    pub(crate) fn tree(&self) -> &Path {
        &self.tree
    }

    /// The tree is there: it is a worktree like any other.
    pub(crate) fn finish(&self) -> io::Result<()> {
        fs::remove_file(self.directory.join("locked"))
    }

    fn write(&self, branch: &BranchName) -> io::Result<()> {
        let put = |name: &str, text: &[u8]| fs::write(self.directory.join(name), text);
        put("locked", b"initializing\n")?;
        fs::create_dir_all(self.tree.parent().unwrap_or(&self.tree))?;
        // One that is there is somebody's, unless it is empty.
        fs::create_dir(&self.tree).or_else(|error| {
            let is_empty = fs::read_dir(&self.tree).is_ok_and(|mut it| it.next().is_none());
            if is_empty { Ok(()) } else { Err(error) }
        })?;
        let tree = self.tree.canonicalize()?;
        let line = |path: &Path| [path.as_os_str().as_bytes(), b"\n"].concat();
        put("gitdir", &line(&tree.join(".git")))?;
        put("commondir", b"../..\n")?;
        put("HEAD", format!("ref: refs/heads/{branch}\n").as_bytes())?;
        let link = [b"gitdir: ", line(&self.directory).as_slice()].concat();
        fs::write(tree.join(".git"), link)
    }
}

/// A name that git would have taken as it is.
fn is_plain(name: &[u8]) -> bool {
    let is_plain = |byte: &u8| byte.is_ascii_alphanumeric() || b"-_".contains(byte);
    !name.is_empty() && name.iter().all(is_plain)
}
