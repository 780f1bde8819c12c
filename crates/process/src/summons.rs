//! Being told to end by a signal, as something to poll.
//!
//! The signals get a handler and are not blocked: a handler goes with `exec`, a mask would be inherited by every program that is
//! started from here.

use std::io::{self, Read as _};
use std::os::fd::{AsFd, BorrowedFd};
use std::os::unix::net::UnixStream;

use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
use signal_hook::low_level::pipe;

/// Signals that ask a process to end, from [`Summons::listen`] on. They no longer end it by themselves.
#[derive(Debug)]
pub struct Summons {
    heard: UnixStream,
}

/// Whether there was a signal.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Summoned {
    /// None since the last look.
    No,
    /// At least one.
    Yes,
}

impl Summons {
    /// Listens to HUP, INT and TERM, for the rest of the process.
    pub fn listen() -> io::Result<Self> {
        let (heard, told) = UnixStream::pair()?;
        heard.set_nonblocking(true)?;
        for signal in [SIGHUP, SIGINT, SIGTERM] {
            pipe::register(signal, told.try_clone()?)?;
        }
        Ok(Self { heard })
    }

    /// Whether there was a signal since the last look.
    pub fn take(&mut self) -> Summoned {
        // More of them than this at once are told by the next look.
        let mut buffer = [0; 64];
        match self.heard.read(&mut buffer) {
            Ok(1..) => Summoned::Yes,
            Ok(0) | Err(_) => Summoned::No,
        }
    }
}

impl AsFd for Summons {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.heard.as_fd()
    }
}

#[cfg(test)]
mod tests {
    use rustix::process::{Signal, getpid, kill_process};

    use super::*;

    #[test]
    fn a_signal_is_told_once_and_ends_nothing() {
        let mut summons = Summons::listen().unwrap();
        assert_eq!(summons.take(), Summoned::No);
        // To this very thread's process, and so handled before the call returns or soon after.
        kill_process(getpid(), Signal::TERM).unwrap();
        let mut fds = [rustix::event::PollFd::new(
            &summons,
            rustix::event::PollFlags::IN,
        )];
        while rustix::event::poll(&mut fds, None).is_err() {}
        assert_eq!(summons.take(), Summoned::Yes);
        assert_eq!(summons.take(), Summoned::No);
    }
}
