//! What stands at a name in a directory: shared directories are made, entries are moved, links are pointed.
//!
//! Nothing here removes anything with content in it, overwrites what it was not told to, or follows a link.

use crate::dir::{Dir, DirError, is_plain};
use crate::failure::at;
use rustix::fs::{AtFlags, FileType, Mode, RenameFlags, Timespec, Timestamps, UTIME_NOW};
use rustix::io::Errno;
use std::ffi::{OsStr, OsString};
use std::io;
use std::os::unix::ffi::OsStringExt as _;
use std::path::PathBuf;

/// What stands at a name. A link is told from what it points to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Entry {
    File,
    Directory,
    Link,
    /// A pipe, a socket, a device.
    Other,
}

/// Something could not be moved; it is where it was.
#[derive(Debug, thiserror::Error)]
pub enum MoveError {
    #[error("`{0}` is not one plain name")]
    BadName(PathBuf),
    #[error("`{0}` already exists")]
    Taken(PathBuf),
    #[error("cannot move `{from}` to `{to}`")]
    Move {
        from: PathBuf,
        to: PathBuf,
        #[source]
        source: io::Error,
    },
    /// It was moved, and may be back in its old place after a power cut.
    #[error(transparent)]
    Sync(DirError),
}

/// A link could not be pointed; what stood at its name stands there still.
#[derive(Debug, thiserror::Error)]
pub enum LinkError {
    #[error("`{0}` is not one plain name")]
    BadName(PathBuf),
    /// This file system, or this user, cannot make any.
    #[error("symbolic links cannot be made in the directory of `{0}`")]
    Unsupported(PathBuf, #[source] io::Error),
    #[error("cannot make the link `{0}`")]
    Make(PathBuf, #[source] io::Error),
    /// A directory stands there, for example.
    #[error("cannot give the link `{0}` its name")]
    Name(PathBuf, #[source] io::Error),
    /// The link has its name now, and may lose it again at a power cut.
    #[error("cannot sync the directory of `{0}`")]
    Sync(PathBuf, #[source] io::Error),
}

impl Dir {
    /// Opens a directory directly in this one, made if it is missing with the mode that the umask leaves. For what
    /// people keep in a repository; what is ours alone is made by [`Dir::create_dir`].
    pub fn make_dir(&self, name: impl AsRef<OsStr>) -> Result<Self, DirError> {
        let name = name.as_ref();
        if !is_plain(name) {
            return Err(DirError::NotBeneath(self.path().join(name)));
        }
        match rustix::fs::mkdirat(self, name, Mode::RWXU | Mode::RWXG | Mode::RWXO) {
            Ok(()) => self.sync()?,
            Err(Errno::EXIST) => {}
            Err(errno) => return Err(at(&self.path().join(name), DirError::Create)(errno)),
        }
        self.dir(name)
    }

    /// What stands at a name directly in this directory; none if nothing does.
    pub fn entry(&self, name: impl AsRef<OsStr>) -> Result<Option<Entry>, DirError> {
        let name = name.as_ref();
        if !is_plain(name) {
            return Err(DirError::NotBeneath(self.path().join(name)));
        }
        match rustix::fs::statat(self, name, AtFlags::SYMLINK_NOFOLLOW) {
            Ok(status) => Ok(Some(Entry::of(FileType::from_raw_mode(status.st_mode)))),
            Err(Errno::NOENT) => Ok(None),
            Err(errno) => Err(at(&self.path().join(name), DirError::Open)(errno)),
        }
    }

    /// Marks what stands at a name as used now, for whoever clears away what is old; whether anything stands there.
    pub fn touch(&self, name: impl AsRef<OsStr>) -> Result<bool, DirError> {
        let name = name.as_ref();
        if !is_plain(name) {
            return Err(DirError::NotBeneath(self.path().join(name)));
        }
        let now = Timespec {
            tv_sec: 0,
            tv_nsec: UTIME_NOW,
        };
        let times = Timestamps {
            last_access: now,
            last_modification: now,
        };
        match rustix::fs::utimensat(self, name, &times, AtFlags::SYMLINK_NOFOLLOW) {
            Ok(()) => Ok(true),
            Err(Errno::NOENT) => Ok(false),
            Err(errno) => Err(at(&self.path().join(name), DirError::Open)(errno)),
        }
    }

    /// Where a link directly in this directory points; none if there is no link at the name.
    pub fn link_target(&self, name: impl AsRef<OsStr>) -> Result<Option<OsString>, DirError> {
        let name = name.as_ref();
        if !is_plain(name) {
            return Err(DirError::NotBeneath(self.path().join(name)));
        }
        match rustix::fs::readlinkat(self, name, Vec::new()) {
            Ok(target) => Ok(Some(OsString::from_vec(target.into_bytes()))),
            Err(Errno::NOENT | Errno::INVAL) => Ok(None),
            Err(errno) => Err(at(&self.path().join(name), DirError::Read)(errno)),
        }
    }

    /// Moves what stands at `name` to `new_name` in `to`, unless something has that name.
    pub fn move_new(
        &self,
        name: impl AsRef<OsStr>,
        to: &Self,
        new_name: impl AsRef<OsStr>,
    ) -> Result<(), MoveError> {
        let (name, new_name) = (name.as_ref(), new_name.as_ref());
        let (from_path, to_path) = (self.path().join(name), to.path().join(new_name));
        if !is_plain(name) {
            return Err(MoveError::BadName(from_path));
        }
        if !is_plain(new_name) {
            return Err(MoveError::BadName(to_path));
        }
        match self.rename_new(name, to, new_name) {
            Ok(()) => {}
            Err(Errno::EXIST | Errno::NOTEMPTY) => return Err(MoveError::Taken(to_path)),
            Err(errno) => {
                return Err(MoveError::Move {
                    from: from_path,
                    to: to_path,
                    source: errno.into(),
                });
            }
        }
        to.sync()
            .and_then(|()| self.sync())
            .map_err(MoveError::Sync)
    }

    fn rename_new(&self, name: &OsStr, to: &Self, new_name: &OsStr) -> rustix::io::Result<()> {
        match rustix::fs::renameat_with(self, name, to, new_name, RenameFlags::NOREPLACE) {
            // Some file systems cannot rename so. Looking first leaves a gap, which callers close with a lock.
            Err(Errno::INVAL | Errno::NOSYS) => {
                match rustix::fs::statat(to, new_name, AtFlags::SYMLINK_NOFOLLOW) {
                    Ok(_) => Err(Errno::EXIST),
                    Err(Errno::NOENT) => rustix::fs::renameat(self, name, to, new_name),
                    Err(errno) => Err(errno),
                }
            }
            done => done,
        }
    }

    /// Points the link at `name` to `target`, making it or replacing whatever file or link was there. Whoever looks
    /// finds the old one or the new one, never none.
    ///
    /// Callers take turns by a lock of their own: the temporary name is always the same, so that what a killed
    /// caller left is used up by the next one instead of staying for ever.
    pub fn point_link(&self, name: &str, target: &str) -> Result<(), LinkError> {
        let path = self.path().join(name);
        if !is_plain(OsStr::new(name)) {
            return Err(LinkError::BadName(path));
        }
        let temporary = format!(".{name}.0000000000000000.tmp");
        let made = match rustix::fs::symlinkat(target, self, &temporary) {
            Err(Errno::EXIST) => rustix::fs::unlinkat(self, &temporary, AtFlags::empty())
                .and_then(|()| rustix::fs::symlinkat(target, self, &temporary)),
            made => made,
        };
        match made {
            Ok(()) => {}
            Err(errno @ (Errno::PERM | Errno::OPNOTSUPP | Errno::NOSYS)) => {
                return Err(LinkError::Unsupported(path, errno.into()));
            }
            Err(errno) => return Err(LinkError::Make(path, errno.into())),
        }
        if let Err(errno) = rustix::fs::renameat(self, &temporary, self, name) {
            // It stays hidden and is used up by the next call if it cannot be removed either.
            rustix::fs::unlinkat(self, &temporary, AtFlags::empty()).ok();
            return Err(LinkError::Name(path, errno.into()));
        }
        rustix::fs::fsync(self).map_err(at(&path, LinkError::Sync))
    }
}

impl Entry {
    const fn of(file_type: FileType) -> Self {
        match file_type {
            FileType::RegularFile => Self::File,
            FileType::Directory => Self::Directory,
            FileType::Symlink => Self::Link,
            FileType::Fifo
            | FileType::Socket
            | FileType::CharacterDevice
            | FileType::BlockDevice
            | FileType::Unknown => Self::Other,
        }
    }
}
