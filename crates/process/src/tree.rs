//! Everything that a program has started, however often it forked and whatever session it moved to.
//!
//! For a process that exists for one program and has no other children: it makes itself the
//! [adopter](adopt) of what its descendants leave behind, so that the kernel hands every orphan to it and
//! the tree below it is complete. Processes are signalled by pidfd and only after the kernel confirmed
//! which process the number means now.

use std::collections::HashMap;
use std::fs;
use std::io;
use std::os::fd::OwnedFd;
use std::time::Duration;

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::Errno;
use rustix::process::{
    Pid, PidfdFlags, Signal, WaitId, WaitIdOptions, WaitOptions, getpid, pidfd_open,
    pidfd_send_signal, set_child_subreaper, waitid, waitpid,
};

use crate::ancestry::{Ancestor, ancestry};
use crate::clock;
use crate::identity::Identity;
use crate::process::group;
use crate::signal_name::SignalName;
use crate::stat::{Life, Stat};

/// Between two looks at a tree that does not end although it was told to.
const LOOK_AGAIN: Duration = Duration::from_millis(20);

/// What processes are told, and how firmly.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Force {
    /// TERM, then HUP: an interactive shell does not listen to the first. CONT, because one that stands still hears neither.
    Ask,
    /// KILL.
    Kill,
    /// CONT: it only goes on, if it stood still.
    Wake,
}

/// Orphans of our descendants become our children from now on.
pub fn adopt() -> io::Result<()> {
    Ok(set_child_subreaper(Some(getpid()))?)
}

/// What lives below this process, without `spared` processes and what lives below those.
pub fn descendants(spared: &[u32]) -> io::Result<Vec<Identity>> {
    let identity = |(pid, stat): &(u32, Stat)| {
        let started = stat.started;
        (stat.life != Life::Ended).then_some(Identity { pid: *pid, started })
    };
    Ok(below(spared)?.iter().filter_map(identity).collect())
}

/// The processor time that everything below this process has used, in kernel ticks. It is for comparing with itself: what an
/// orphan has used goes with it.
pub fn ticks(spared: &[u32]) -> io::Result<u64> {
    let below = below(spared)?;
    Ok(below.iter().map(|(_, stat)| stat.used).sum())
}

pub(crate) fn below(spared: &[u32]) -> io::Result<Vec<(u32, Stat)>> {
    let everything = processes()?;
    let mut children: HashMap<u32, Vec<u32>> = HashMap::new();
    for (pid, stat) in &everything {
        children.entry(stat.parent).or_default().push(*pid);
    }
    let mut found = vec![];
    let mut left = vec![std::process::id()];
    while let Some(parent) = left.pop() {
        let below = children.remove(&parent).unwrap_or_default();
        left.extend(below.into_iter().filter(|pid| !spared.contains(pid)));
        found.push(parent);
    }
    let known = |pid: &u32| Some((*pid, *everything.get(pid)?));
    Ok(found[1..].iter().filter_map(known).collect())
}

/// Signals all of these that are still who they were.
pub fn signal(processes: &[Identity], force: Force) {
    for process in processes {
        let Some(pidfd) = confirmed(*process) else {
            continue;
        };
        let signals: &[Signal] = match force {
            Force::Ask => &[Signal::TERM, Signal::HUP, Signal::CONT],
            Force::Kill => &[Signal::KILL],
            Force::Wake => &[Signal::CONT],
        };
        for signal in signals {
            // It may have ended by itself; whoever waits for its end will see.
            pidfd_send_signal(&pidfd, *signal).ok();
        }
    }
}

/// Sends this to all of these that are still who they were, and says who got it.
#[must_use]
pub fn send(processes: &[Identity], name: SignalName) -> Vec<Identity> {
    let gets_it = |process: &&Identity| {
        let pidfd = confirmed(**process);
        pidfd.is_some_and(|it| pidfd_send_signal(it, name.signal()).is_ok())
    };
    processes.iter().filter(gets_it).copied().collect()
}

/// Kills what lives below this process, but for `spared` ones, until nothing is left or the time is over. Says
/// what is left: what the kernel cannot end, such as a process inside a hung file system.
///
/// Most programs leave nothing behind. Then the kernel says so in one call, and nobody looks through all processes of the
/// machine, nor asks who is to be spared.
pub fn end(spared: impl FnOnce() -> Vec<u32>, timeout: Duration) -> io::Result<Vec<Identity>> {
    if is_alone() {
        return Ok(vec![]);
    }
    let spared = spared();
    end_all(|| Ok(Survey::of(&below(&spared)?)), timeout)
}

/// What a look at the tree found.
#[derive(Debug, PartialEq, Eq)]
struct Survey {
    living: Vec<Identity>,
    /// Whether there is nothing that the look could have missed. `/proc` is listed before each process is read: one that was listed may
    /// have forked and ended by then, and what it forked is not in the list. Such a one is seen as a zombie, because only we reap it.
    is_complete: bool,
}

impl Survey {
    fn of(below: &[(u32, Stat)]) -> Self {
        let (ended, living): (Vec<_>, Vec<_>) =
            below.iter().partition(|(_, stat)| stat.life == Life::Ended);
        let identity = |&&(pid, stat): &&(u32, Stat)| Identity {
            pid,
            started: stat.started,
        };
        Self {
            living: living.iter().map(identity).collect(),
            is_complete: ended.is_empty(),
        }
    }
}

/// Whether this process has no children: every orphan below an [adopter](adopt) is its child, so there is nothing below it.
fn is_alone() -> bool {
    let options = WaitIdOptions::EXITED | WaitIdOptions::NOHANG | WaitIdOptions::NOWAIT;
    waitid(WaitId::All, options).is_err_and(|errno| errno == Errno::CHILD)
}

/// The same for processes that were started with this variable, wherever they are by now: what a killed program leaves belongs to
/// nobody, but it keeps its environment. Spared are also those below a spared one.
pub fn end_marked(
    (name, value): (&str, &str),
    spared: &[u32],
    timeout: Duration,
) -> io::Result<Vec<Identity>> {
    let look = || {
        let living = marked((name, value), spared)?;
        Ok(Survey {
            living,
            is_complete: true,
        })
    };
    end_all(look, timeout)
}

/// Kills those that were started with this variable and are not below this process. It waits for nobody and reaps nobody: for one that
/// has other children, whose ends are somebody else's to hear of.
pub fn kill_marked(mark: (&str, &str)) -> io::Result<()> {
    let living = marked(mark, &[])?;
    signal(&living, Force::Kill);
    Ok(())
}

fn marked((name, value): (&str, &str), spared: &[u32]) -> io::Result<Vec<Identity>> {
    let own = std::process::id();
    let is_spared = |process: &Identity| {
        let mut above = ancestry(process.pid).into_iter();
        above.any(|it| it.identity.pid == own || spared.contains(&it.identity.pid))
    };
    let has_mark = |identity: Identity| {
        let found = Ancestor { identity }.variable(name);
        found.is_some_and(|found| found == value)
    };
    let everything = processes()?.into_iter();
    let alive = everything.filter(|(_, stat)| stat.life != Life::Ended);
    let identities = alive.map(|(pid, stat)| Identity {
        pid,
        started: stat.started,
    });
    let marked = identities.filter(|it| has_mark(*it) && !is_spared(it));
    Ok(marked.collect())
}

fn end_all(look: impl Fn() -> io::Result<Survey>, timeout: Duration) -> io::Result<Vec<Identity>> {
    let deadline = clock::awake() + timeout;
    loop {
        reap();
        let Survey {
            living,
            is_complete,
        } = look()?;
        if (living.is_empty() && is_complete) || clock::awake() >= deadline {
            // What ended between the two looks.
            reap();
            return Ok(living);
        }
        signal(&living, Force::Kill);
        if !living.is_empty() {
            await_first(&living);
        }
    }
}

/// Reaps the children that have ended but for `kept` ones, so that orphans do not stay as zombies.
pub fn reap_orphans(kept: &[u32]) {
    let Ok(everything) = processes() else { return };
    let own = std::process::id();
    let is_ended = |stat: &Stat| stat.parent == own && stat.life == Life::Ended;
    for (pid, _) in everything.iter().filter(|(_, stat)| is_ended(stat)) {
        if !kept.contains(pid) {
            // Reaped by nobody else; if it fails it is tried again next time.
            waitpid(Some(group(*pid)), WaitOptions::NOHANG).ok();
        }
    }
}

fn reap() {
    reap_orphans(&[]);
}

/// Sleeps until one of them ends, or for a moment: those that are not our children yet tell too.
fn await_first(processes: &[Identity]) {
    let pidfds: Vec<OwnedFd> = processes.iter().filter_map(|it| confirmed(*it)).collect();
    let mut fds: Vec<PollFd<'_>> = pidfds
        .iter()
        .map(|pidfd| PollFd::new(pidfd, PollFlags::IN))
        .collect();
    let timeout = Timespec::try_from(LOOK_AGAIN).ok();
    // Whatever it says, the tree is looked at again.
    poll(&mut fds, timeout.as_ref()).ok();
}

/// A handle on the process, if the number still means it.
fn confirmed(process: Identity) -> Option<OwnedFd> {
    let pid = Pid::from_raw(i32::try_from(process.pid).ok()?)?;
    let pidfd = pidfd_open(pid, PidfdFlags::empty()).ok()?;
    (Identity::read(process.pid).ok()? == process).then_some(pidfd)
}

fn processes() -> io::Result<HashMap<u32, Stat>> {
    let mut found = HashMap::new();
    for entry in fs::read_dir("/proc")? {
        let name = entry?.file_name();
        let Some(pid) = name.to_str().and_then(|name| name.parse().ok()) else {
            continue;
        };
        // It may have ended since the directory was listed.
        if let Ok(stat) = Stat::read(pid) {
            found.insert(pid, stat);
        }
    }
    Ok(found)
}
