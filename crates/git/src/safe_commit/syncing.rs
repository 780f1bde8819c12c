//! Files on their way to stable storage, while something else is done.
//!
//! Every wait for a disk under the lock is a wait for everybody. Those who wait for it at the same time share one commit of the
//! file system's journal, so files are synced by several threads.

use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};
use std::thread::{self, JoinHandle};
use std::time::SystemTime;

/// More of them would wait for each other.
const THREADS: usize = 8;

/// Files that are being synced. They must not be written any more.
#[derive(Debug, Default)]
pub(super) struct Syncing(Vec<Part>);

/// Some of the files.
#[derive(Debug)]
enum Part {
    Begun(JoinHandle<io::Result<()>>),
    /// There was no thread to be had.
    Left(Vec<PathBuf>),
}

impl Syncing {
    /// Begins; a file that is not there needs nothing.
    pub(super) fn begin(files: impl IntoIterator<Item = PathBuf>) -> Self {
        let files: Vec<_> = files.into_iter().collect();
        Self::spread(&files, THREADS)
    }

    /// The same one after the other, where something else takes longer anyway.
    pub(super) fn begin_aside(files: impl IntoIterator<Item = PathBuf>) -> Self {
        let files: Vec<_> = files.into_iter().collect();
        Self::spread(&files, 1)
    }

    fn spread(files: &[PathBuf], threads: usize) -> Self {
        let size = files.len().div_ceil(threads).max(1);
        Self(files.chunks(size).map(Part::begin).collect())
    }

    /// Waits until all are there.
    pub(super) fn finish(self) -> io::Result<()> {
        // All are waited for, also behind one that failed.
        let ended: Vec<_> = self.0.into_iter().map(Part::finish).collect();
        ended.into_iter().collect()
    }
}

impl Part {
    fn begin(files: &[PathBuf]) -> Self {
        let own = files.to_vec();
        let begun = thread::Builder::new().spawn(move || sync_all(&own));
        begun.map_or_else(|_| Self::Left(files.to_vec()), Self::Begun)
    }

    fn finish(self) -> io::Result<()> {
        match self {
            Self::Left(files) => sync_all(&files),
            Self::Begun(thread) => thread
                .join()
                .unwrap_or_else(|_| Err(io::Error::other("the thread that syncs files panicked"))),
        }
    }
}

fn sync_all(files: &[PathBuf]) -> io::Result<()> {
    files.iter().try_for_each(|file| sync(file))
}

fn sync(file: &Path) -> io::Result<()> {
    match File::open(file) {
        Ok(file) => file.sync_all(),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
        Err(error) => Err(error),
    }
}

/// The objects that were made since `begun` was written, whoever made them: by the times of their directories, of which there
/// are some hundred at most. That is quicker than asking git which ones a commit needs.
pub(super) fn objects_since(objects: &Path, begun: &Path) -> io::Result<Vec<PathBuf>> {
    let begun = begun.metadata()?.modified()?;
    let mut found = vec![];
    for directory in younger(objects, begun)? {
        if directory.is_dir() {
            found.extend(younger(&directory, begun)?);
        }
    }
    Ok(found)
}

fn younger(directory: &Path, begun: SystemTime) -> io::Result<Vec<PathBuf>> {
    let entries = fs::read_dir(directory)?.collect::<io::Result<Vec<_>>>()?;
    let is_younger = |entry: &fs::DirEntry| match entry.metadata().and_then(|it| it.modified()) {
        Ok(modified) => Ok(modified >= begun),
        // Somebody's temporary file.
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(false),
        Err(error) => Err(error),
    };
    let mut found = vec![];
    for entry in entries {
        if is_younger(&entry)? {
            found.push(entry.path());
        }
    }
    Ok(found)
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use handoff_testkit::TestEnv;

    use super::*;

    #[test]
    fn what_is_not_there_needs_nothing_and_what_cannot_be_synced_is_told() {
        let env = TestEnv::without_binary();
        let file = env.work().join("file");
        fs::write(&file, "text").unwrap();
        let many = vec![file.clone(); 3 * THREADS];
        let files = many
            .into_iter()
            .chain([env.work().join("none"), env.work()]);
        Syncing::begin(files).finish().unwrap();
        let below_a_file = Syncing::begin([file.join("none")]);
        assert!(below_a_file.finish().is_err());
    }

    #[test]
    fn new_objects_are_found_and_old_ones_are_not() {
        let env = TestEnv::without_binary();
        let repo = env.repo("repo");
        let commit = repo.write("new", "new content").commit("new");
        let objects = repo.path().join(".git/objects");
        let commit = objects.join(&commit[..2]).join(&commit[2..]);
        let begun = File::create(env.work().join("begun")).unwrap();
        let found = |at: SystemTime| {
            begun.set_modified(at).unwrap();
            objects_since(&objects, &env.work().join("begun")).unwrap()
        };
        let made_at = commit.metadata().unwrap().modified().unwrap();
        assert!(found(made_at).contains(&commit));
        assert!(found(SystemTime::UNIX_EPOCH).len() >= 3);
        assert_eq!(
            found(made_at + Duration::from_secs(60)),
            Vec::<PathBuf>::new()
        );
    }
}
