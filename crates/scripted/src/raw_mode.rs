//! Key-by-key input: the terminal neither echoes nor edits nor turns Ctrl-C into a signal.

use std::io;
use std::os::fd::{AsFd, OwnedFd};

use rustix::termios::{OptionalActions, Termios, isatty, tcgetattr, tcsetattr};

/// The terminal is in raw mode while this lives; then it is as before.
pub(crate) struct RawMode {
    terminal: OwnedFd,
    before: Termios,
}

impl RawMode {
    /// None if the input is no terminal, where keys come one by one anyway.
    pub(crate) fn enter(input: impl AsFd) -> io::Result<Option<Self>> {
        if !isatty(&input) {
            return Ok(None);
        }
        let terminal = input.as_fd().try_clone_to_owned()?;
        let before = tcgetattr(&terminal)?;
        let mut raw = before.clone();
        raw.make_raw();
        // Not `Flush`: what was typed ahead counts.
        tcsetattr(&terminal, OptionalActions::Now, &raw)?;
        Ok(Some(Self { terminal, before }))
    }
}

impl Drop for RawMode {
    fn drop(&mut self) {
        // A terminal that is gone needs no restoring.
        let _restored = tcsetattr(&self.terminal, OptionalActions::Now, &self.before);
    }
}
