//! A process from its making until it is the program that it was made for.
//!
//! It lives in our own memory, on a stack of its own, and the thread that starts it stands still until it is the program or has
//! failed. A fork copies the page tables, and both sides fault on every page that they write afterwards: 0.3 ms with 400 such
//! pages, 0.7 with 1000, more with other threads at work.
//!
//! The price is care. What runs here between clone and exec makes system calls and nothing else: memory that it allocated and
//! locks that it took would be ours. No signal reaches it as long as a handler of ours could run in it. Directory, descriptors,
//! handlers of signals, group and sandbox are its own: only memory is shared.

use std::convert::Infallible;
use std::ffi::{c_int, c_void};
use std::io;
use std::mem::MaybeUninit;
use std::os::fd::{AsRawFd as _, FromRawFd as _, OwnedFd};
use std::ptr;
use std::sync::atomic::{AtomicI32, Ordering};

use rustix::io::{Errno, fcntl_dupfd_cloexec};
use rustix::process::{
    Pid, Signal, chdir, getpid, getppid, set_parent_process_death_signal, setpgid, setsid,
};
use rustix::stdio::{dup2_stderr, dup2_stdin, dup2_stdout};

use crate::image::Image;
use crate::process::Process;
use crate::sandbox::Prepared;

/// What a process is made of.
#[derive(Debug)]
pub(crate) struct Birth {
    pub(crate) image: Image,
    pub(crate) stdio: Stdio,
    pub(crate) bond: Bond,
    pub(crate) sandbox: Option<Prepared>,
}

/// What a program is connected to.
#[derive(Debug)]
pub(crate) struct Stdio {
    stdin: OwnedFd,
    stdout: OwnedFd,
    stderr: OwnedFd,
}

/// What a program has to do with its starter.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Bond {
    /// It leads a group, and the kernel kills it when the thread that starts it ends.
    Life,
    /// It leads a session, and outlives its starter.
    Nothing,
}

impl Stdio {
    pub(crate) fn new(stdin: OwnedFd, stdout: OwnedFd, stderr: OwnedFd) -> io::Result<Self> {
        Ok(Self {
            stdin: beyond_stdio(stdin)?,
            stdout: beyond_stdio(stdout)?,
            stderr: beyond_stdio(stderr)?,
        })
    }
}

/// One that had a standard number already would be overwritten before its turn, or closed by exec after it.
fn beyond_stdio(fd: OwnedFd) -> io::Result<OwnedFd> {
    if fd.as_raw_fd() > libc::STDERR_FILENO {
        return Ok(fd);
    }
    Ok(fcntl_dupfd_cloexec(&fd, libc::STDERR_FILENO + 1)?)
}

/// Enough for a few calls that call nothing in turn, in a build without optimisation too.
const STACK: usize = 64 * 1024;

/// What the new process finds in our memory.
struct Cradle<'a> {
    birth: &'a Birth,
    starter: Pid,
    /// Why it did not become the program; zero if it did.
    failure: AtomicI32,
}

impl Birth {
    /// Starts the program. Of one that could not be started nothing is left.
    pub(crate) fn start(&self) -> io::Result<Process> {
        let cradle = Cradle {
            birth: self,
            starter: getpid(),
            failure: AtomicI32::new(0),
        };
        let process = clone(&cradle)?;
        match cradle.failure.load(Ordering::Relaxed) {
            0 => Ok(process),
            errno => {
                process.reap()?;
                Err(io::Error::from_raw_os_error(errno))
            }
        }
    }

    /// Turns the new process into the program; says what kept it from that.
    fn fulfil(&self, starter: Pid) -> Result<Infallible, Errno> {
        dup2_stdin(&self.stdio.stdin)?;
        dup2_stdout(&self.stdio.stdout)?;
        dup2_stderr(&self.stdio.stderr)?;
        chdir(self.image.cwd())?;
        match self.bond {
            Bond::Life => {
                setpgid(None, None)?;
                die_with(starter)?;
            }
            Bond::Nothing => drop(setsid()?),
        }
        if let Some(sandbox) = &self.sandbox {
            let entered = sandbox.enter();
            entered.map_err(|error| Errno::from_io_error(&error).unwrap_or(Errno::PERM))?;
        }
        forget_handlers();
        set_mask(NO_SIGNAL);
        Err(self.image.exec())
    }
}

/// Asks the kernel to kill this process when the thread that made it ends.
pub(crate) fn die_with(starter: Pid) -> Result<(), Errno> {
    set_parent_process_death_signal(Some(Signal::KILL))?;
    // If the starter died before the line above, nobody would ever send that signal.
    if getppid() == Some(starter) {
        Ok(())
    } else {
        Err(Errno::SRCH)
    }
}

fn clone(cradle: &Cradle<'_>) -> io::Result<Process> {
    let mut stack = Box::<[u128]>::new_uninit_slice(STACK / size_of::<u128>());
    let top: *mut MaybeUninit<u128> = stack.as_mut_ptr_range().end;
    let flags = libc::CLONE_VM | libc::CLONE_VFORK | libc::CLONE_PIDFD | libc::SIGCHLD;
    let mut pidfd: c_int = -1;
    let mask = set_mask(EVERY_SIGNAL);
    #[expect(
        unsafe_code,
        reason = "std starts programs without copying memory only if nothing is to be done before exec"
    )]
    // SAFETY: `live` gets the cradle that it expects. Because of CLONE_VFORK this call returns when the new process does not
    // use our memory any more, so cradle and stack outlive that use, and nothing of this thread changes meanwhile but its `errno`,
    // which nobody has asked for yet. `top` is the end of a stack that nobody else uses, aligned as a stack has to be. No handler
    // of ours runs in the new process: every signal is blocked until it has forgotten them. The kernel writes one number to `pidfd`.
    let pid = unsafe {
        let cradle = ptr::from_ref(cradle).cast_mut().cast::<c_void>();
        libc::clone(live, top.cast(), flags, cradle, &raw mut pidfd)
    };
    let error = io::Error::last_os_error();
    set_mask(mask);
    let Some(pid) = u32::try_from(pid).ok().filter(|pid| *pid > 0) else {
        return Err(error);
    };
    #[expect(unsafe_code, reason = "the kernel hands out a number")]
    // SAFETY: the kernel has just opened it for us, and nobody else knows it.
    let pidfd = unsafe { OwnedFd::from_raw_fd(pidfd) };
    Ok(Process { pid, pidfd })
}

/// The life of the new process. It ends when this returns.
extern "C" fn live(cradle: *mut c_void) -> c_int {
    #[expect(unsafe_code, reason = "C hands over whatever it is by its address")]
    // SAFETY: this is the cradle that `clone` was called with, which is only ever shared, and its thread stands still.
    let cradle = unsafe { &*cradle.cast::<Cradle<'_>>() };
    let Err(errno) = cradle.birth.fulfil(cradle.starter);
    let errno = errno.raw_os_error();
    cradle.failure.store(errno, Ordering::Relaxed);
    errno
}

/// A set of signals as the kernel has it: the C library's own leaves out those that it uses itself.
type SignalMask = u64;

const NO_SIGNAL: SignalMask = 0;
const EVERY_SIGNAL: SignalMask = !0;

/// Sets which signals this thread does not want now, and returns which those were before.
fn set_mask(mask: SignalMask) -> SignalMask {
    let mut before = NO_SIGNAL;
    #[expect(
        unsafe_code,
        reason = "the safe ways leave out signals of the C library"
    )]
    // SAFETY: the kernel reads one mask and writes one, both of the size that is said and alive during the call.
    unsafe {
        libc::syscall(
            libc::SYS_rt_sigprocmask,
            libc::SIG_SETMASK,
            &raw const mask,
            &raw mut before,
            size_of::<SignalMask>(),
        )
    };
    before
}

/// What the kernel keeps of a signal: handler, flags, the way back and a mask. All zero is the default.
type SignalAction = [u64; 4];

const DEFAULT_ACTION: SignalAction = [0; 4];
const LAST_SIGNAL: c_int = 64;

/// Exec would do the same, but a signal may come before. What is ignored stays so, as it does over any exec; but that we ignore
/// a closed pipe is our own business.
fn forget_handlers() {
    for signal in 1..=LAST_SIGNAL {
        let [handler, ..] = action(signal, None);
        let is_handled = !matches!(usize::try_from(handler), Ok(libc::SIG_DFL | libc::SIG_IGN));
        if is_handled || signal == libc::SIGPIPE {
            action(signal, Some(&DEFAULT_ACTION));
        }
    }
}

/// Sets what a signal does, if that is said, and returns what it did before.
fn action(signal: c_int, new: Option<&SignalAction>) -> SignalAction {
    let mut before = DEFAULT_ACTION;
    #[expect(
        unsafe_code,
        reason = "the C library's own way takes a lock for some signals"
    )]
    // SAFETY: the kernel reads one action, if there is one, and writes one. Both are alive during the call, and as large as
    // those of the kernel on every machine with 64 bits.
    unsafe {
        libc::syscall(
            libc::SYS_rt_sigaction,
            signal,
            new.map_or(ptr::null(), ptr::from_ref),
            &raw mut before,
            size_of::<SignalMask>(),
        )
    };
    before
}
