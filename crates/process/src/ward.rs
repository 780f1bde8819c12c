//! Standing behind a program that stands behind others: when it ends, by whatever means, nothing that it started is left.
//!
//! A process that is killed cannot end its own descendants. Its warden can: it is the adopter of all of them, does nothing but
//! wait, and so is hard to get wrong. Told to end, it passes that on: to whoever looks at a list of processes the two are one.

use std::fs::File;
use std::io;
use std::os::fd::AsFd as _;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use rustix::event::{PollFd, PollFlags, poll};
use rustix::io::Errno;
use rustix::process::{PidfdFlags, Signal, pidfd_open, pidfd_send_signal};

use crate::identity::Identity;
use crate::launch::{StartError, bare};
use crate::process::group;
use crate::program::Program;
use crate::summons::{Summoned, Summons};
use crate::tree;

/// A program could not be warded.
#[derive(Debug, thiserror::Error)]
pub enum WardError {
    /// It did not start.
    #[error(transparent)]
    Start(#[from] StartError),
    /// It could not be waited for, or its descendants not be found.
    #[error("cannot look after the program")]
    Wait(#[source] io::Error),
}

/// Runs a program to its end and then ends what it left behind, but for those that `spared` names at that time. Says what could
/// not be ended. The program gets our standard output, which we let go of.
///
/// For a process that does nothing else: all its descendants count as the program's.
pub fn ward(
    program: &Program,
    spared: impl FnOnce() -> Vec<u32>,
    timeout: Duration,
) -> Result<Vec<Identity>, WardError> {
    tree::adopt().map_err(WardError::Wait)?;
    let failed = |source| StartError::Start {
        name: program.name.clone(),
        cwd: program.cwd.clone(),
        source,
    };
    let mut process = command(program)?.spawn().map_err(failed)?;
    let waited = let_go_of_stdout().and_then(|()| await_end(&process));
    waited
        .and_then(|()| process.wait())
        .map_err(WardError::Wait)?;
    tree::end(spared, timeout).map_err(WardError::Wait)
}

/// Sleeps until it ends.
fn await_end(process: &Child) -> io::Result<()> {
    let pidfd = pidfd_open(group(process.id()), PidfdFlags::empty())?;
    let mut summons = Summons::listen()?;
    loop {
        let mut fds =
            [pidfd.as_fd(), summons.as_fd()].map(|it| PollFd::from_borrowed_fd(it, PollFlags::IN));
        match poll(&mut fds, None) {
            Ok(_) | Err(Errno::INTR) => {}
            Err(errno) => return Err(errno.into()),
        }
        let has_ended = !fds[0].revents().is_empty();
        if has_ended {
            return Ok(());
        }
        if summons.take() == Summoned::Yes {
            // It may have ended in this moment, which the next look tells.
            pidfd_send_signal(&pidfd, Signal::TERM).ok();
        }
    }
}

fn let_go_of_stdout() -> io::Result<()> {
    let nothing = File::options().write(true).open("/dev/null")?;
    Ok(rustix::stdio::dup2_stdout(nothing)?)
}

fn command(program: &Program) -> Result<Command, StartError> {
    let mut command = bare(program)?;
    command
        .stdin(Stdio::null())
        .stdout(Stdio::inherit())
        .stderr(Stdio::null());
    Ok(command)
}
