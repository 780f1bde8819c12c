//! Which process is meant. A number alone may belong to a stranger by the time it is used.

use std::io;

use crate::stat::{Life, Stat};

/// A process of this boot: its number, and when it started, so that a later process with the same
/// number is another one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Identity {
    /// Its number, which is also the number of its group if it was started here.
    pub pid: u32,
    /// When it started, in the kernel's ticks since boot.
    pub started: u64,
}

impl Identity {
    /// This very process.
    pub fn own() -> io::Result<Self> {
        Self::read(std::process::id())
    }

    /// Whether this process, and not a later one with its number, can still do anything.
    #[must_use]
    pub fn is_alive(self) -> bool {
        Stat::read(self.pid)
            .is_ok_and(|stat| stat.started == self.started && stat.life != Life::Ended)
    }

    /// Whether somebody has stopped it by a signal, so that it does nothing until it is woken.
    #[must_use]
    pub fn is_stopped(self) -> bool {
        Stat::read(self.pid)
            .is_ok_and(|stat| stat.started == self.started && stat.life == Life::Stopped)
    }

    pub(crate) fn read(pid: u32) -> io::Result<Self> {
        let started = Stat::read(pid)?.started;
        Ok(Self { pid, started })
    }
}
