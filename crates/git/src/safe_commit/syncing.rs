//! Files on their way to stable storage, while something else is done.
//!
//! Every wait for a disk under the lock is a wait for everybody. Those who wait for it at the same time share one commit of the
//! file system's journal, so each file has a thread.

use std::fs::File;
use std::io;
use std::path::PathBuf;
use std::thread::JoinHandle;

/// Files that are being synced. They must not be written any more.
#[derive(Debug, Default)]
pub(super) struct Syncing(Vec<JoinHandle<io::Result<()>>>);

impl Syncing {
    /// Begins; a file that is not there needs nothing.
    pub(super) fn begin(files: impl IntoIterator<Item = PathBuf>) -> Self {
        let threads = files
            .into_iter()
            .map(|file| std::thread::spawn(move || sync(&file)));
        Self(threads.collect())
    }

    /// Waits until all are there.
    pub(super) fn finish(self) -> io::Result<()> {
        let ended = self.0.into_iter().map(|thread| {
            let ended = thread.join();
            ended.unwrap_or_else(|_| Err(io::Error::other("the thread that syncs a file panicked")))
        });
        // All are waited for, also behind one that failed.
        ended.collect::<Vec<_>>().into_iter().collect()
    }
}

fn sync(file: &std::path::Path) -> io::Result<()> {
    match File::open(file) {
        Ok(file) => file.sync_all(),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
        Err(error) => Err(error),
    }
}

#[cfg(test)]
mod tests {
    use handoff_testkit::TestEnv;

    use super::*;

    #[test]
    fn what_is_not_there_needs_nothing_and_what_cannot_be_synced_is_told() {
        let env = TestEnv::without_binary();
        let file = env.work().join("file");
        std::fs::write(&file, "text").unwrap();
        let files = [file.clone(), env.work().join("none"), env.work()];
        Syncing::begin(files).finish().unwrap();
        let below_a_file = Syncing::begin([file.join("none")]);
        assert!(below_a_file.finish().is_err());
    }
}
