//! The index that everybody uses: looked at, copied, and replaced by a copy in which only some
//! entries are other.
//!
//! It is replaced as git does it, by `index.lock`. That file is made by a link to one in a booth, so
//! whoever finds it after a crash can prove whose it is; and it is there only for a moment, never
//! while a hook runs.

use std::fs::{self, Metadata};
use std::io::{self, Read as _};
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};
use std::time::Duration;

use handoff_files::{Wake, Watch};

/// Which file it is, and whether it was written since.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Stamp(Option<[i64; 6]>);

impl Stamp {
    /// The stamp of the file at `path`; there may be none.
    pub(super) fn of(path: &Path) -> io::Result<Self> {
        let metadata = match fs::symlink_metadata(path) {
            Ok(metadata) => metadata,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Self(None)),
            Err(error) => return Err(error),
        };
        Ok(Self::from(&metadata))
    }
}

impl From<&Metadata> for Stamp {
    fn from(metadata: &Metadata) -> Self {
        Self(Some([
            metadata.ino().cast_signed(),
            metadata.size().cast_signed(),
            metadata.mtime(),
            metadata.mtime_nsec(),
            metadata.ctime(),
            metadata.ctime_nsec(),
        ]))
    }
}

/// The index of a tree.
#[derive(Debug)]
pub(super) struct SharedIndex {
    path: PathBuf,
}

/// What became of a copy that was to become the index.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Swap {
    Done,
    /// Somebody wrote the index since it was copied.
    Outdated,
    /// Somebody has the lock, and kept it for longer than we wait.
    Locked,
}

/// How long another git may have `index.lock`. It needs milliseconds; one that was killed has it for ever.
const PATIENCE: Duration = Duration::from_secs(3);
/// How often we look, where nothing tells us.
const GLANCE: Duration = Duration::from_millis(100);

impl SharedIndex {
    pub(super) fn of(git_dir: &Path) -> Self {
        Self {
            path: git_dir.join("index"),
        }
    }

    pub(super) fn lock_path(&self) -> PathBuf {
        self.path.with_extension("lock")
    }

    /// Copies it, and says which one was copied. Git replaces an index by renaming, so the copy is
    /// never a mixture. It is as old as the original: a file that was changed in the same tick of
    /// the clock, and kept its size, is looked into by git only because of that.
    pub(super) fn copy_to(&self, copy: &Path) -> io::Result<Stamp> {
        loop {
            let before = Stamp::of(&self.path)?;
            let copied = self.copy_once(copy);
            if Stamp::of(&self.path)? == before {
                return copied.map(|()| before);
            }
        }
    }

    fn copy_once(&self, copy: &Path) -> io::Result<()> {
        remove(copy)?;
        let mut original = match fs::File::open(&self.path) {
            Ok(original) => original,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
            Err(error) => return Err(error),
        };
        let written_at = original.metadata()?.modified()?;
        let mut copy = fs::File::create_new(copy)?;
        io::copy(&mut original, &mut copy)?;
        copy.set_modified(written_at)
    }

    /// What it has, and of which file that is; none if there is none.
    pub(super) fn read(&self) -> io::Result<Option<(Vec<u8>, Metadata)>> {
        let mut file = match fs::File::open(&self.path) {
            Ok(file) => file,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
            Err(error) => return Err(error),
        };
        let metadata = file.metadata()?;
        let mut bytes = vec![];
        file.read_to_end(&mut bytes)?;
        Ok(Some((bytes, metadata)))
    }

    pub(super) fn stamp(&self) -> io::Result<Stamp> {
        Stamp::of(&self.path)
    }

    /// Makes `copy` the index, unless it was written since it had `stamp`. It must be synced before it has the name: an index
    /// that is an empty file after a power cut is worse than an old one.
    pub(super) fn sync_and_swap(&self, copy: &Path, stamp: Stamp) -> io::Result<Swap> {
        fs::File::open(copy)?.sync_all()?;
        self.swap(copy, stamp)
    }

    /// The same for one that is synced. The copy is gone then: a second name that goes later would make the index look
    /// written, and everybody who makes a commit meanwhile would have to put theirs together anew.
    pub(super) fn swap(&self, copy: &Path, stamp: Stamp) -> io::Result<Swap> {
        let lock = self.lock_path();
        if !link_patiently(copy, &lock)? {
            return Ok(Swap::Locked);
        }
        if self.stamp()? != stamp {
            remove(&lock)?;
            return Ok(Swap::Outdated);
        }
        fs::rename(&lock, &self.path)?;
        // What is left of it goes with the booth.
        remove(copy).ok();
        Ok(Swap::Done)
    }

    /// Removes an `index.lock` that is the same file as one of these.
    pub(super) fn unlock_if_linked(&self, copies: &[PathBuf]) -> io::Result<()> {
        let lock = self.lock_path();
        let Ok(found) = fs::symlink_metadata(&lock) else {
            return Ok(());
        };
        let is_same = |copy: &PathBuf| {
            fs::symlink_metadata(copy)
                .is_ok_and(|copy| (copy.dev(), copy.ino()) == (found.dev(), found.ino()))
        };
        if copies.iter().any(is_same) {
            remove(&lock)?;
        }
        Ok(())
    }
}

/// Whether the link was made before patience ran out.
pub(super) fn link_patiently(copy: &Path, lock: &Path) -> io::Result<bool> {
    if link(copy, lock)? {
        return Ok(true);
    }
    // Before it is tried again: a lock that goes in between would be waited for in vain.
    let directory = lock.parent().unwrap_or(Path::new("/"));
    let mut watch = Watch::on_directories(&[directory]).ok();
    let mut left = PATIENCE;
    loop {
        if link(copy, lock)? {
            return Ok(true);
        }
        if left.is_zero() {
            return Ok(false);
        }
        left = left.saturating_sub(pause(watch.as_mut()));
    }
}

/// Makes the link, unless somebody has that name.
fn link(copy: &Path, lock: &Path) -> io::Result<bool> {
    match fs::hard_link(copy, lock) {
        Ok(()) => Ok(true),
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => Ok(false),
        Err(error) => Err(error),
    }
}

/// Waits until something happens, for a moment at most; says what that cost of our patience.
fn pause(watch: Option<&mut Watch>) -> Duration {
    // A busy directory must not keep us for ever either.
    let instant = GLANCE / 20;
    match watch.map(|watch| watch.wait(Some(GLANCE))) {
        Some(Ok(Wake::TimedOut)) => GLANCE,
        Some(Ok(Wake::Changed | Wake::Interrupted)) => instant,
        // Nothing can be heard.
        Some(Ok(Wake::Gone) | Err(_)) | None => {
            std::thread::park_timeout(instant);
            instant
        }
    }
}

pub(crate) fn remove(path: &Path) -> io::Result<()> {
    match fs::remove_file(path) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
        Ok(()) | Err(_) => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use handoff_testkit::TestEnv;

    use super::*;

    #[test]
    fn a_copy_becomes_the_index_only_if_nobody_wrote_it_meanwhile() {
        let env = TestEnv::without_binary();
        let (dir, copy) = (env.work(), env.work().join("copy"));
        fs::write(dir.join("index"), "old").unwrap();
        let index = SharedIndex::of(&dir);
        let stamp = index.copy_to(&copy).unwrap();
        assert_eq!(fs::read(&copy).unwrap(), b"old");

        fs::write(dir.join("other"), "staged").unwrap();
        fs::rename(dir.join("other"), dir.join("index")).unwrap();
        fs::write(&copy, "ours").unwrap();
        assert_eq!(index.swap(&copy, stamp).unwrap(), Swap::Outdated);
        assert_eq!(fs::read(dir.join("index")).unwrap(), b"staged");
        assert!(!index.lock_path().exists());

        let stamp = index.stamp().unwrap();
        assert_eq!(index.swap(&copy, stamp).unwrap(), Swap::Done);
        assert_eq!(fs::read(dir.join("index")).unwrap(), b"ours");
        assert!(!index.lock_path().exists());
        assert!(!copy.exists());
    }

    #[test]
    fn a_lock_is_removed_only_if_it_is_the_same_file() {
        let env = TestEnv::without_binary();
        let (dir, copy) = (env.work(), env.work().join("copy"));
        fs::write(&copy, "").unwrap();
        let index = SharedIndex::of(&dir);
        fs::write(index.lock_path(), "").unwrap();
        index.unlock_if_linked(std::slice::from_ref(&copy)).unwrap();
        assert!(index.lock_path().exists());

        fs::remove_file(index.lock_path()).unwrap();
        fs::hard_link(&copy, index.lock_path()).unwrap();
        index.unlock_if_linked(std::slice::from_ref(&copy)).unwrap();
        assert!(!index.lock_path().exists());
    }
}
