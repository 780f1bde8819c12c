//! What a program may change, held by the kernel (Landlock).
//!
//! Everything can be read. Files can be written, made, removed, renamed and linked only below the
//! places that are named, by this process and all that it ever starts, whatever they run and
//! whoever they are: root is bound too. There is no way back.
//!
//! Promised: the content and the names of all other files, and that nothing is typed into a
//! terminal. Not held: what is printed to other terminals of the same user; modes, owners and times
//! of files; what a helper outside does when it is asked through a socket; a hard link that was made
//! before into a writable place.

mod typing;

use std::io;
use std::path::{Path, PathBuf};

use landlock::{
    ABI, AccessFs, BitFlags, CompatLevel, Compatible as _, PathBeneath, PathFd, Ruleset,
    RulesetAttr as _, RulesetCreatedAttr as _, RulesetError, RulesetStatus, Scope,
};

/// The oldest kernel interface that keeps our promise: before it, files could be cut to nothing.
const NEEDED: ABI = ABI::V3;
/// The newest one that we make use of.
const WANTED: ABI = ABI::V6;

/// Devices that every program needs; those of the terminal are behind them.
const DEVICES: [&str; 9] = [
    "/dev/null",
    "/dev/zero",
    "/dev/full",
    "/dev/random",
    "/dev/urandom",
    "/dev/tty",
    "/dev/ptmx",
    "/dev/pts",
    "/dev/fd",
];

/// How somebody outside could be asked to do what one may not do oneself.
pub const HELPERS: [&str; 8] = [
    "TMUX",
    "TMUX_PANE",
    "STY",
    "DBUS_SESSION_BUS_ADDRESS",
    "SSH_AUTH_SOCK",
    "SSH_AGENT_PID",
    "GPG_AGENT_INFO",
    "GNOME_KEYRING_CONTROL",
];

/// The places that may be changed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Sandbox {
    writable: Vec<PathBuf>,
}

/// How much of it the kernel holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Strength {
    /// Files, and signals to processes outside.
    Whole,
    /// Files.
    Files,
}

/// The process is not in a sandbox, and must not go on as if it were.
#[derive(Debug, thiserror::Error)]
pub enum SandboxError {
    /// The kernel has none, or one that is too old.
    #[error("this kernel cannot hold a sandbox: it has no Landlock, or one older than Linux 6.2")]
    Unavailable,
    /// A place that was named cannot be opened.
    #[error("cannot open `{}`", .0.display())]
    Place(PathBuf, #[source] io::Error),
    /// The kernel did not take the filter for terminals.
    #[error("the kernel refused to keep the sandbox from typing into terminals")]
    Typing(#[source] io::Error),
    /// The kernel refused it.
    #[error("the kernel refused the sandbox")]
    Refused(#[source] RulesetError),
}

impl Sandbox {
    /// One in which only what lies below these places may be changed.
    pub fn new(writable: impl IntoIterator<Item = PathBuf>) -> Self {
        Self {
            writable: writable.into_iter().collect(),
        }
    }

    /// Puts this process, and all that it starts from now on, into it. Of a process with several
    /// threads only the calling one is bound, so this is for one that is about to become
    /// another program.
    pub fn enter(&self) -> Result<Strength, SandboxError> {
        if !is_available() {
            return Err(SandboxError::Unavailable);
        }
        let all = AccessFs::from_write(WANTED);
        let mut ruleset = Ruleset::default()
            .set_compatibility(CompatLevel::BestEffort)
            .handle_access(all)
            .and_then(|ruleset| ruleset.scope(Scope::Signal | Scope::AbstractUnixSocket))
            .and_then(Ruleset::create)
            .map_err(SandboxError::Refused)?;
        for place in &self.writable {
            let place = open(place)?;
            ruleset = ruleset.add_rule(place).map_err(SandboxError::Refused)?;
        }
        let devices = AccessFs::WriteFile | AccessFs::Truncate | AccessFs::IoctlDev;
        for device in DEVICES.iter().map(Path::new).filter(|it| it.exists()) {
            let device = opened(device, devices)?;
            ruleset = ruleset.add_rule(device).map_err(SandboxError::Refused)?;
        }
        let status = ruleset.restrict_self().map_err(SandboxError::Refused)?;
        typing::forbid().map_err(SandboxError::Typing)?;
        match status.ruleset {
            RulesetStatus::FullyEnforced => Ok(Strength::Whole),
            RulesetStatus::PartiallyEnforced => Ok(Strength::Files),
            RulesetStatus::NotEnforced => Err(SandboxError::Unavailable),
        }
    }
}

/// Whether this kernel can hold a sandbox.
#[must_use]
pub fn is_available() -> bool {
    Ruleset::default()
        .set_compatibility(CompatLevel::HardRequirement)
        .handle_access(AccessFs::from_write(NEEDED))
        .and_then(Ruleset::create)
        .is_ok()
}

fn open(place: &Path) -> Result<PathBeneath<PathFd>, SandboxError> {
    opened(place, AccessFs::from_write(WANTED))
}

/// A rule on a file cannot speak of what only directories have.
fn opened(place: &Path, access: BitFlags<AccessFs>) -> Result<PathBeneath<PathFd>, SandboxError> {
    let failed = |error: io::Error| SandboxError::Place(place.to_owned(), error);
    let is_file = !place.metadata().map_err(failed)?.is_dir();
    let fd = PathFd::new(place).map_err(|error| failed(io::Error::other(error)))?;
    let access = if is_file {
        access & AccessFs::from_file(WANTED)
    } else {
        access
    };
    Ok(PathBeneath::new(fd, access))
}
