//! A private index: a place to put a tree together without touching what others have staged.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use handoff_process::mint;

use crate::repository::Repository;

/// A file beside the worktree's own index, removed on drop. What a killed process leaves goes with
/// the worktree.
#[derive(Debug)]
pub(crate) struct PrivateIndex {
    path: PathBuf,
}

impl PrivateIndex {
    /// An index that is not there yet.
    pub(crate) fn empty(at: &Repository) -> Self {
        Self {
            path: at
                .git_dir()
                .join(format!("handoff-index-{}", mint().simple())),
        }
    }

    /// A copy of the worktree's own, or an empty one if it has none. Git replaces an index by
    /// renaming, so the copy is never a mixture.
    pub(crate) fn copied(at: &Repository) -> io::Result<Self> {
        let index = Self::empty(at);
        match fs::copy(at.git_dir().join("index"), &index.path) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
            _ => Ok(index),
        }
    }

    pub(crate) fn path(&self) -> &Path {
        &self.path
    }
}

impl Drop for PrivateIndex {
    fn drop(&mut self) {
        // A leftover is a file that nobody reads.
        fs::remove_file(&self.path).ok();
    }
}
