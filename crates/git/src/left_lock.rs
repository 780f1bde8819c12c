//! A lock that a killed git left behind, and the proof that it did.
//!
//! Git makes a lock by making a file, and writes into it right away. One that is empty, that was made after we had begun, and
//! that is still the same empty file after a while is nobody's any more. On a ref that is ours alone any lock is, that stays the same.

use std::fs;
use std::io;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};
use std::time::Duration;

use handoff_core::CommitId;
use handoff_files::Watch;

use crate::git::Git;
use crate::repository::Repository;
use crate::safe_commit::remove_file;

/// Many times what git needs to write an id.
const WRITING: Duration = Duration::from_millis(500);

/// A lock of git, as it was found.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct LeftLock {
    file: PathBuf,
    text: Vec<u8>,
    inode: u64,
    changed: (i64, i64),
}

impl LeftLock {
    pub(crate) fn read(file: &Path) -> Option<Self> {
        let metadata = fs::symlink_metadata(file).ok()?;
        Some(Self {
            file: file.to_owned(),
            text: fs::read(file).ok()?,
            inode: metadata.ino(),
            changed: (metadata.ctime(), metadata.ctime_nsec()),
        })
    }

    /// Whether it was going to move a ref to this commit.
    pub(crate) fn names(&self, commit: &CommitId) -> bool {
        self.text.trim_ascii_end() == commit.as_str().as_bytes()
    }

    /// Whether it is empty, younger than `since`, and stays so.
    pub(crate) fn is_abandoned_since(&self, since: &Path) -> bool {
        let Ok(begun) = fs::symlink_metadata(since) else {
            return false;
        };
        let is_after = self.changed >= (begun.mtime(), begun.mtime_nsec());
        self.text.is_empty() && is_after && self.stays()
    }

    fn stays(&self) -> bool {
        let directory = self.file.parent().map(Path::to_owned).unwrap_or_default();
        let watch = Watch::on_directories(&[&directory]);
        // Whatever happened: the file is looked at again.
        watch.and_then(|mut watch| watch.wait(Some(WRITING))).ok();
        Self::read(&self.file).as_ref() == Some(self)
    }
}

impl Git {
    /// Removes the lock that a killed git left on a ref that nobody but us writes. Only for one who keeps others of us away: then it
    /// can be none but a dead one's if it stays as it is for a while.
    pub fn unlock_ref(&self, repository: &Repository, name: &str) -> io::Result<()> {
        let file = repository.common_dir().join(format!("{name}.lock"));
        match LeftLock::read(&file).filter(LeftLock::stays) {
            Some(lock) => remove_file(&lock.file),
            None => Ok(()),
        }
    }
}

/// Removes the lock that a killed git left on the packed refs, which it takes for a moment whenever a ref may have to be
/// forgotten. One who really packs refs writes a new file beside it; then the lock is theirs.
pub(crate) fn unlock_packed_refs(repository: &Repository, since: &Path) -> io::Result<()> {
    let is_packing = repository.common_dir().join("packed-refs.new").exists();
    let lock = LeftLock::read(&repository.common_dir().join("packed-refs.lock"));
    match lock.filter(|lock| !is_packing && lock.is_abandoned_since(since)) {
        Some(lock) => remove_file(&lock.file),
        None => Ok(()),
    }
}
