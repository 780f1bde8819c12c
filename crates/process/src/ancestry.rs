//! Who started a process, and who started them: a chain that a program cannot talk itself out of by changing its own
//! environment. One whose starter has ended belongs to the nearest that adopts.

use std::ffi::{OsStr, OsString};
use std::fs;
use std::io::Read as _;
use std::os::unix::ffi::OsStrExt as _;

use rustix::io::Errno;
use rustix::process::{Pid, test_kill_process};

use crate::identity::Identity;
use crate::stat::Stat;

/// A chain longer than this is not looked at to its end.
const LONGEST: usize = 256;
/// How often a chain that changes is followed.
const CLIMBS: usize = 3;

/// A process above another one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Ancestor {
    /// Which process it is.
    pub identity: Identity,
}

/// The processes above this one, the nearest first.
#[must_use]
pub fn ancestors() -> Vec<Ancestor> {
    let mut found = ancestry(std::process::id());
    found.drain(..1.min(found.len()));
    found
}

/// A process and those above it, the nearest first, as far as they can be seen.
#[must_use]
pub fn ancestry(pid: u32) -> Vec<Ancestor> {
    climb(pid).0
}

/// A process and those above it, the nearest first; none if they cannot be followed to the top. One who has ended
/// and was forgotten comes from nowhere, which is not the same as from outside.
#[must_use]
pub fn whole_ancestry(pid: u32) -> Option<Vec<Ancestor>> {
    // Whoever ended while we climbed has given its children to another one.
    (0..CLIMBS).find_map(|_| {
        let (found, missing) = climb(pid);
        missing.is_none_or(is_of_another_user).then_some(found)
    })
}

/// Where users do not see each other's processes, the top of a chain is the first of another user.
fn is_of_another_user(pid: u32) -> bool {
    let pid = i32::try_from(pid).ok().and_then(Pid::from_raw);
    pid.is_some_and(|pid| test_kill_process(pid) == Err(Errno::PERM))
}

/// Those that were seen, and the one that was not.
fn climb(pid: u32) -> (Vec<Ancestor>, Option<u32>) {
    let mut found = vec![];
    let mut next = pid;
    while next != 0
        && found.len() < LONGEST
        && let Ok(stat) = Stat::read(next)
    {
        let identity = Identity {
            pid: next,
            started: stat.started,
        };
        found.push(Ancestor { identity });
        next = stat.parent;
    }
    (found, (next != 0).then_some(next))
}

impl Ancestor {
    /// What it was started with, as it tells itself; empty where it may not be read.
    #[must_use]
    pub fn arguments(&self) -> Vec<OsString> {
        self.strings("cmdline")
    }

    /// A variable that it was started with; none where it may not be read.
    #[must_use]
    pub fn variable(&self, name: &str) -> Option<OsString> {
        let variables = self.strings("environ");
        variables.into_iter().find_map(|variable| {
            let rest = variable.as_bytes().strip_prefix(name.as_bytes())?;
            Some(OsStr::from_bytes(rest.strip_prefix(b"=")?).to_owned())
        })
    }

    /// How many filters of system calls hold it: each of its descendants has at least as many, and nobody gets rid of
    /// one. None where that cannot be read, as of one who has ended.
    #[must_use]
    pub fn filters(&self) -> Option<u32> {
        filters(self.identity.pid)
    }

    fn strings(&self, file: &str) -> Vec<OsString> {
        let path = format!("/proc/{}/{file}", self.identity.pid);
        let text = fs::read(path).unwrap_or_default();
        let text = text.strip_suffix(b"\0").unwrap_or(&text);
        text.split(|byte| *byte == 0)
            .map(|word| OsStr::from_bytes(word).to_owned())
            .collect()
    }
}

pub(crate) fn filters(pid: u32) -> Option<u32> {
    let mut file = fs::File::open(format!("/proc/{pid}/status")).ok()?;
    // Such a file says that it is empty: without room it would be read in little pieces.
    let mut status = String::with_capacity(4096);
    file.read_to_string(&mut status).ok()?;
    let line = status
        .lines()
        .find_map(|it| it.strip_prefix("Seccomp_filters:"))?;
    line.trim().parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn our_starter_is_the_first_and_has_an_environment() {
        let found = ancestors();
        assert_eq!(found[0].identity.pid, std::os::unix::process::parent_id());
        assert!(found[0].variable("PATH").is_some());
        assert_eq!(found[0].variable("PAT"), None);
    }

    #[test]
    fn a_process_is_its_own_nearest() {
        let own = Identity::own().unwrap();
        let found = ancestry(own.pid);
        assert_eq!(found[0].identity, own);
        assert!(!found[0].arguments().is_empty());
        assert!(found[0].filters().is_some());
        assert_eq!(ancestry(0), []);
        assert_eq!(whole_ancestry(own.pid), Some(found));
    }

    #[test]
    fn one_who_is_gone_comes_from_nowhere() {
        // No process has a number as large.
        assert_eq!(ancestry(u32::MAX), []);
        assert_eq!(whole_ancestry(u32::MAX), None);
    }
}
