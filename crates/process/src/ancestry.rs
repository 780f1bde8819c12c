//! Who stands behind a process: its parents, as the kernel knows them. A program can say anything about itself, but not choose
//! where it comes from; one whose parent has ended belongs to the nearest that adopts.

use std::ffi::OsString;
use std::os::unix::ffi::OsStringExt as _;

use crate::identity::Identity;
use crate::stat::Stat;

/// Longer lines of descent are cut: this is more than any shell nests.
const MOST: usize = 64;

/// A process above another one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Ancestor {
    /// Which process it is.
    pub identity: Identity,
    /// What it was started with, as it tells itself.
    pub arguments: Vec<OsString>,
}

/// The process itself and those above it, the nearest first, as far as they can be seen.
pub fn ancestry(pid: u32) -> Vec<Ancestor> {
    let mut found = vec![];
    let mut next = pid;
    while next > 1 && found.len() < MOST {
        let Ok(stat) = Stat::read(next) else {
            break;
        };
        found.push(Ancestor {
            identity: Identity {
                pid: next,
                started: stat.started,
            },
            arguments: arguments(next),
        });
        next = stat.parent;
    }
    found
}

fn arguments(pid: u32) -> Vec<OsString> {
    let line = std::fs::read(format!("/proc/{pid}/cmdline")).unwrap_or_default();
    let line = line.strip_suffix(b"\0").unwrap_or(&line);
    line.split(|byte| *byte == 0)
        .map(|word| OsString::from_vec(word.to_vec()))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn this_process_is_its_own_nearest() {
        let own = Identity::own().unwrap();
        let found = ancestry(own.pid);
        assert_eq!(found[0].identity, own);
        assert!(!found[0].arguments.is_empty());
        assert_eq!(ancestry(0), []);
    }
}
