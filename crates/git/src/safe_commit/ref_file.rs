//! Moving and making a branch whose ref is a plain file, as git does it: a lock beside the file, a look, the logs, a rename.
//!
//! It saves a process for each commit and each worktree. When a branch is moved, its lock is a link to a file in the booth, so
//! that it can be proved ours after a crash. Wherever anything is unusual, git does it.

use std::fs;
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};

use handoff_core::CommitId;

use super::booth::Booth;
use super::shared_index::{link_patiently, remove};
use crate::repository::Repository;

/// The file in a booth that becomes the branch.
pub(super) const COPY: &str = "ref";

/// What came of it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Forward {
    Done,
    /// It was not where it should have been.
    Elsewhere,
    /// This is one for git.
    Unusual,
}

/// Moves `branch` from `parent` to what the copy in the booth names, which is on the disk already: a branch that is an empty
/// file after a power cut is no branch.
pub(super) fn forward(
    at: &Repository,
    booth: &Booth,
    branch: &str,
    parent: &CommitId,
) -> io::Result<Forward> {
    let file = at.common_dir().join(branch);
    let log = at.common_dir().join("logs").join(branch);
    let (Some(line), true) = (booth.log_line(), is_usual(at, &file, &log)) else {
        return Ok(Forward::Unusual);
    };
    let copy = booth.file(COPY);
    let mut log = fs::OpenOptions::new().append(true).open(log)?;
    let lock = lock_of(&file);
    if !link_patiently(&copy, &lock)? {
        return Ok(Forward::Unusual);
    }
    let is_there = at
        .read_ref(branch)
        .is_ok_and(|it| it.as_ref() == Some(parent));
    if !is_there {
        remove(&lock)?;
        return Ok(Forward::Elsewhere);
    }
    let moved = log.write_all(&line).and_then(|()| fs::rename(&lock, &file));
    match moved {
        Ok(()) => Ok(Forward::Done),
        Err(error) => {
            remove(&lock)?;
            Err(error)
        }
    }
}

/// Makes a ref at a commit. Fails where there is one already, and wherever git should do it; then nothing has changed. A lock
/// that a killed process leaves goes with the attempt whose branch it is.
pub(crate) fn make(at: &Repository, name: &str, commit: &CommitId) -> io::Result<()> {
    let file = at.common_dir().join(name);
    if has_special_modes(at) || at.common_dir().join("reftable").exists() {
        return Err(io::ErrorKind::Unsupported.into());
    }
    fs::create_dir_all(file.parent().unwrap_or(&file))?;
    let lock = lock_of(&file);
    let mut written = fs::File::create_new(&lock)?;
    let made = if at.has_room_for(name) {
        let whole = written.write_all(format!("{commit}\n").as_bytes());
        let durable = whole.and_then(|()| written.sync_all());
        durable.and_then(|()| fs::rename(&lock, &file))
    } else {
        Err(io::ErrorKind::AlreadyExists.into())
    };
    made.inspect_err(|_| {
        remove(&lock).ok();
    })
}

fn lock_of(file: &Path) -> PathBuf {
    let mut name = file.as_os_str().to_owned();
    name.push(".lock");
    name.into()
}

/// A file with an id in it, with a log, in a repository whose files have no special modes.
fn is_usual(at: &Repository, file: &Path, log: &Path) -> bool {
    let is_plain = |path: &Path| path.symlink_metadata().is_ok_and(|it| it.is_file());
    let has_id = fs::read(file).is_ok_and(|text| !text.starts_with(b"ref:"));
    is_plain(file) && is_plain(log) && has_id && !has_special_modes(at)
}

pub(crate) fn has_special_modes(at: &Repository) -> bool {
    let config = fs::read(at.common_dir().join("config")).unwrap_or_default();
    let config = config.to_ascii_lowercase();
    config.windows(16).any(|it| it == b"sharedrepository")
}
