//! Waiting for a file to be written, or for a directory to change, by inotify.
//!
//! A [`Watch`] hears every close of a file that was open for writing. The lock of
//! [`crate::lock`] is such a file, so a watch on it hears each release, and each death of a
//! holder. One wake-up serves any number of changes: what is queued is drained at once, so the
//! caller looks *after* waking and misses nothing that was written before it looked.
//!
//! A watch is on the file, not on its name: a file replaced by [`crate::atomic::replace`] is
//! another file, and the watch says [`Wake::Gone`]. Watching directories instead hears replaced files
//! too. It never watches trees, never polls on a timer, and follows no symbolic link to a file. Where the kernel has no watches left the
//! error says so, and falling back to polling is the caller's decision.

use crate::failure::at;
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::fd::{AsFd, BorrowedFd, OwnedFd};
use rustix::fs::inotify::{self, CreateFlags, ReadFlags, WatchFlags};
use rustix::io::Errno;
use std::io;
use std::mem::MaybeUninit;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// A file under watch.
#[derive(Debug)]
pub struct Watch {
    queue: OwnedFd,
    path: PathBuf,
}

/// Why [`Watch::wait`] returned.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Wake {
    /// Somebody who could write has closed the file since the last wake-up.
    Changed,
    TimedOut,
    /// A signal handler ran. Only the caller has a clock to say how much waiting is left.
    Interrupted,
    /// The file was deleted, moved or unmounted: this watch will never wake again.
    Gone,
}

/// A file cannot be watched.
#[derive(Debug, thiserror::Error)]
pub enum WatchError {
    /// Poll instead: the kernel's limit on watches, instances or descriptors is reached.
    #[error("no inotify watch is left for `{0}`")]
    Exhausted(PathBuf, #[source] io::Error),
    #[error("cannot watch `{0}`")]
    Watch(PathBuf, #[source] io::Error),
    #[error("cannot wait for changes of `{0}`")]
    Wait(PathBuf, #[source] io::Error),
}

impl Watch {
    /// Hears every change of the file at `path` from now on.
    pub fn on(path: &Path) -> Result<Self, WatchError> {
        let watch = Self::deaf(path)?;
        watch.add_file(path)?;
        Ok(watch)
    }

    /// Hears every write to the file at `path` from now on, and not only the close that follows: for a file that
    /// somebody keeps open and appends to.
    pub fn on_growth(path: &Path) -> Result<Self, WatchError> {
        let watch = Self::on(path)?;
        let events = WatchFlags::MODIFY | WatchFlags::MASK_ADD;
        inotify::add_watch(&watch.queue, path, events | WatchFlags::DONT_FOLLOW)
            .map_err(|errno| cannot_watch(path, errno))?;
        Ok(watch)
    }

    /// Hears nothing yet; `path` is for errors.
    fn deaf(path: &Path) -> Result<Self, WatchError> {
        let queue = inotify::init(CreateFlags::CLOEXEC | CreateFlags::NONBLOCK)
            .map_err(|errno| cannot_watch(path, errno))?;
        Ok(Self {
            queue,
            path: path.to_path_buf(),
        })
    }

    /// Hears every change of the names in these directories, and of the files in them, from now on.
    /// Files may come and go and be replaced; [`Wake::Gone`] means that a directory is gone.
    pub fn on_directories(paths: &[&Path]) -> Result<Self, WatchError> {
        let watch = Self::deaf(paths.first().copied().unwrap_or(Path::new(".")))?;
        let events = WatchFlags::CLOSE_WRITE
            | WatchFlags::CREATE
            | WatchFlags::DELETE
            | WatchFlags::MOVED_FROM
            | WatchFlags::MOVED_TO
            | WatchFlags::DELETE_SELF
            | WatchFlags::MOVE_SELF
            | WatchFlags::ONLYDIR;
        for path in paths {
            inotify::add_watch(&watch.queue, *path, events)
                .map_err(|errno| cannot_watch(path, errno))?;
        }
        Ok(watch)
    }

    /// Hears everything that happens in the directory of the file at `path`, each write too, so that nothing that happens to the
    /// file is missed whether it is there already or not.
    pub fn on_name(path: &Path) -> Result<Self, WatchError> {
        let directory = path.parent().unwrap_or(Path::new("."));
        let watch = Self::on_directories(&[directory])?;
        let events = WatchFlags::MODIFY | WatchFlags::MASK_ADD | WatchFlags::ONLYDIR;
        inotify::add_watch(&watch.queue, directory, events)
            .map_err(|errno| cannot_watch(directory, errno))?;
        Ok(watch)
    }

    /// Hears changes of the file at `path` as well.
    pub fn also_on(self, path: &Path) -> Result<Self, WatchError> {
        self.add_file(path)?;
        Ok(self)
    }

    fn add_file(&self, path: &Path) -> Result<(), WatchError> {
        let events = WatchFlags::CLOSE_WRITE | WatchFlags::DELETE_SELF | WatchFlags::MOVE_SELF;
        inotify::add_watch(&self.queue, path, events | WatchFlags::DONT_FOLLOW)
            .map(drop)
            .map_err(|errno| cannot_watch(path, errno))
    }

    /// Waits for a change, without end if there is no `timeout`, and not at all if it is zero.
    ///
    /// A caller that polls the descriptor in a loop of its own calls this with a zero timeout
    /// when it becomes readable.
    pub fn wait(&mut self, timeout: Option<Duration>) -> Result<Wake, WatchError> {
        // A span too long for the kernel's type is as good as no end.
        let timeout = timeout.and_then(|timeout| Timespec::try_from(timeout).ok());
        let mut fds = [PollFd::new(&self.queue, PollFlags::IN)];
        match poll(&mut fds, timeout.as_ref()) {
            Ok(0) => Ok(Wake::TimedOut),
            Ok(_) => self.drain(),
            Err(Errno::INTR) => Ok(Wake::Interrupted),
            Err(errno) => Err(at(&self.path, WatchError::Wait)(errno)),
        }
    }

    fn drain(&mut self) -> Result<Wake, WatchError> {
        let mut buffer = [MaybeUninit::uninit(); 1024];
        let mut events = inotify::Reader::new(&self.queue, &mut buffer);
        let mut wake = Wake::Changed;
        loop {
            match events.next() {
                Ok(event) if ends_watch(event.events()) => wake = Wake::Gone,
                // An overflowed queue is a change too: events were lost, so look.
                Ok(_) | Err(Errno::INTR) => {}
                Err(Errno::AGAIN) => return Ok(wake),
                Err(errno) => return Err(at(&self.path, WatchError::Wait)(errno)),
            }
        }
    }
}

impl AsFd for Watch {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.queue.as_fd()
    }
}

fn ends_watch(events: ReadFlags) -> bool {
    events.intersects(
        ReadFlags::DELETE_SELF | ReadFlags::MOVE_SELF | ReadFlags::UNMOUNT | ReadFlags::IGNORED,
    )
}

fn cannot_watch(path: &Path, errno: Errno) -> WatchError {
    match errno {
        Errno::NOSPC | Errno::MFILE | Errno::NFILE | Errno::NOMEM => {
            at(path, WatchError::Exhausted)(errno)
        }
        _ => at(path, WatchError::Watch)(errno),
    }
}
