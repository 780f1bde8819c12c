//! The process at the other end of a local socket.
//!
//! The number that the kernel noted when it connected may belong to somebody else by the time that we look: a process
//! that connects and ends at once gives its number back. So the process itself is held, where the kernel hands it out
//! (`SO_PEERPIDFD`, Linux 6.5), and what was found by the number counts only if the process is still there afterwards.

use std::io;
use std::os::fd::{AsFd, AsRawFd as _, FromRawFd as _, OwnedFd, RawFd};

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::net::sockopt::socket_peercred;
use rustix::process::{Pid, PidfdFlags, pidfd_open};

use crate::ancestry::{Ancestor, filters, whole_ancestry};

/// Who connected to a local socket.
#[derive(Debug)]
pub struct Peer {
    pid: u32,
    process: OwnedFd,
}

impl Peer {
    /// Who is at the other end; none if that cannot be told, also because it has ended.
    #[must_use]
    pub fn of(socket: impl AsFd) -> Option<Self> {
        let pid = socket_peercred(&socket).ok()?.pid.as_raw_nonzero().get();
        let process = match handle(&socket) {
            Ok(process) => process,
            // An older kernel: whoever has the number now is held, which leaves the moment from its connecting to here.
            Err(error) if error.raw_os_error() == Some(libc::ENOPROTOOPT) => {
                pidfd_open(Pid::from_raw(pid)?, PidfdFlags::empty()).ok()?
            }
            Err(_) => return None,
        };
        let pid = u32::try_from(pid).ok()?;
        Some(Self { pid, process })
    }

    /// It and the processes above it, the nearest first; none if they cannot be followed to the top, or if it has ended
    /// meanwhile, so that they may be somebody else's.
    #[must_use]
    pub fn whole_ancestry(&self) -> Option<Vec<Ancestor>> {
        let found = whole_ancestry(self.pid)?;
        self.lives().then_some(found)
    }

    /// Whether it has not ended: a process that lives keeps its number.
    #[must_use]
    pub fn lives(&self) -> bool {
        let mut fds = [PollFd::new(&self.process, PollFlags::IN)];
        poll(&mut fds, Some(&Timespec::default())) == Ok(0)
    }

    /// How many filters of system calls hold it; none where that cannot be read.
    #[must_use]
    pub fn filters(&self) -> Option<u32> {
        let found = filters(self.pid)?;
        self.lives().then_some(found)
    }
}

fn handle(socket: &impl AsFd) -> io::Result<OwnedFd> {
    let mut found: RawFd = -1;
    let mut length = libc::socklen_t::try_from(size_of::<RawFd>()).map_err(io::Error::other)?;
    let option = libc::SO_PEERPIDFD;
    #[expect(unsafe_code, reason = "no safe way to ask a socket for this")]
    // SAFETY: the kernel writes at most `length` bytes to `found`, both of which outlive the call.
    let result = unsafe {
        let socket = socket.as_fd().as_raw_fd();
        let place = (&raw mut found).cast();
        libc::getsockopt(socket, libc::SOL_SOCKET, option, place, &raw mut length)
    };
    if result != 0 {
        return Err(io::Error::last_os_error());
    }
    #[expect(
        unsafe_code,
        reason = "a descriptor that the kernel has just made for us"
    )]
    // SAFETY: the call went well, so this is an open descriptor, and nobody else knows of it.
    let process = unsafe { OwnedFd::from_raw_fd(found) };
    Ok(process)
}

#[cfg(test)]
mod tests {
    use std::os::unix::net::UnixStream;

    use super::*;
    use crate::identity::Identity;
    use crate::launch::start;
    use crate::program::Program;

    #[test]
    fn one_who_connects_is_followed_to_the_top() {
        let (ours, _theirs) = UnixStream::pair().unwrap();
        let found = Peer::of(&ours).unwrap().whole_ancestry().unwrap();
        assert_eq!(found[0].identity, Identity::own().unwrap());
    }

    #[test]
    fn one_who_has_ended_is_not_whoever_has_its_number_now() {
        let mut child = start(&Program::new("/bin/cat", "/")).unwrap();
        let pid = i32::try_from(child.identity().pid).unwrap();
        let process = pidfd_open(Pid::from_raw(pid).unwrap(), PidfdFlags::empty()).unwrap();
        child.end().unwrap();
        let peer = Peer {
            // The number of somebody who lives.
            pid: std::process::id(),
            process,
        };
        assert_eq!(peer.whole_ancestry(), None);
    }
}
