//! Putting a verified program in the place of the running one.
//!
//! | step | under the program's name | beside it |
//! |---|---|---|
//! | write the new one, ask it | old | `.NAME.new` |
//! | link the old one | old | `.NAME.new`, `NAME.old` |
//! | rename the new one over it | new | `NAME.old` |
//! | ask it again under its name | new | `NAME.old` |
//! | remove the old one | new | |
//! | or, if it did not answer, rename the old one back | old | |
//!
//! Each step is one system call on the name, so a kill between any two leaves a program there that has answered. What a killed
//! upgrade leaves beside it, the next one replaces.

use std::io;
use std::os::unix::fs::PermissionsExt as _;
use std::path::PathBuf;

use handoff_files::atomic::{self, SweepError};
use handoff_files::{DirError, Mode, WriteError};
use rustix::fs::AtFlags;

use super::answer::{AnswerError, Question};
use super::place::Place;

/// The program was not replaced. Unless a variant says otherwise the old one is in its place, untouched.
#[derive(Debug, thiserror::Error)]
pub(crate) enum SwapError {
    #[error("cannot clear away what an earlier upgrade left")]
    Sweep(#[source] SweepError),
    #[error("cannot write the new program")]
    Write(#[source] WriteError),
    #[error("cannot make `{0}` a program")]
    Permit(PathBuf, #[source] io::Error),
    #[error("the new program does not work here")]
    Unfit(#[source] AnswerError),
    #[error("cannot keep the old program as `{0}`")]
    Keep(PathBuf, #[source] io::Error),
    #[error("cannot put the new program in its place")]
    Rename(#[source] io::Error),
    /// It is in its place, and may lose it again at a power cut.
    #[error("the new program is in its place, but the directory cannot be brought to the disk")]
    Sync(#[source] DirError),
    #[error("the new program did not work in its place, and the old one is back")]
    Returned(#[source] AnswerError),
    #[error(
        "the new program did not work in its place, and the old one cannot be put back ({reason}); it is `{kept}`"
    )]
    Stuck {
        kept: PathBuf,
        reason: io::Error,
        #[source]
        source: AnswerError,
    },
}

/// Replaces the program at `place` by these bytes, if they answer.
pub(crate) fn swap(place: &Place, bytes: &[u8], question: &Question) -> Result<(), SwapError> {
    let new = format!(".{}.new", place.name);
    let old = format!("{}.old", place.name);
    write(place, &new, bytes)?;
    let fit = question.ask(&place.path(&new)).map_err(SwapError::Unfit);
    let swapped = fit.and_then(|()| rename(place, &new, &old));
    if let Err(error) = swapped {
        remove(place, &new);
        return Err(error);
    }
    if let Err(error) = question.ask(&place.path(&place.name)) {
        return Err(give_back(place, &old, error));
    }
    remove(place, &old);
    Ok(())
}

fn write(place: &Place, new: &str, bytes: &[u8]) -> Result<(), SwapError> {
    atomic::sweep_for(&place.dir, new).map_err(SwapError::Sweep)?;
    atomic::replace(&place.dir, new, bytes, Mode::PrivateProgram).map_err(SwapError::Write)?;
    let path = place.path(new);
    // Whoever runs the upgrade must be able to run the new one, whatever the old one's permissions were.
    let permissions = std::fs::Permissions::from_mode(place.mode | 0o500);
    std::fs::set_permissions(&path, permissions).map_err(|error| SwapError::Permit(path, error))
}

/// Links before it renames: a rename of the old one would leave the name without a program for a moment.
fn rename(place: &Place, new: &str, old: &str) -> Result<(), SwapError> {
    remove(place, old);
    let dir = &place.dir;
    rustix::fs::linkat(dir, &place.name, dir, old, AtFlags::empty())
        .map_err(|errno| SwapError::Keep(place.path(old), errno.into()))?;
    if let Err(errno) = rustix::fs::renameat(dir, new, dir, &place.name) {
        remove(place, old);
        return Err(SwapError::Rename(errno.into()));
    }
    dir.sync().map_err(SwapError::Sync)
}

fn give_back(place: &Place, old: &str, source: AnswerError) -> SwapError {
    let dir = &place.dir;
    match rustix::fs::renameat(dir, old, dir, &place.name) {
        Ok(()) => {
            // Until it is on the disk a power cut may bring the new one back, which had answered once.
            dir.sync().ok();
            SwapError::Returned(source)
        }
        Err(errno) => SwapError::Stuck {
            kept: place.path(old),
            reason: errno.into(),
            source,
        },
    }
}

/// What cannot be removed is replaced by the next upgrade, and harms nobody until then.
fn remove(place: &Place, name: &str) {
    rustix::fs::unlinkat(&place.dir, name, AtFlags::empty()).ok();
}
