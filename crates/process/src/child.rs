//! A running program.
//!
//! It leads a process group, and the group ends with it: by [`Child::end`], by dropping the
//! [`Child`], or when the program itself has ended and left others behind. The group is signalled
//! only while its leader is unreaped, so that its number cannot belong to a stranger. A process
//! that left the group (`setsid`) is out of reach here.
//!
//! Nothing polls: waiting sleeps until the program prints, ends or runs out of time. While nobody
//! waits for it, it can print a pipe's worth and then stands still.

use std::io;
use std::os::fd::AsFd as _;
use std::time::Duration;

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::Errno;
use rustix::process::{Signal, pidfd_send_signal};

use crate::capture::{Captured, Stream};
use crate::clock;
use crate::exit::Exit;
use crate::identity::Identity;
use crate::pipe::{Pipe, PipeError};
use crate::process::Process;

/// A program that was started here. Dropping it ends it.
#[derive(Debug)]
pub struct Child {
    process: Process,
    watch: Watch,
    state: State,
}

/// What we hold of a running program.
#[derive(Debug)]
pub(crate) struct Watch {
    pub(crate) identity: Identity,
    pub(crate) stdout: Pipe,
    pub(crate) stderr: Pipe,
}

#[derive(Debug, Clone, Copy)]
enum State {
    Running,
    Ended(Exit),
}

/// Waiting for a program, or ending it, failed.
#[derive(Debug, thiserror::Error)]
pub enum WaitError {
    /// It printed more than the whole that was allowed, and was ended.
    #[error("the program printed more than {limit} bytes to its {stream}")]
    TooMuch {
        /// Where to.
        stream: Stream,
        /// What was allowed.
        limit: usize,
    },
    /// Its end could not be waited for.
    #[error("cannot wait for process {0}")]
    Wait(u32, #[source] io::Error),
    /// What it prints could not be read.
    #[error("cannot read what process {0} prints")]
    Read(u32, #[source] io::Error),
    /// Its group could not be ended.
    #[error("cannot end the group of process {0}")]
    Kill(u32, #[source] io::Error),
}

impl Child {
    pub(crate) const fn new(process: Process, watch: Watch) -> Self {
        Self {
            process,
            watch,
            state: State::Running,
        }
    }

    /// Which process it is.
    #[must_use]
    pub const fn identity(&self) -> Identity {
        self.watch.identity
    }

    /// What it has printed to standard output, as far as it was waited for.
    #[must_use]
    pub const fn stdout(&self) -> &Captured {
        self.watch.stdout.captured()
    }

    /// The same for standard error.
    #[must_use]
    pub const fn stderr(&self) -> &Captured {
        self.watch.stderr.captured()
    }

    /// Waits until the program has ended, or for `timeout` of waking time; without one, for ever.
    ///
    /// After [`Exit::TimedOut`] it still runs and may be waited for again.
    pub fn wait(&mut self, timeout: Option<Duration>) -> Result<Exit, WaitError> {
        let deadline = timeout.and_then(|timeout| clock::awake().checked_add(timeout));
        loop {
            if let State::Ended(exit) = self.state {
                return Ok(exit);
            }
            let remaining = deadline.map(|deadline| deadline.saturating_sub(clock::awake()));
            match self.sleep(remaining)? {
                Wake::Exited => self.finish()?,
                // A flood must not keep us beyond the time.
                Wake::Printed | Wake::Nothing if remaining == Some(Duration::ZERO) => {
                    return Ok(Exit::TimedOut);
                }
                Wake::Printed => self.read(Pipe::read_some)?,
                Wake::Nothing => {}
            }
        }
    }

    /// Become readable when it prints or ends: for one who waits for several things, and then [waits](Self::wait) for no
    /// time.
    pub fn poll_fds(&self) -> Vec<PollFd<'_>> {
        let pipes = [&self.watch.stdout, &self.watch.stderr];
        let ends = pipes.into_iter().filter_map(Pipe::open_end);
        std::iter::once(self.process.pidfd.as_fd())
            .chain(ends)
            .map(|fd| PollFd::from_borrowed_fd(fd, PollFlags::IN))
            .collect()
    }

    /// Asks the program to end, and nothing that it started: for one that ends those by itself.
    pub fn ask_to_end(&self) -> Result<(), WaitError> {
        let asked = pidfd_send_signal(&self.process.pidfd, Signal::TERM);
        match (self.state, asked) {
            (State::Ended(_), _) | (State::Running, Ok(()) | Err(Errno::SRCH)) => Ok(()),
            (State::Running, Err(errno)) => Err(WaitError::Kill(self.identity().pid, errno.into())),
        }
    }

    /// Kills the program and everything in its group.
    pub fn end(&mut self) -> Result<Exit, WaitError> {
        if let State::Ended(exit) = self.state {
            return Ok(exit);
        }
        self.kill_group()?;
        self.wait(None)
    }

    fn sleep(&self, remaining: Option<Duration>) -> Result<Wake, WaitError> {
        let timeout = remaining.and_then(|remaining| Timespec::try_from(remaining).ok());
        let mut fds = self.poll_fds();
        match poll(&mut fds, timeout.as_ref()) {
            Ok(0) | Err(Errno::INTR) => Ok(Wake::Nothing),
            Ok(_) if fds[0].revents().is_empty() => Ok(Wake::Printed),
            Ok(_) => Ok(Wake::Exited),
            Err(errno) => Err(WaitError::Wait(self.identity().pid, errno.into())),
        }
    }

    /// The leader has ended: ends what is left of its group and then reaps it, in this order.
    fn finish(&mut self) -> Result<(), WaitError> {
        self.kill_group()?;
        let reaped = self.process.reap();
        let exit = reaped.map_err(|e| WaitError::Wait(self.identity().pid, e))?;
        self.state = State::Ended(exit);
        self.read(Pipe::read_rest)
    }

    fn kill_group(&self) -> Result<(), WaitError> {
        match self.process.kill_group() {
            Err(error) if Errno::from_io_error(&error) != Some(Errno::SRCH) => {
                Err(WaitError::Kill(self.identity().pid, error))
            }
            Ok(()) | Err(_) => Ok(()),
        }
    }

    fn read<T>(&mut self, how: fn(&mut Pipe) -> Result<T, PipeError>) -> Result<(), WaitError> {
        for stream in [Stream::Stdout, Stream::Stderr] {
            let pipe = match stream {
                Stream::Stdout => &mut self.watch.stdout,
                Stream::Stderr => &mut self.watch.stderr,
            };
            match how(pipe) {
                Ok(_) => {}
                Err(PipeError::Read(error)) => {
                    return Err(WaitError::Read(self.identity().pid, error));
                }
                Err(PipeError::Overflow(overflow)) => {
                    self.watch.stdout.close();
                    self.watch.stderr.close();
                    self.end()?;
                    return Err(WaitError::TooMuch {
                        stream,
                        limit: overflow.limit,
                    });
                }
            }
        }
        Ok(())
    }
}

#[derive(Debug, Clone, Copy)]
enum Wake {
    Exited,
    Printed,
    Nothing,
}

impl Drop for Child {
    fn drop(&mut self) {
        // Nobody is left to hear of a failure, and the kernel ends it with our thread.
        self.end().ok();
    }
}
