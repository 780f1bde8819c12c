//! Running a command that may be hostile, below a process that does nothing else: bounded, and with nothing left when it is over.
//!
//! The supervisor is the subreaper of everything that the command starts, so the tree below it is complete whatever forks away. It
//! looks at the tree several times a second, and ends all of it when a bound is crossed, when the command has ended, when it is told to
//! (TERM, INT, HUP) and when its own starter dies.
//!
//! Not held: what grows by more than a bound allows between two looks. Then the kernel's out-of-memory killer takes the
//! command first.

mod disk;
mod memory;

use std::fs;
use std::io::{self, PipeReader, Read as _, Write as _};
use std::os::fd::AsFd as _;
use std::os::unix::process::{CommandExt as _, ExitStatusExt as _};
use std::path::PathBuf;
use std::process::{Child, ExitStatus, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, channel};
use std::thread;
use std::time::Duration;

use handoff_core::check_limits::{CheckLimit, CheckLimits, CheckUsage};
use handoff_core::feature::CheckOutcome;
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::Errno;
use rustix::process::{
    PidfdFlags, Resource, Rlimit, Signal, getrlimit, pidfd_open, set_parent_process_death_signal,
    setrlimit,
};

use crate::clock;
use crate::launch::{StartError, bare, die_with_starter};
use crate::process::group;
use crate::program::Program;
use crate::stat::Life;
use crate::summons::{Summoned, Summons};
use crate::tree;
use disk::Disk;

/// Between two looks.
const LOOK: Duration = Duration::from_millis(200);
/// The same while more than a quarter of the memory is in use.
const CLOSE_LOOK: Duration = Duration::from_millis(50);
/// Of the processor, looking takes at most one part in this many, however many processes the machine has.
const SHARE: u32 = 20;
/// How long processes may take to go after KILL.
const DEATH_TAKES: Duration = Duration::from_secs(10);
/// How long what was printed may take to reach our reader after all processes have ended.
const READING_TAKES: Duration = Duration::from_secs(10);
/// What a shell exits with whose command was ended by a signal is this and the signal.
const BY_SIGNAL: i32 = 128;
const OOM_SCORE: &str = "/proc/self/oom_score_adj";

/// A command and its bounds.
#[derive(Debug)]
pub struct Supervision {
    /// Both of its outputs become our standard output.
    pub program: Program,
    /// For all of its processes together.
    pub limits: CheckLimits,
    /// Where it can write.
    pub places: Vec<PathBuf>,
}

/// A command could not be supervised. Nothing of it is left.
#[derive(Debug, thiserror::Error)]
pub enum SuperviseError {
    /// It did not start.
    #[error(transparent)]
    Start(#[from] StartError),
    /// It could not be watched.
    #[error("cannot watch the command")]
    Watch(#[source] io::Error),
    /// It could not be ended.
    #[error("{0} processes of the command do not end")]
    Left(usize),
}

/// Why the watch is over.
enum End {
    Exited,
    Told,
    Limit(CheckLimit),
}

/// Runs a command to its end. For a process that does nothing else: all its descendants count as the command's.
pub fn supervise(supervision: &Supervision) -> Result<CheckOutcome, SuperviseError> {
    let failed = SuperviseError::Watch;
    let mut summons = Summons::listen().map_err(failed)?;
    // Until now KILL would have come; from now on the tree has to be ended first.
    set_parent_process_death_signal(Some(Signal::TERM)).map_err(|it| failed(it.into()))?;
    tree::adopt().map_err(failed)?;
    bound_files(supervision.limits.disk).map_err(failed)?;
    let disk = Disk::before(&supervision.places);
    let (ours, theirs) = io::pipe().map_err(failed)?;
    let mut command = bare(&supervision.program)?;
    let copy = theirs.try_clone().map_err(failed)?;
    command
        .stdin(Stdio::null())
        .stdout(theirs)
        .stderr(copy)
        .process_group(0);
    die_with_starter(&mut command);
    let before = expendable();
    let spawned = command.spawn();
    restore(before);
    // It has our copies of the pipe, which would never end.
    drop(command);
    let mut child = spawned.map_err(|error| StartError::of(&supervision.program, error))?;
    let printed = forward(ours, supervision.limits.output);
    let end = watch(supervision, &child, &printed, disk, &mut summons);
    let status = finish(&mut child);
    let left = tree::end(Vec::new, DEATH_TAKES).map_err(failed)?;
    // A reader that is gone, or slower than this, gets the end that there is.
    printed.over.recv_timeout(READING_TAKES).ok();
    if !left.is_empty() {
        return Err(SuperviseError::Left(left.len()));
    }
    let status = status.map_err(failed)?;
    Ok(match end.map_err(failed)? {
        End::Limit(limit) => CheckOutcome::OverLimit { limit },
        End::Told => CheckOutcome::Killed {
            signal: libc::SIGTERM,
        },
        End::Exited => outcome(status, supervision.limits, printed.count()),
    })
}

/// Ends the command itself, if it has not ended, and reaps it: whoever reaps orphans would take its status.
fn finish(child: &mut Child) -> io::Result<ExitStatus> {
    if let Some(status) = child.try_wait()? {
        return Ok(status);
    }
    child.kill()?;
    child.wait()
}

/// What the end of the command means.
fn outcome(status: ExitStatus, limits: CheckLimits, printed: u64) -> CheckOutcome {
    let bytes = limits.output;
    if printed > bytes {
        let limit = CheckLimit::Output { bytes };
        return CheckOutcome::OverLimit { limit };
    }
    let too_large = CheckOutcome::OverLimit {
        limit: CheckLimit::Disk { bytes: limits.disk },
    };
    match (status.code(), status.signal()) {
        (Some(0), _) => CheckOutcome::Passed,
        (Some(code), _) if code == BY_SIGNAL + libc::SIGXFSZ => too_large,
        (Some(code), _) => CheckOutcome::Failed { code },
        (None, Some(libc::SIGXFSZ)) => too_large,
        (None, signal) => CheckOutcome::Killed {
            signal: signal.unwrap_or(libc::SIGKILL),
        },
    }
}

fn watch(
    supervision: &Supervision,
    child: &Child,
    printed: &Printed,
    mut disk: Disk,
    summons: &mut Summons,
) -> io::Result<End> {
    let pidfd = pidfd_open(group(child.id()), PidfdFlags::empty())?;
    let limits = &supervision.limits;
    let started = clock::awake();
    let mut pause = CLOSE_LOOK.min(limits.time);
    loop {
        let timeout = Timespec::try_from(pause).map_err(io::Error::other)?;
        let mut fds =
            [pidfd.as_fd(), summons.as_fd()].map(|it| PollFd::from_borrowed_fd(it, PollFlags::IN));
        match poll(&mut fds, Some(&timeout)) {
            Ok(_) | Err(Errno::INTR) => {}
            Err(errno) => return Err(errno.into()),
        }
        let has_ended = !fds[0].revents().is_empty();
        if has_ended {
            return Ok(End::Exited);
        }
        if summons.take() == Summoned::Yes {
            return Ok(End::Told);
        }
        let now = clock::awake();
        tree::reap_orphans(&[child.id()]);
        let usage = CheckUsage {
            time: now.saturating_sub(started),
            output: printed.count(),
            ..look(limits, &mut disk)?
        };
        if let Some(limit) = limits.exceeded(&usage) {
            return Ok(End::Limit(limit));
        }
        let left = limits.time.saturating_sub(usage.time);
        let is_close = usage.memory > limits.memory / 4;
        let usual = if is_close { CLOSE_LOOK } else { LOOK };
        let took = clock::awake().saturating_sub(now);
        pause = usual.max(took * SHARE).min(left);
    }
}

/// What the tree uses now.
fn look(limits: &CheckLimits, disk: &mut Disk) -> io::Result<CheckUsage> {
    let below = tree::below(&[])?;
    let living = below.iter().filter(|(_, stat)| stat.life != Life::Ended);
    let pids: Vec<u32> = living.map(|(pid, _)| *pid).collect();
    Ok(CheckUsage {
        memory: memory::of(&pids, limits.memory),
        processes: u32::try_from(pids.len()).unwrap_or(u32::MAX),
        disk: disk.written(&pids, limits.disk),
        ..CheckUsage::default()
    })
}

/// What was printed, and that there is no more.
struct Printed {
    bytes: Arc<AtomicU64>,
    over: Receiver<()>,
}

impl Printed {
    fn count(&self) -> u64 {
        self.bytes.load(Ordering::Relaxed)
    }
}

/// Copies what is printed to our standard output, up to a bound. Beside the watch: a reader who does not read keeps nobody from
/// looking at memory.
fn forward(mut from: PipeReader, most: u64) -> Printed {
    let bytes = Arc::new(AtomicU64::new(0));
    let (told, over) = channel();
    let counted = Arc::clone(&bytes);
    thread::spawn(move || {
        let mut buffer = vec![0; 64 * 1024];
        let mut to = io::stdout().lock();
        let mut count = 0;
        while count <= most {
            let Ok(length @ 1..) = from.read(&mut buffer) else {
                break;
            };
            count += length as u64;
            counted.store(count, Ordering::Relaxed);
            let written = to.write_all(&buffer[..length]).and_then(|()| to.flush());
            if written.is_err() {
                break;
            }
        }
        // Whoever waited for it may have given up.
        told.send(()).ok();
    });
    Printed { bytes, over }
}

/// No file larger than this, and no image of a crash.
fn bound_files(most: u64) -> io::Result<()> {
    let inherited = getrlimit(Resource::Fsize).maximum;
    let most = inherited.map_or(most, |it| it.min(most));
    for (resource, most) in [(Resource::Fsize, most), (Resource::Core, 0)] {
        let limit = Rlimit {
            current: Some(most),
            maximum: Some(most),
        };
        setrlimit(resource, limit)?;
    }
    Ok(())
}

/// From now on children are what the kernel ends first when memory runs out. Says what we were before.
fn expendable() -> Option<String> {
    let before = fs::read_to_string(OOM_SCORE).ok()?;
    fs::write(OOM_SCORE, "1000").ok()?;
    Some(before)
}

fn restore(before: Option<String>) {
    if let Some(before) = before {
        // Refused, we would be ended first too; then our command ends with us.
        fs::write(OOM_SCORE, before.trim()).ok();
    }
}
