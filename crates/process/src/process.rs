//! A process that we made. Until it is reaped its number is its own.

use std::io;
use std::os::fd::{AsFd as _, OwnedFd};

use rustix::io::retry_on_intr;
use rustix::process::{
    Pid, Signal, WaitId, WaitIdOptions, WaitIdStatus, kill_process_group, waitid,
};

use crate::exit::Exit;

/// Dropping it lets it be, and reaps it no more.
#[derive(Debug)]
pub(crate) struct Process {
    pub(crate) pid: u32,
    /// Becomes readable when it ends.
    pub(crate) pidfd: OwnedFd,
}

impl Process {
    /// Kills it and everything in the group that it leads.
    pub(crate) fn kill_group(&self) -> io::Result<()> {
        Ok(kill_process_group(group(self.pid), Signal::KILL)?)
    }

    /// Waits for its end, after which its number may be a stranger's.
    pub(crate) fn reap(&self) -> io::Result<Exit> {
        let wait = || waitid(WaitId::PidFd(self.pidfd.as_fd()), WaitIdOptions::EXITED);
        let status = retry_on_intr(wait)?;
        status.as_ref().and_then(exit_of).ok_or_else(|| {
            io::Error::new(
                io::ErrorKind::InvalidData,
                "it ended neither by a code nor by a signal",
            )
        })
    }

    /// Reaps it if it has ended, and says whether it is gone.
    pub(crate) fn bury(&self) -> bool {
        let options = WaitIdOptions::EXITED | WaitIdOptions::NOHANG;
        let status = retry_on_intr(|| waitid(WaitId::PidFd(self.pidfd.as_fd()), options));
        // An error means that it is no child of ours any more.
        !matches!(status, Ok(None))
    }
}

fn exit_of(status: &WaitIdStatus) -> Option<Exit> {
    let code = status.exit_status().map(Exit::Code);
    code.or_else(|| status.terminating_signal().map(Exit::Signal))
}

/// The group that a process we started leads.
pub(crate) fn group(number: u32) -> Pid {
    i32::try_from(number)
        .ok()
        .and_then(Pid::from_raw)
        .expect("a process has a positive number")
}
