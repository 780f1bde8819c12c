//! A copy of what this machine's state directory knows and nothing else can make again, and putting it back.
//!
//! In it are the ledger, the packages and attachments that the ledger names at that moment, what a person trusted, and on request
//! the keys. Not in it: batons (views), settings (a person's own), transcripts and worktrees (records and work of one machine),
//! branches (git's own). A copy without its manifest, which is written last, is none.

mod contents;
mod error;
mod making;
mod manifest;
mod restoring;
mod staging;
mod target;

use std::path::PathBuf;

use handoff_files::{Dir, Lock};

pub use error::BackupError;
pub use making::{Backup, Wish, back_up};
pub use manifest::{Counts, FileEntry, Manifest};
pub use restoring::{Ready, Restored, make_ready, undo};
pub use target::is_incomplete;

use crate::places::Places;

/// The database, in the state directory and in a backup.
const LEDGER: &str = "handoff.db";
/// Packages and attachments, by project.
const PACKAGES: &str = "packages";
/// What a person trusts.
const TRUST: &str = "trust";
/// The keys of the machine and those that it knows.
const KEYS: &str = "keys";

/// Whoever makes a copy or puts one back; one at a time for each state directory.
fn lock(places: &Places) -> Result<Lock, BackupError> {
    Dir::create_private(places.home())?;
    let path = places.home().join("backup.lock");
    Lock::try_acquire(&path, "backup")?.ok_or(BackupError::Busy)
}

/// What lives in this state directory, in words: workers and sessions hold a lock as long as they do.
pub fn alive(places: &Places) -> Result<Vec<String>, BackupError> {
    let mut found = vec![];
    let home = places.home();
    for project in names_in(&home.join("workers"))? {
        for lock in names_in(&project)? {
            let is_lock = lock.extension().is_some_and(|it| it == "lock");
            if is_lock && let Some(holder) = Lock::holder(&lock)? {
                found.push(format!("a worker is at work (process {})", holder.pid));
            }
        }
    }
    for session in names_in(&home.join("sessions"))? {
        for name in ["holder.lock", "worker.lock", "keeper.lock"] {
            if Lock::is_held(&session.join(name))? {
                let name = session.file_name().unwrap_or_default();
                found.push(format!("session {} is alive", name.display()));
                break;
            }
        }
    }
    Ok(found)
}

fn names_in(directory: &std::path::Path) -> Result<Vec<PathBuf>, BackupError> {
    match Dir::open(directory).and_then(|dir| dir.names()) {
        Ok(names) => Ok(names.iter().map(|it| directory.join(it)).collect()),
        Err(error) if error.is_not_found() || is_no_directory(directory) => Ok(vec![]),
        Err(error) => Err(error.into()),
    }
}

fn is_no_directory(path: &std::path::Path) -> bool {
    path.symlink_metadata().is_ok_and(|it| !it.is_dir())
}
