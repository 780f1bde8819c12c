//! The socket of a holder: only its user may connect.

use std::io;
use std::os::fd::{AsFd, BorrowedFd};
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::{Path, PathBuf};

use handoff_files::Dir;
use rustix::fs::Mode;
use rustix::net::sockopt::socket_peercred;
use rustix::process::umask;

use crate::client::short;

/// A socket in a private directory, removed when it is closed.
pub(super) struct Socket {
    listener: UnixListener,
    directory: Dir,
    name: String,
}

impl Socket {
    /// Opens a socket with a new name in the first of these directories that will do.
    pub(super) fn open(places: &[PathBuf], name: &str) -> io::Result<Self> {
        let mut failure = io::Error::from(io::ErrorKind::NotFound);
        for place in places {
            match Self::open_in(place, name) {
                Ok(socket) => return Ok(socket),
                Err(error) => failure = error,
            }
        }
        Err(failure)
    }

    fn open_in(place: &Path, name: &str) -> io::Result<Self> {
        let directory = Dir::create_private(place).map_err(io::Error::other)?;
        let path = short(&directory).join(name);
        let listener = bind(&path)?;
        listener.set_nonblocking(true)?;
        Ok(Self {
            listener,
            directory,
            name: name.to_owned(),
        })
    }

    pub(super) fn path(&self) -> PathBuf {
        self.directory.path().join(&self.name)
    }

    /// The next one who waits and is who we are.
    pub(super) fn accept(&self) -> Option<UnixStream> {
        while let Ok((stream, _)) = self.listener.accept() {
            let is_own =
                socket_peercred(&stream).is_ok_and(|it| it.uid == rustix::process::geteuid());
            if is_own && stream.set_nonblocking(true).is_ok() {
                return Some(stream);
            }
        }
        None
    }

    /// Nobody finds it any more.
    pub(super) fn close(&self) {
        // A name that stays behind is refused by the kernel to all who try it.
        self.directory.remove(&self.name).ok();
    }
}

/// Nobody else may open it from its first moment on. The mask is the whole process's, which has one thread.
fn bind(path: &Path) -> io::Result<UnixListener> {
    let before = umask(Mode::RWXG | Mode::RWXO | Mode::XUSR);
    let bound = UnixListener::bind(path);
    umask(before);
    bound
}

impl Drop for Socket {
    fn drop(&mut self) {
        self.close();
    }
}

impl AsFd for Socket {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.listener.as_fd()
    }
}
