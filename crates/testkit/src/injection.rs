//! Faults in system calls, injected by strace.
//!
//! strace counts each system call on its own, and in each thread anew: the third call means the
//! third `write` *or* the third `fsync`, whichever some thread reaches first, never the third of
//! both together. A sweep that must meet every point therefore injects into **one** call at a time:
//!
//! ```text
//! for syscall in SYSCALLS_THAT_CHANGE_FILES
//!     for n in 1.. until the program succeeds
//!         Injection { syscalls: &[syscall], fault: Fault::Kill, when: When::Nth(n) }
//! ```
//!
//! With the set as a whole, an `fsync` after two `write`s is not met by any n.

use std::ffi::OsStr;
use std::fmt;
use std::num::NonZeroU16;
use std::process::Command;

use crate::Prefix;

/// The calls by which a program changes files or takes locks. SQLite syncs with `fdatasync`.
pub const SYSCALLS_THAT_CHANGE_FILES: [&str; 12] = [
    "write",
    "pwrite64",
    "fsync",
    "fdatasync",
    "rename",
    "renameat2",
    "linkat",
    "openat",
    "ftruncate",
    "unlink",
    "unlinkat",
    "fcntl",
];

/// What happens, in which calls, and when.
#[derive(Clone, Copy, Debug)]
pub struct Injection<'a> {
    pub syscalls: &'a [&'a str],
    pub fault: Fault,
    pub when: When,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fault {
    /// The process is killed as it enters the call, which is not made.
    Kill,
    /// The call is not made and returns this error.
    Error(Errno),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Errno {
    Eio,
    Enospc,
    /// What a file system says that cannot do something at all, such as links on FAT.
    Eperm,
}

/// Counted from 1, for each call and each thread on its own.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum When {
    Nth(NonZeroU16),
    FromNthOn(NonZeroU16),
}

impl When {
    /// # Panics
    /// When `n` is 0: strace counts from 1.
    #[must_use]
    pub fn nth(n: u16) -> Self {
        Self::Nth(NonZeroU16::new(n).expect("calls are counted from 1"))
    }

    /// # Panics
    /// When `n` is 0: strace counts from 1.
    #[must_use]
    pub fn from_nth_on(n: u16) -> Self {
        Self::FromNthOn(NonZeroU16::new(n).expect("calls are counted from 1"))
    }
}

impl Injection<'_> {
    /// Words that run a program and all its children under this fault. A program that is killed
    /// makes strace end by the same signal.
    #[must_use]
    pub fn prefix(&self) -> Prefix {
        let calls = self.syscalls.join(",");
        let trace = format!("trace={calls}");
        let inject = format!("inject={calls}:{}:{}", self.fault, self.when);
        Prefix::of([
            "strace",
            "-f",
            "-qq",
            "-o",
            "/dev/null",
            "-e",
            &trace,
            "-e",
            &inject,
            "--",
        ])
    }

    /// The same for this program alone: neither for what it starts, once that is another program, nor for what it becomes.
    #[must_use]
    pub fn prefix_of_one(&self) -> Prefix {
        Prefix::of(["strace", "--detach-on=execve"]).around(self.prefix().without_first())
    }

    /// The program under this fault, in the environment of the test itself.
    pub fn command(&self, program: impl AsRef<OsStr>) -> Command {
        self.prefix().command(program)
    }
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Kill => "signal=KILL",
            Self::Error(Errno::Eio) => "error=EIO",
            Self::Error(Errno::Enospc) => "error=ENOSPC",
            Self::Error(Errno::Eperm) => "error=EPERM",
        })
    }
}

impl fmt::Display for When {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Nth(n) => write!(f, "when={n}"),
            Self::FromNthOn(n) => write!(f, "when={n}+"),
        }
    }
}
