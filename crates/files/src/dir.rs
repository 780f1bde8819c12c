//! An opened directory, and opening what lies beneath it.
//!
//! Everything goes through the descriptor, so renaming or replacing the directory's path by
//! somebody else changes nothing for us. Below it no symbolic link is followed, no `..` and no
//! absolute path is taken, and only regular files are opened.
//!
//! How the directory itself was reached is its owner's business: ancestors are followed as the
//! system follows them, links included. Only the last name given to [`Dir::create_private`] may
//! not be a link, because in a shared directory a stranger could have put one there.

use crate::failure::{self, at};
use crate::temporary;
use rustix::fd::{AsFd, BorrowedFd, OwnedFd};
use rustix::fs::{AtFlags, FileType, Mode, OFlags, ResolveFlags};
use rustix::io::Errno;
use std::ffi::{OsStr, OsString};
use std::fs::File;
use std::io::{self, Read};
use std::os::unix::ffi::OsStrExt;
use std::path::{Component, Path, PathBuf};
use std::str::Utf8Error;

/// What most files have room in that are read whole.
const PAGE: usize = 4096;

/// An opened directory.
#[derive(Debug)]
pub struct Dir {
    fd: OwnedFd,
    path: PathBuf,
}

/// What a file beneath a directory is opened for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Access {
    Read,
    /// Every write goes to the end. Makes the file if it is missing, with mode `0600`; its name
    /// is on stable storage only after [`Dir::sync`].
    Append,
    /// Writes go over what is there. Makes the file if it is missing, with mode `0600`. Only for what may be lost or be half
    /// of each at a power cut.
    Overwrite,
}

/// A directory, or something in it, is not what it should be or cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum DirError {
    #[error("`{0}` would leave its directory or pass through a symbolic link")]
    NotBeneath(PathBuf),
    #[error("`{path}` belongs to user {owner}")]
    ForeignOwner { path: PathBuf, owner: u32 },
    #[error("`{path}` is writable by others (mode {mode:04o})")]
    WritableByOthers { path: PathBuf, mode: u32 },
    #[error("`{0}` is not a regular file")]
    NotAFile(PathBuf),
    #[error("`{path}` is larger than {limit} bytes")]
    TooLarge { path: PathBuf, limit: u64 },
    #[error("`{0}` is not UTF-8 text")]
    NotText(PathBuf, #[source] Utf8Error),
    #[error("cannot open `{0}`")]
    Open(PathBuf, #[source] io::Error),
    #[error("cannot make the directory `{0}`")]
    Create(PathBuf, #[source] io::Error),
    #[error("cannot read `{0}`")]
    Read(PathBuf, #[source] io::Error),
    #[error("cannot list `{0}`")]
    List(PathBuf, #[source] io::Error),
    #[error("cannot remove `{0}`")]
    Remove(PathBuf, #[source] io::Error),
    #[error("cannot sync the directory `{0}`")]
    Sync(PathBuf, #[source] io::Error),
}

const OPEN_DIR: OFlags = OFlags::RDONLY
    .union(OFlags::DIRECTORY)
    .union(OFlags::CLOEXEC);

impl Dir {
    /// Opens a directory that exists.
    pub fn open(path: &Path) -> Result<Self, DirError> {
        let fd =
            rustix::fs::open(path, OPEN_DIR, Mode::empty()).map_err(at(path, DirError::Open))?;
        Ok(Self {
            fd,
            path: path.to_path_buf(),
        })
    }

    /// Opens a directory of ours, making it and its missing ancestors with mode `0700`.
    ///
    /// One that belongs to another user, that others may write to, or that is a symbolic link is
    /// refused: a stranger may have put it there.
    pub fn create_private(path: &Path) -> Result<Self, DirError> {
        match (path.parent(), path.file_name()) {
            (Some(parent), Some(name)) => Self::create_ancestors(parent)?.create_dir(name),
            _ => Self::open(path)?.require_private(),
        }
    }

    fn create_ancestors(path: &Path) -> Result<Self, DirError> {
        if path.as_os_str().is_empty() {
            return Self::open(Path::new("."));
        }
        match (Self::open(path), path.parent(), path.file_name()) {
            (Err(error), Some(parent), Some(name)) if error.is_not_found() => {
                Self::create_ancestors(parent)?.create_dir(name)
            }
            (opened, _, _) => opened,
        }
    }

    /// Opens a directory directly in this one, made with mode `0700` if it is missing, under the
    /// conditions of [`Dir::create_private`].
    pub fn create_dir(&self, name: impl AsRef<OsStr>) -> Result<Self, DirError> {
        let name = self.plain(name.as_ref())?;
        match rustix::fs::mkdirat(self, name, Mode::RWXU) {
            Ok(()) => self.sync()?,
            Err(Errno::EXIST) => {}
            Err(errno) => return Err(at(&self.path.join(name), DirError::Create)(errno)),
        }
        self.dir(name)?.require_private()
    }

    /// Opens a directory beneath this one.
    pub fn dir(&self, relative: impl AsRef<Path>) -> Result<Self, DirError> {
        let relative = relative.as_ref();
        Ok(Self {
            fd: self.resolve(relative, OPEN_DIR, Mode::empty())?,
            path: self.path.join(relative),
        })
    }

    /// Opens a regular file beneath this directory.
    pub fn open_beneath(
        &self,
        relative: impl AsRef<Path>,
        access: Access,
    ) -> Result<File, DirError> {
        let relative = relative.as_ref();
        let (flags, mode) = match access {
            Access::Read => (OFlags::RDONLY, Mode::empty()),
            Access::Append => (
                OFlags::WRONLY | OFlags::APPEND | OFlags::CREATE,
                Mode::RUSR | Mode::WUSR,
            ),
            Access::Overwrite => (OFlags::WRONLY | OFlags::CREATE, Mode::RUSR | Mode::WUSR),
        };
        // A pipe or terminal put in the file's place must neither block us nor become ours.
        let flags = flags | OFlags::CLOEXEC | OFlags::NONBLOCK | OFlags::NOCTTY;
        let fd = self.resolve(relative, flags, mode)?;
        let path = self.path.join(relative);
        let status = rustix::fs::fstat(&fd).map_err(at(&path, DirError::Open))?;
        if FileType::from_raw_mode(status.st_mode) != FileType::RegularFile {
            return Err(DirError::NotAFile(path));
        }
        Ok(File::from(fd))
    }

    /// Reads a file beneath this directory, refusing one of more than `limit` bytes.
    pub fn read(&self, relative: impl AsRef<Path>, limit: u64) -> Result<Vec<u8>, DirError> {
        let relative = relative.as_ref();
        let path = self.path.join(relative);
        // Most files here fit: whoever looks at a hundred of them reads each in one go.
        let mut bytes = Vec::with_capacity(PAGE);
        // One byte more than allowed: a file that grows while it is read shows itself too.
        self.open_beneath(relative, Access::Read)?
            .take(limit.saturating_add(1))
            .read_to_end(&mut bytes)
            .map_err(at(&path, DirError::Read))?;
        if u64::try_from(bytes.len()).is_ok_and(|length| length <= limit) {
            Ok(bytes)
        } else {
            Err(DirError::TooLarge { path, limit })
        }
    }

    /// As [`Dir::read`], for text.
    pub fn read_to_string(
        &self,
        relative: impl AsRef<Path>,
        limit: u64,
    ) -> Result<String, DirError> {
        let relative = relative.as_ref();
        String::from_utf8(self.read(relative, limit)?)
            .map_err(|error| DirError::NotText(self.path.join(relative), error.utf8_error()))
    }

    /// The names in this directory, sorted. Files still being written are not among them.
    pub fn names(&self) -> Result<Vec<OsString>, DirError> {
        let mut names = self.entries().map_err(at(&self.path, DirError::List))?;
        names.retain(|name| !temporary::is_temporary(name));
        names.sort_unstable();
        Ok(names)
    }

    /// Removes a file directly in this directory. A link is removed, not what it points to.
    pub fn remove(&self, name: impl AsRef<OsStr>) -> Result<(), DirError> {
        let name = self.plain(name.as_ref())?;
        rustix::fs::unlinkat(self, name, AtFlags::empty())
            .map_err(at(&self.path.join(name), DirError::Remove))?;
        self.sync()
    }

    /// Brings the names in this directory to stable storage.
    pub fn sync(&self) -> Result<(), DirError> {
        rustix::fs::fsync(self).map_err(at(&self.path, DirError::Sync))
    }

    /// Where the directory was when it was opened.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }

    pub(crate) fn entries(&self) -> rustix::io::Result<Vec<OsString>> {
        let mut names = Vec::new();
        for entry in rustix::fs::Dir::read_from(self)? {
            let entry = entry?;
            let name = OsStr::from_bytes(entry.file_name().to_bytes());
            if is_plain(name) {
                names.push(name.to_owned());
            }
        }
        Ok(names)
    }

    fn resolve(&self, relative: &Path, flags: OFlags, mode: Mode) -> Result<OwnedFd, DirError> {
        let path = || self.path.join(relative);
        if !is_relative(relative) {
            return Err(DirError::NotBeneath(path()));
        }
        let resolve =
            ResolveFlags::BENEATH | ResolveFlags::NO_SYMLINKS | ResolveFlags::NO_MAGICLINKS;
        rustix::fs::openat2(self, relative, flags, mode, resolve).map_err(|errno| match errno {
            Errno::LOOP | Errno::XDEV => DirError::NotBeneath(path()),
            _ => DirError::Open(path(), errno.into()),
        })
    }

    fn require_private(self) -> Result<Self, DirError> {
        let status = rustix::fs::fstat(&self).map_err(at(&self.path, DirError::Open))?;
        if status.st_uid != rustix::process::geteuid().as_raw() {
            return Err(DirError::ForeignOwner {
                path: self.path,
                owner: status.st_uid,
            });
        }
        if Mode::from_raw_mode(status.st_mode).intersects(Mode::WGRP | Mode::WOTH) {
            return Err(DirError::WritableByOthers {
                path: self.path,
                mode: status.st_mode & 0o7777,
            });
        }
        Ok(self)
    }

    fn plain<'name>(&self, name: &'name OsStr) -> Result<&'name OsStr, DirError> {
        if is_plain(name) {
            Ok(name)
        } else {
            Err(DirError::NotBeneath(self.path.join(name)))
        }
    }
}

impl AsFd for Dir {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.fd.as_fd()
    }
}

/// Whether `name` is one component that names something in a directory.
pub(crate) fn is_plain(name: &OsStr) -> bool {
    let bytes = name.as_bytes();
    !bytes.contains(&b'/') && !bytes.contains(&0) && !matches!(bytes, b"" | b"." | b"..")
}

/// Whether `path` goes only down. The kernel would allow `a/../b` too, which stays beneath, but
/// two spellings of one file are one too many.
fn is_relative(path: &Path) -> bool {
    !path.as_os_str().is_empty()
        && path
            .components()
            .all(|component| matches!(component, Component::Normal(_)))
}

impl DirError {
    /// Whether what was to be opened, read or removed is not there.
    #[must_use]
    pub fn is_not_found(&self) -> bool {
        self.io_source()
            .is_some_and(|source| source.kind() == io::ErrorKind::NotFound)
    }

    /// Whether the disk or the quota is full.
    #[must_use]
    pub fn is_out_of_space(&self) -> bool {
        self.io_source().is_some_and(failure::is_out_of_space)
    }

    fn io_source(&self) -> Option<&io::Error> {
        match self {
            Self::NotBeneath(_)
            | Self::ForeignOwner { .. }
            | Self::WritableByOthers { .. }
            | Self::NotAFile(_)
            | Self::TooLarge { .. }
            | Self::NotText(..) => None,
            Self::Open(_, source)
            | Self::Create(_, source)
            | Self::Read(_, source)
            | Self::List(_, source)
            | Self::Remove(_, source)
            | Self::Sync(_, source) => Some(source),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_paths_that_go_down_are_relative() {
        assert!(is_relative(Path::new("a")));
        assert!(is_relative(Path::new("a/b.c/..d")));
        for path in ["", ".", "..", "/", "/a", "../a", "a/..", "a/../b", "./a"] {
            assert!(!is_relative(Path::new(path)), "{path}");
        }
    }
}
