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
    bustle: Option<Bustle>,
}

/// A file that changes more often than anybody wants to hear of it.
#[derive(Debug)]
struct Bustle {
    path: PathBuf,
    /// Its number in the queue.
    number: i32,
    /// How long further changes of it may wait once one was heard.
    pause: Duration,
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
            bustle: None,
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
        self.add(path)?;
        Ok(self)
    }

    /// Hears changes of the file at `path` as well, from now on.
    pub fn add(&self, path: &Path) -> Result<(), WatchError> {
        self.add_file(path).map(drop)
    }

    /// Hears changes of the file at `path` as well, but not each by itself: when nothing else happens, a change of it is
    /// passed on with all that follow within `pause`. For a file that many change, and in which little concerns us.
    pub fn also_on_bustle(mut self, path: &Path, pause: Duration) -> Result<Self, WatchError> {
        self.bustle = Some(Bustle {
            path: path.to_path_buf(),
            number: self.add_file(path)?,
            pause,
        });
        Ok(self)
    }

    fn add_file(&self, path: &Path) -> Result<i32, WatchError> {
        let events = WatchFlags::CLOSE_WRITE | WatchFlags::DELETE_SELF | WatchFlags::MOVE_SELF;
        inotify::add_watch(&self.queue, path, events | WatchFlags::DONT_FOLLOW)
            .map_err(|errno| cannot_watch(path, errno))
    }

    /// Waits for a change, without end if there is no `timeout`, and not at all if it is zero. One who hears a busy file at the end of
    /// that time waits for its pause as well.
    ///
    /// A caller that polls the descriptor in a loop of its own calls this with a zero timeout
    /// when it becomes readable.
    pub fn wait(&mut self, timeout: Option<Duration>) -> Result<Wake, WatchError> {
        match self.listen(timeout)? {
            Heard::Nothing(wake) | Heard::Something(wake) => Ok(wake),
            Heard::Bustle => self.let_pass(timeout),
        }
    }

    fn listen(&self, timeout: Option<Duration>) -> Result<Heard, WatchError> {
        // A span too long for the kernel's type is as good as no end.
        let timeout = timeout.and_then(|timeout| Timespec::try_from(timeout).ok());
        let mut fds = [PollFd::new(&self.queue, PollFlags::IN)];
        match poll(&mut fds, timeout.as_ref()) {
            Ok(0) => Ok(Heard::Nothing(Wake::TimedOut)),
            Ok(_) => self.drain(),
            Err(Errno::INTR) => Ok(Heard::Nothing(Wake::Interrupted)),
            Err(errno) => Err(at(&self.path, WatchError::Wait)(errno)),
        }
    }

    /// Does not hear the busy file for a while, unless there is no time for that. The caller looks after it is heard again. After
    /// an error it is not heard any more.
    fn let_pass(&mut self, timeout: Option<Duration>) -> Result<Wake, WatchError> {
        let Some(bustle) = &self.bustle else {
            return Ok(Wake::Changed);
        };
        let pause = timeout.map_or(bustle.pause, |timeout| timeout.min(bustle.pause));
        let path = bustle.path.clone();
        // One that is gone already cannot be taken off; that it is gone is found out when it is to be put on again.
        inotify::remove_watch(&self.queue, bustle.number).ok();
        // The kernel has said at once that it is taken off.
        let heard = match self.drain()? {
            Heard::Bustle | Heard::Nothing(_) => self.listen(Some(pause))?,
            heard @ Heard::Something(_) => heard,
        };
        let number = self.add_file(&path)?;
        if let Some(bustle) = &mut self.bustle {
            bustle.number = number;
        }
        match heard {
            Heard::Something(wake) => Ok(wake),
            Heard::Nothing(_) | Heard::Bustle => Ok(Wake::Changed),
        }
    }

    fn drain(&self) -> Result<Heard, WatchError> {
        let mut buffer = [MaybeUninit::uninit(); 1024];
        let mut events = inotify::Reader::new(&self.queue, &mut buffer);
        let bustle = self.bustle.as_ref().map(|it| it.number);
        let mut heard = Heard::Bustle;
        loop {
            match events.next() {
                Ok(event) if Some(event.wd()) == bustle && !is_gone(event.events()) => {}
                Ok(event) if ends_watch(event.events()) => heard = Heard::Something(Wake::Gone),
                // An overflowed queue is a change too: events were lost, so look.
                Ok(_) if heard == Heard::Bustle => heard = Heard::Something(Wake::Changed),
                Ok(_) => {}
                Err(Errno::INTR) => {}
                Err(Errno::AGAIN) => return Ok(heard),
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

/// What was in the queue.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Heard {
    Nothing(Wake),
    /// Changes of the busy file, and no others.
    Bustle,
    Something(Wake),
}

fn ends_watch(events: ReadFlags) -> bool {
    is_gone(events) || events.contains(ReadFlags::IGNORED)
}

/// The watch on the busy file is taken off now and then, and the kernel says so; that is not its end.
fn is_gone(events: ReadFlags) -> bool {
    events.intersects(ReadFlags::DELETE_SELF | ReadFlags::MOVE_SELF | ReadFlags::UNMOUNT)
}

fn cannot_watch(path: &Path, errno: Errno) -> WatchError {
    match errno {
        Errno::NOSPC | Errno::MFILE | Errno::NFILE | Errno::NOMEM => {
            at(path, WatchError::Exhausted)(errno)
        }
        _ => at(path, WatchError::Watch)(errno),
    }
}
