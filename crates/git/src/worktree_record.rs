//! The record of a linked worktree in the common directory: `worktrees/<name>`, in git's own form, made without git.
//!
//! `git worktree add` starts two more processes and holds whoever else wants a tree up meanwhile. A record that a killed process
//! left is known by the same sign as one of git's: it is locked with the word `initializing` until its tree is filled.

use std::fs;
use std::io::{self, ErrorKind};
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};

use crate::repository::Repository;

/// A record, and the tree that it is of.
#[derive(Debug)]
pub(crate) struct WorktreeRecord {
    directory: PathBuf,
    tree: PathBuf,
}

impl WorktreeRecord {
    /// Makes a record, and a tree with nothing in it, whose HEAD says `head`: a commit, or a branch that is still to be made.
    /// Only for one who holds the lock on worktrees. After a failure nothing is left.
    pub(crate) fn make(repository: &Repository, tree: &Path, head: &str) -> io::Result<Self> {
        let record = Self::at(repository, tree)?;
        fs::create_dir_all(record.directory.parent().unwrap_or(&record.directory))?;
        // Whoever has the name keeps it.
        fs::create_dir(&record.directory)?;
        record.write(head).inspect_err(|_| {
            // What stays is known as half made.
            fs::remove_dir_all(&record.directory).ok();
            fs::remove_dir(&record.tree).ok();
        })?;
        Ok(record)
    }

    /// Moves the tree to another place, and the record to the name that goes with it, whose HEAD says `head` from then on. Only
    /// for one who holds the lock on worktrees, and for a tree that is being made: whoever dies in between leaves one that is
    /// half made under its new name, or a directory that no record knows under its old one.
    pub(crate) fn move_to(
        self,
        repository: &Repository,
        tree: &Path,
        head: &str,
    ) -> io::Result<Self> {
        let moved = Self::at(repository, tree)?;
        // A directory would be put in the place of an empty one.
        if moved.directory.exists() || tree.exists() {
            return Err(ErrorKind::AlreadyExists.into());
        }
        fs::rename(&self.directory, &moved.directory)?;
        fs::rename(&self.tree, &moved.tree)?;
        moved.describe(head)?;
        Ok(moved)
    }

    /// The record that a tree would have.
    fn at(repository: &Repository, tree: &Path) -> io::Result<Self> {
        let common = repository.common_dir();
        if common.join("reftable").exists() {
            return Err(ErrorKind::Unsupported.into());
        }
        let name = tree.file_name().filter(|name| is_plain(name.as_bytes()));
        let name = name.ok_or(ErrorKind::InvalidInput)?;
        Ok(Self {
            directory: common.join("worktrees").join(name),
            tree: tree.to_owned(),
        })
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

    fn write(&self, head: &str) -> io::Result<()> {
        fs::write(self.directory.join("locked"), b"initializing\n")?;
        fs::create_dir_all(self.tree.parent().unwrap_or(&self.tree))?;
        // One that is there is somebody's, unless it is empty.
        fs::create_dir(&self.tree).or_else(|error| {
            let is_empty = fs::read_dir(&self.tree).is_ok_and(|mut it| it.next().is_none());
            if is_empty { Ok(()) } else { Err(error) }
        })?;
        self.describe(head)
    }

    /// What the record says of the tree, and the tree of the record. `gitdir` comes first: what a killed process left is known by it.
    /// Any git that looks at worktrees meanwhile fails at a file that is still empty, so none ever is.
    fn describe(&self, head: &str) -> io::Result<()> {
        let put = |name: &str, text: &[u8]| {
            let new = self.directory.join(format!("{name}.new"));
            fs::write(&new, text)?;
            fs::rename(&new, self.directory.join(name))
        };
        let tree = self.tree.canonicalize()?;
        let line = |path: &Path| [path.as_os_str().as_bytes(), b"\n"].concat();
        put("gitdir", &line(&tree.join(".git")))?;
        put("commondir", b"../..\n")?;
        put("HEAD", format!("{head}\n").as_bytes())?;
        let link = [b"gitdir: ", line(&self.directory).as_slice()].concat();
        fs::write(tree.join(".git"), link)
    }
}

/// A name that git would have taken as it is.
fn is_plain(name: &[u8]) -> bool {
    let is_plain = |byte: &u8| byte.is_ascii_alphanumeric() || b"-_".contains(byte);
    !name.is_empty() && name.iter().all(is_plain)
}
