//! Programs for the tests, and looking whether one is gone.

use std::time::Duration;

use handoff_process::Program;
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::process::{Pid, PidfdFlags, pidfd_open};

/// Long enough for a busy machine; nobody waits for it when all is well.
pub(crate) const BOUND: Duration = Duration::from_secs(10);

pub(crate) fn shell(script: &str) -> Program {
    Program::new("/bin/sh", "/").with_arguments(["-c", script])
}

/// Waits for the process to be gone.
pub(crate) fn is_gone(pid: i32) -> bool {
    let Ok(pidfd) = pidfd_open(Pid::from_raw(pid).unwrap(), PidfdFlags::empty()) else {
        return true;
    };
    let timeout = Timespec::try_from(BOUND).unwrap();
    poll(&mut [PollFd::new(&pidfd, PollFlags::IN)], Some(&timeout)) == Ok(1)
}
