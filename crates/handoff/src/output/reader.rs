//! Whoever reads our output may leave while we have nothing to say.

use std::thread;

use rustix::event::{PollFd, PollFlags, poll};
use rustix::io::Errno;
use rustix::stdio::stdout;

/// From now on this process ends, and well, when nobody reads its output any more. For commands that only follow: they may have
/// nothing to say for hours, and would learn of it only by saying something.
///
/// A thread waits for that, because each of them sleeps in its own way: on a socket, on a watch, on the server. Where there
/// is none to be had, they end at their next word as before.
pub(crate) fn end_with_reader() {
    thread::Builder::new().spawn(wait_for_its_end).ok();
}

#[expect(
    clippy::exit,
    reason = "who follows holds nothing that must be put back, and sleeps where nobody can wake it"
)]
fn wait_for_its_end() {
    if is_left_alone() {
        std::process::exit(0);
    }
}

/// Returns when the other end of our output is gone. A file or a terminal has none that could go.
fn is_left_alone() -> bool {
    let stdout = stdout();
    let mut fds = [PollFd::from_borrowed_fd(stdout, PollFlags::empty())];
    while let Err(Errno::INTR) | Ok(0) = poll(&mut fds, None) {}
    fds[0].revents().contains(PollFlags::ERR)
}
