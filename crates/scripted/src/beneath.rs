//! Files beneath the working directory, and only there.
//!
//! The directories on the way are opened one by one without following symbolic links, so that
//! neither a link that is already there nor one put there meanwhile leads out.

use std::ffi::OsStr;
use std::fs::File;
use std::io::{self, Write};
use std::os::fd::OwnedFd;
use std::path::Path;

use handoff_agents::scripted::InnerPath;
use rustix::fs::{AtFlags, Mode, OFlags, mkdirat, open, openat, unlinkat};
use rustix::io::Errno;

/// What happens to the text a file already has.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Existing {
    Replace,
    Keep,
}

pub(crate) fn write(
    root: &Path,
    path: &InnerPath,
    text: &str,
    existing: Existing,
) -> io::Result<()> {
    let (directories, name) = path.split();
    let mut directory = open_root(root)?;
    for name in directories {
        make_directory(&directory, name)?;
        directory = open_directory(&directory, name)?;
    }
    let placing = match existing {
        Existing::Replace => OFlags::TRUNC,
        Existing::Keep => OFlags::APPEND,
    };
    let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::NOFOLLOW | OFlags::CLOEXEC | placing;
    let file = openat(&directory, name, flags, Mode::from_raw_mode(0o666))?;
    File::from(file).write_all(text.as_bytes())
}

pub(crate) fn delete(root: &Path, path: &InnerPath) -> io::Result<()> {
    let (directories, name) = path.split();
    let mut directory = open_root(root)?;
    for name in directories {
        directory = open_directory(&directory, name)?;
    }
    unlinkat(&directory, name, AtFlags::empty()).map_err(io::Error::from)
}

const DIRECTORY: OFlags = OFlags::RDONLY
    .union(OFlags::DIRECTORY)
    .union(OFlags::CLOEXEC);

fn open_root(root: &Path) -> io::Result<OwnedFd> {
    open(root, DIRECTORY, Mode::empty()).map_err(io::Error::from)
}

fn open_directory(parent: &OwnedFd, name: &OsStr) -> io::Result<OwnedFd> {
    openat(parent, name, DIRECTORY | OFlags::NOFOLLOW, Mode::empty()).map_err(io::Error::from)
}

fn make_directory(parent: &OwnedFd, name: &OsStr) -> io::Result<()> {
    match mkdirat(parent, name, Mode::from_raw_mode(0o777)) {
        Ok(()) | Err(Errno::EXIST) => Ok(()),
        Err(error) => Err(error.into()),
    }
}
