//! Another user, for tests of permissions: root may do everything, so nothing fails for it.

use std::ffi::OsStr;
use std::fs;
use std::io;
use std::path::Path;
use std::process::Command;

use rustix::fs::{AtFlags, CWD, Gid, Uid};

use crate::{Prefix, ambient};

/// `nobody`, who owns nothing.
pub const UID: u32 = 65534;

/// Words that make a program run as [`UID`]. Without root they are none: then we own little enough.
#[must_use]
pub fn prefix() -> Prefix {
    if !ambient::is_root() {
        return Prefix::none();
    }
    let id = UID.to_string();
    Prefix::of(["setpriv", "--reuid", &id, "--regid", &id, "--clear-groups"])
}

/// The program as that user, in the environment of the test itself.
pub fn command(program: impl AsRef<OsStr>) -> Command {
    prefix().command(program)
}

/// Gives a path and everything below it to that user. Without root it already is the user's.
///
/// # Panics
/// When it cannot.
#[track_caller]
pub fn give(path: impl AsRef<Path>) {
    if ambient::is_root() {
        chown_all(path.as_ref(), UID, UID).expect("root may give files away");
    }
}

/// Follows no symbolic link: what a fixture points to may belong to the machine.
pub(crate) fn chown_all(path: &Path, uid: u32, gid: u32) -> io::Result<()> {
    let (owner, group) = (Some(Uid::from_raw(uid)), Some(Gid::from_raw(gid)));
    rustix::fs::chownat(CWD, path, owner, group, AtFlags::SYMLINK_NOFOLLOW)?;
    if path.symlink_metadata()?.is_dir() {
        for entry in fs::read_dir(path)? {
            chown_all(&entry?.path(), uid, gid)?;
        }
    }
    Ok(())
}
