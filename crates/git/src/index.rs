//! A private index: a place to put a tree together without touching what others have staged.

use std::fs::{self, File};
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
    ///
    /// It is as old as the original: a file that was changed in the same tick of the clock in which
    /// the index was written, and kept its size, is looked into by git only because of that.
    pub(crate) fn copied(at: &Repository) -> io::Result<Self> {
        let index = Self::empty(at);
        let mut original = match File::open(at.git_dir().join("index")) {
            Ok(original) => original,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(index),
            Err(error) => return Err(error),
        };
        let written_at = original.metadata()?.modified()?;
        let mut copy = File::create_new(&index.path)?;
        io::copy(&mut original, &mut copy)?;
        copy.set_modified(written_at)?;
        Ok(index)
    }

    /// Makes it the worktree's own, for one that nobody else stages in any more.
    pub(crate) fn install(&self, at: &Repository) -> io::Result<()> {
        fs::rename(&self.path, at.git_dir().join("index"))
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

#[cfg(test)]
mod tests {
    use std::time::{Duration, SystemTime};

    use handoff_testkit::TestEnv;

    use super::*;

    #[test]
    fn a_copy_is_as_old_as_the_original() {
        let env = TestEnv::without_binary();
        let repo = env.repo("repo");
        repo.write("file", "text").commit("first");
        let long_ago = SystemTime::UNIX_EPOCH + Duration::from_secs(1_000_000_000);
        let original = repo.path().join(".git/index");
        let file = File::options().append(true).open(&original).unwrap();
        file.set_modified(long_ago).unwrap();

        let index = PrivateIndex::copied(&Repository::open(repo.path()).unwrap()).unwrap();
        let copy = index.path().metadata().unwrap();
        assert_eq!(copy.modified().unwrap(), long_ago);
        assert_eq!(fs::read(index.path()).unwrap(), fs::read(original).unwrap());
    }
}
