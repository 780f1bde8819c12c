//! A program on a pseudo-terminal of its own.
//!
//! The program leads a session whose controlling terminal this is, and is killed when the thread
//! that started it ends. Reading and writing never block: the owner polls [`Terminal::line`] and
//! [`Terminal::process`] in a loop of its own.
//!
//! We keep the program's side open too. Otherwise a program that closes its descriptors for a
//! moment would look like the end of the terminal, and the end is told by the process alone.

use std::fs::File;
use std::io::{self, Read as _, Write as _};
use std::os::fd::{AsFd as _, BorrowedFd, OwnedFd};
use std::os::unix::process::CommandExt as _;
use std::process::{Command, Stdio};

use rustix::fs::{OFlags, fcntl_getfl, fcntl_setfl};
use rustix::process::{
    PidfdFlags, Signal, WaitOptions, WaitStatus, ioctl_tiocsctty, pidfd_open, pidfd_send_signal,
    setsid, waitpid,
};
use rustix::pty::{OpenptFlags, grantpt, ioctl_tiocgptpeer, openpt, unlockpt};
use rustix::termios::{LocalModes, Winsize, tcgetattr, tcgetpgrp, tcsetwinsize};

use crate::exit::Exit;
use crate::identity::Identity;
use crate::launch::{StartError, bare, die_with_starter};
use crate::process::group;
use crate::program::Program;

/// How many characters a terminal shows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Size {
    /// Lines.
    pub rows: u16,
    /// Characters in a line.
    pub columns: u16,
}

impl Size {
    /// For a terminal that nobody looks at: wide enough that programs do not wrap what they say.
    pub const DETACHED: Self = Self {
        rows: 50,
        columns: 200,
    };
    const LONGEST_SIDE: u16 = 1000;
    /// Twice what the largest screens show in the smallest letters. Whoever draws a terminal has memory for every character.
    const MOST_CHARACTERS: u32 = 250_000;

    /// Whether a terminal can be this large.
    #[must_use]
    pub fn is_possible(self) -> bool {
        self.rows > 0 && self.columns > 0 && self == self.bounded()
    }

    /// As much of it as is possible.
    #[must_use]
    pub fn bounded(self) -> Self {
        let columns = self.columns.min(Self::LONGEST_SIDE);
        let fitting = Self::MOST_CHARACTERS / u32::from(columns).max(1);
        let fitting = u16::try_from(fitting).unwrap_or(u16::MAX);
        let rows = self.rows.min(Self::LONGEST_SIDE).min(fitting);
        Self { rows, columns }
    }
}

/// What one look at a terminal found.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Reading {
    /// So many bytes.
    Some(usize),
    /// Nothing now.
    Nothing,
}

/// A program on a terminal. Dropping it kills the program.
#[derive(Debug)]
pub struct Terminal {
    line: File,
    /// Held so that the terminal lives as long as we do.
    _other_side: OwnedFd,
    pidfd: OwnedFd,
    identity: Identity,
    exit: Option<Exit>,
}

/// A program could not be put on a terminal.
#[derive(Debug, thiserror::Error)]
pub enum TerminalError {
    /// The machine gives no pseudo-terminal.
    #[error("cannot open a pseudo-terminal")]
    Open(#[source] io::Error),
    /// The program did not start.
    #[error(transparent)]
    Start(#[from] StartError),
}

impl Terminal {
    /// Starts a program on a terminal of this size. What it prints is not captured, and its input
    /// is the terminal.
    pub fn start(program: &Program, size: Size) -> Result<Self, TerminalError> {
        let (line, other_side) = open(size).map_err(TerminalError::Open)?;
        let mut command = command(program, &other_side)?;
        let process = command.spawn().map_err(|source| StartError::Start {
            name: program.name.clone(),
            cwd: program.cwd.clone(),
            source,
        })?;
        let watch = |error: io::Error| StartError::Watch(program.name.clone(), error);
        let pidfd = pidfd_open(group(process.id()), PidfdFlags::empty());
        Ok(Self {
            line: line.into(),
            _other_side: other_side,
            pidfd: pidfd.map_err(|errno| watch(errno.into()))?,
            identity: Identity::read(process.id()).map_err(watch)?,
            exit: None,
        })
    }

    /// Which process the program is.
    #[must_use]
    pub const fn identity(&self) -> Identity {
        self.identity
    }

    /// Becomes readable when the program prints, writable when it takes input.
    #[must_use]
    pub fn line(&self) -> BorrowedFd<'_> {
        self.line.as_fd()
    }

    /// Becomes readable when the program ends.
    #[must_use]
    pub fn process(&self) -> BorrowedFd<'_> {
        self.pidfd.as_fd()
    }

    /// Takes what the program has printed.
    pub fn read(&mut self, buffer: &mut [u8]) -> io::Result<Reading> {
        match self.line.read(buffer) {
            Ok(0) => Ok(Reading::Nothing),
            Ok(length) => Ok(Reading::Some(length)),
            Err(error) if is_nothing(&error) => Ok(Reading::Nothing),
            Err(error) => Err(error),
        }
    }

    /// Types these bytes, as many as the terminal takes now.
    pub fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match self.line.write(bytes) {
            Err(error) if is_nothing(&error) => Ok(0),
            written => written,
        }
    }

    /// Changes the size and tells the program.
    pub fn resize(&self, size: Size) -> io::Result<()> {
        Ok(tcsetwinsize(&self.line, size.into())?)
    }

    /// The process group that reads the keyboard now.
    #[must_use]
    pub fn foreground(&self) -> Option<u32> {
        let group = tcgetpgrp(&self.line).ok()?;
        u32::try_from(group.as_raw_nonzero().get()).ok()
    }

    /// Whether the terminal hands the program whole lines. It drops what is too long for one.
    #[must_use]
    pub fn is_line_wise(&self) -> bool {
        tcgetattr(&self.line).is_ok_and(|it| it.local_modes.contains(LocalModes::ICANON))
    }

    /// How the program ended, if it has; it is reaped by that.
    pub fn exit(&mut self) -> io::Result<Option<Exit>> {
        if self.exit.is_none()
            && let Some((_, status)) = waitpid(Some(group(self.identity.pid)), WaitOptions::NOHANG)?
        {
            self.exit = exit_of(status);
        }
        Ok(self.exit)
    }
}

impl Drop for Terminal {
    fn drop(&mut self) {
        if self.exit.is_none() {
            // Nobody is left to hear of a failure, and the kernel ends it with our thread.
            pidfd_send_signal(&self.pidfd, Signal::KILL).ok();
            waitpid(Some(group(self.identity.pid)), WaitOptions::empty()).ok();
        }
    }
}

impl From<Size> for Winsize {
    fn from(size: Size) -> Self {
        Self {
            ws_row: size.rows,
            ws_col: size.columns,
            ws_xpixel: 0,
            ws_ypixel: 0,
        }
    }
}

/// Our side and the program's side of a new terminal.
fn open(size: Size) -> io::Result<(OwnedFd, OwnedFd)> {
    let line = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY | OpenptFlags::CLOEXEC)?;
    grantpt(&line)?;
    unlockpt(&line)?;
    tcsetwinsize(&line, size.into())?;
    // By the descriptor and not by its name: the name may mean another one in our namespace.
    let flags = OpenptFlags::RDWR | OpenptFlags::NOCTTY | OpenptFlags::CLOEXEC;
    let other_side = ioctl_tiocgptpeer(&line, flags)?;
    fcntl_setfl(&line, fcntl_getfl(&line)? | OFlags::NONBLOCK)?;
    Ok((line, other_side))
}

fn command(program: &Program, terminal: &OwnedFd) -> Result<Command, TerminalError> {
    let mut command = bare(program)?;
    let copy = || terminal.try_clone().map_err(TerminalError::Open);
    command
        .stdin(Stdio::from(copy()?))
        .stdout(Stdio::from(copy()?))
        .stderr(Stdio::from(copy()?));
    die_with_starter(&mut command);
    own_terminal(&mut command);
    Ok(command)
}

/// The program leads a new session, controlled by the terminal that it reads from.
fn own_terminal(command: &mut Command) {
    let take = || {
        setsid()?;
        Ok(ioctl_tiocsctty(rustix::stdio::stdin())?)
    };
    #[expect(
        unsafe_code,
        reason = "std has no safe way to give a program a controlling terminal"
    )]
    // SAFETY: between fork and exec only `setsid` and one `ioctl` on standard input are called, both
    // as plain system calls: no allocation, no lock, nothing that another thread may have held at
    // the fork.
    unsafe {
        command.pre_exec(take);
    }
}

fn exit_of(status: WaitStatus) -> Option<Exit> {
    let code = status.exit_status().map(Exit::Code);
    code.or_else(|| status.terminating_signal().map(Exit::Signal))
}

/// A terminal whose programs are gone says so by EIO; that they are gone is told by the process.
fn is_nothing(error: &io::Error) -> bool {
    let is_hung_up = error.raw_os_error() == Some(rustix::io::Errno::IO.raw_os_error());
    is_hung_up
        || matches!(
            error.kind(),
            io::ErrorKind::WouldBlock | io::ErrorKind::Interrupted
        )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_terminal_is_never_larger_than_memory_allows() {
        let size = |rows, columns| Size { rows, columns };
        for (wanted, had) in [
            (size(50, 200), size(50, 200)),
            (size(1000, 250), size(1000, 250)),
            (size(1000, 1000), size(250, 1000)),
            (size(u16::MAX, u16::MAX), size(250, 1000)),
            (size(u16::MAX, 1), size(1000, 1)),
        ] {
            assert_eq!(wanted.bounded(), had);
            assert_eq!(wanted.is_possible(), wanted == had, "{wanted:?}");
        }
        assert!(!size(0, 80).is_possible() && !size(24, 0).is_possible());
    }
}
