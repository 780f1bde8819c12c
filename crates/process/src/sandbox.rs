//! What a program may change, held by the kernel (Landlock).
//!
//! Everything can be read. Files can be written, made, removed, renamed and linked only below the
//! places that are named, by this process and all that it ever starts, whatever they run and
//! whoever they are: root is bound too, and gives up the capabilities that lead past it. There is no way back.
//!
//! Promised: the content and the names of all other files, and that nothing is typed into a
//! terminal. Where the kernel is new enough ([`Kernel`]) also that no process and no socket outside is
//! reached. Not held: what is printed to other terminals of the same user; modes, owners and times
//! of files; what a helper outside does when it is asked through a socket that is not held; a hard
//! link that was made before into a writable place.

mod capabilities;
mod kernel;
mod typing;

use std::io;
use std::os::fd::{AsRawFd as _, OwnedFd};
use std::path::{Path, PathBuf};

use landlock::{
    ABI, AccessFs, BitFlags, CompatLevel, Compatible as _, PathBeneath, PathFd, Ruleset,
    RulesetAttr as _, RulesetCreated, RulesetCreatedAttr as _, RulesetError, Scope,
};

pub use kernel::{Cover, Kernel};

/// The newest kernel interface that we make use of.
const WANTED: ABI = ABI::V9;

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

/// Those who know the names of machines: they answer, and do nothing else for anybody.
const RESOLVERS: [&str; 3] = [
    "/run/systemd/resolve",
    "/run/nscd/socket",
    "/var/run/nscd/socket",
];

/// How somebody outside could be asked to do what one may not do oneself. Without the user's directory for sockets the
/// bus of the desktop is not found by its usual place either.
pub const HELPERS: [&str; 22] = [
    "TMUX",
    "TMUX_PANE",
    "STY",
    "ZELLIJ",
    "DBUS_SESSION_BUS_ADDRESS",
    "DBUS_SYSTEM_BUS_ADDRESS",
    "XDG_RUNTIME_DIR",
    "SSH_AUTH_SOCK",
    "SSH_AGENT_PID",
    "GPG_AGENT_INFO",
    "GNOME_KEYRING_CONTROL",
    "DISPLAY",
    "WAYLAND_DISPLAY",
    "XAUTHORITY",
    "DOCKER_HOST",
    "CONTAINER_HOST",
    "NVIM",
    "VSCODE_IPC_HOOK_CLI",
    "VSCODE_GIT_IPC_HANDLE",
    "KITTY_LISTEN_ON",
    "WEZTERM_UNIX_SOCKET",
    "ALACRITTY_SOCKET",
];

/// The places that may be changed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Sandbox {
    writable: Vec<PathBuf>,
    sockets: Vec<PathBuf>,
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
    /// The kernel refused it.
    #[error("the kernel refused the sandbox")]
    Refused(#[source] RulesetError),
}

/// A sandbox that the kernel knows, and nobody is in yet.
#[derive(Debug)]
pub(crate) struct Prepared(OwnedFd);

impl Sandbox {
    /// One in which only what lies below these places may be changed.
    pub fn new(writable: impl IntoIterator<Item = PathBuf>) -> Self {
        Self {
            writable: writable.into_iter().collect(),
            sockets: vec![],
        }
    }

    /// The same with a socket that may be talked to, on kernels that would not let it.
    #[must_use]
    pub fn with_socket(mut self, socket: PathBuf) -> Self {
        self.sockets.push(socket);
        self
    }

    /// Has the kernel make it. A program enters it between fork and exec, where only system calls are safe.
    pub(crate) fn prepare(&self) -> Result<Prepared, SandboxError> {
        let Kernel::Holds(_) = Kernel::read() else {
            return Err(SandboxError::Unavailable);
        };
        let mut ruleset = Ruleset::default()
            .set_compatibility(CompatLevel::BestEffort)
            .handle_access(AccessFs::from_write(WANTED))
            .and_then(|ruleset| ruleset.scope(Scope::Signal | Scope::AbstractUnixSocket))
            .and_then(Ruleset::create)
            .map_err(SandboxError::Refused)?;
        // A device has the bytes of a disk under another name: root could write past every rule by one of its own.
        let devices = AccessFs::MakeChar | AccessFs::MakeBlock;
        let everything = AccessFs::from_write(WANTED) & !devices;
        for place in &self.writable {
            ruleset = allow(ruleset, place, everything)?;
        }
        let device = AccessFs::WriteFile | AccessFs::Truncate | AccessFs::IoctlDev;
        ruleset = allow_existing(ruleset, DEVICES.iter().map(Path::new), device)?;
        let resolvers = RESOLVERS.iter().map(Path::new);
        let sockets = self.sockets.iter().map(PathBuf::as_path).chain(resolvers);
        ruleset = allow_existing(ruleset, sockets, AccessFs::ResolveUnix.into())?;
        let made: Option<OwnedFd> = ruleset.into();
        made.map(Prepared).ok_or(SandboxError::Unavailable)
    }
}

impl Prepared {
    /// Puts this process, and all that it starts from now on, into it: system calls, and nothing else. Of a
    /// process with several threads only the calling one is bound, so this is for one that is about to become another
    /// program.
    pub(crate) fn enter(&self) -> io::Result<()> {
        let (yes, no, flags): (libc::c_ulong, libc::c_ulong, libc::c_uint) = (1, 0, 0);
        #[expect(unsafe_code, reason = "what is safe to call for this allocates")]
        // SAFETY: plain system calls on numbers: the kernel touches no memory of ours, and the descriptor is open as
        // long as we are.
        let is_refused = unsafe {
            libc::prctl(libc::PR_SET_NO_NEW_PRIVS, yes, no, no, no) != 0
                || libc::syscall(libc::SYS_landlock_restrict_self, self.0.as_raw_fd(), flags) != 0
        };
        if is_refused {
            return Err(io::Error::last_os_error());
        }
        typing::forbid()?;
        capabilities::give_up()
    }
}

fn allow_existing<'a>(
    ruleset: RulesetCreated,
    places: impl Iterator<Item = &'a Path>,
    access: BitFlags<AccessFs>,
) -> Result<RulesetCreated, SandboxError> {
    let mut there = places.filter(|place| place.exists());
    there.try_fold(ruleset, |ruleset, place| allow(ruleset, place, access))
}

fn allow(
    ruleset: RulesetCreated,
    place: &Path,
    access: BitFlags<AccessFs>,
) -> Result<RulesetCreated, SandboxError> {
    let rule = rule(place, access)?;
    ruleset.add_rule(rule).map_err(SandboxError::Refused)
}

/// A rule on a file cannot speak of what only directories have.
fn rule(place: &Path, access: BitFlags<AccessFs>) -> Result<PathBeneath<PathFd>, SandboxError> {
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
