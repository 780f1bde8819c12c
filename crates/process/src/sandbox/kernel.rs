//! How much of a sandbox the kernel of this machine holds.

use std::fmt;

/// The oldest interface that keeps our promise: before it, files could be cut to nothing.
const NEEDED: u32 = 3;

/// What this kernel has for a sandbox.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kernel {
    /// No Landlock: too old, not built in, or turned off when it started.
    Without,
    /// Landlock of a version that does not keep our promise.
    TooOld(u32),
    /// Landlock of this version.
    Holds(u32),
}

/// Something that a sandbox keeps a program from, all of it outside.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Cover {
    /// Changing files and their names.
    Files,
    /// Asking devices for more than reading and writing.
    Devices,
    /// Signalling processes.
    Signals,
    /// Talking to sockets that have no path.
    AbstractSockets,
    /// Talking to sockets that have one.
    Sockets,
}

impl Cover {
    /// All of them, the oldest first.
    pub const ALL: [Self; 5] = [
        Self::Files,
        Self::Devices,
        Self::Signals,
        Self::AbstractSockets,
        Self::Sockets,
    ];

    /// The version of Landlock that it came with.
    const fn since(self) -> u32 {
        match self {
            Self::Files => NEEDED,
            Self::Devices => 5,
            Self::Signals | Self::AbstractSockets => 6,
            Self::Sockets => 9,
        }
    }

    /// What people call it.
    #[must_use]
    pub const fn word(self) -> &'static str {
        match self {
            Self::Files => "files",
            Self::Devices => "devices",
            Self::Signals => "signals",
            Self::AbstractSockets => "abstract sockets",
            Self::Sockets => "named sockets",
        }
    }
}

impl Kernel {
    /// Asks the kernel.
    #[must_use]
    pub fn read() -> Self {
        Self::of_version(version())
    }

    fn of_version(version: Option<u32>) -> Self {
        match version {
            None | Some(0) => Self::Without,
            Some(version) if version < NEEDED => Self::TooOld(version),
            Some(version) => Self::Holds(version),
        }
    }

    /// The version of Landlock, if it will do.
    #[must_use]
    pub const fn version(self) -> Option<u32> {
        match self {
            Self::Holds(version) => Some(version),
            Self::Without | Self::TooOld(_) => None,
        }
    }

    /// Whether a sandbox of this kernel keeps a program from that.
    #[must_use]
    pub fn covers(self, cover: Cover) -> bool {
        self.version().is_some_and(|it| it >= cover.since())
    }
}

impl fmt::Display for Kernel {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let words = |is_held: bool| {
            let some = Cover::ALL.iter().filter(|it| self.covers(**it) == is_held);
            some.map(|it| it.word()).collect::<Vec<_>>().join(", ")
        };
        match self {
            Self::Without => f.write_str("no Landlock: nothing holds a session to its worktree"),
            Self::TooOld(version) => write!(
                f,
                "Landlock {version} is too old to hold a session to its worktree; Linux 6.2 will do"
            ),
            Self::Holds(version) if self.covers(Cover::Sockets) => {
                write!(f, "Landlock {version} holds {}", words(true))
            }
            Self::Holds(version) => {
                write!(
                    f,
                    "Landlock {version} holds {}; not {}",
                    words(true),
                    words(false)
                )
            }
        }
    }
}

fn version() -> Option<u32> {
    /// Asks for the version, and makes nothing.
    const VERSION: libc::c_uint = 1;
    let nothing = std::ptr::null::<libc::c_void>();
    #[expect(unsafe_code, reason = "no safe way to ask for the version of Landlock")]
    // SAFETY: with this flag the kernel reads no memory of ours: pointer and size must be zero, and are.
    let answer =
        unsafe { libc::syscall(libc::SYS_landlock_create_ruleset, nothing, 0_usize, VERSION) };
    u32::try_from(answer).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_held_grows_with_the_version() {
        let held = |version| {
            let kernel = Kernel::of_version(version);
            Cover::ALL
                .into_iter()
                .filter(|it| kernel.covers(*it))
                .count()
        };
        let table = [
            (None, 0),
            (Some(2), 0),
            (Some(3), 1),
            (Some(5), 2),
            (Some(7), 4),
            (Some(9), 5),
        ];
        for (version, expected) in table {
            assert_eq!(held(version), expected, "{version:?}");
        }
        assert_eq!(Kernel::of_version(Some(0)), Kernel::Without);
    }

    #[test]
    fn it_says_what_is_not_held_too() {
        assert_eq!(
            Kernel::Holds(5).to_string(),
            "Landlock 5 holds files, devices; not signals, abstract sockets, named sockets"
        );
        assert!(!Kernel::Holds(9).to_string().contains("not"));
        assert!(Kernel::TooOld(2).to_string().contains("too old"));
    }
}
