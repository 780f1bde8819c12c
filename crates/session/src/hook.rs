//! A file that the agent is told of when it changes. Changes that follow each other closely are one.

use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use handoff_core::time::Nanos;

/// Between a change and the telling: writers write in pieces.
const SETTLES_AFTER: Duration = Duration::from_secs(1);

/// A file that the agent is told of.
#[derive(Debug, Clone)]
pub struct Hook {
    path: PathBuf,
    stamp: Option<Stamp>,
    due: Option<Nanos>,
}

/// What tells one content of a file from another.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Stamp {
    pub inode: u64,
    pub length: u64,
    pub changed: SystemTime,
}

impl Hook {
    /// A file as it is now; nothing if it is not there yet.
    pub const fn new(path: PathBuf, stamp: Option<Stamp>) -> Self {
        Self {
            path,
            stamp,
            due: None,
        }
    }

    pub fn path(&self) -> &Path {
        &self.path
    }

    /// The file is like this now. That it is gone is nothing to read.
    pub fn saw(&mut self, stamp: Option<Stamp>, now: Nanos) {
        if stamp.is_some() && stamp != self.stamp && self.due.is_none() {
            self.due = Some(now.after(SETTLES_AFTER));
        }
        self.stamp = stamp;
    }

    /// Whether the agent is to be told now.
    pub fn take_due(&mut self, now: Nanos) -> bool {
        let is_due = self.due.is_some_and(|due| now >= due);
        if is_due {
            self.due = None;
        }
        is_due
    }

    /// When to look although nothing happens.
    pub const fn look_again(&self) -> Option<Nanos> {
        self.due
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(millis: u64) -> Nanos {
        Nanos(0).after(Duration::from_millis(millis))
    }

    const fn stamp(length: u64) -> Option<Stamp> {
        Some(Stamp {
            inode: 1,
            length,
            changed: SystemTime::UNIX_EPOCH,
        })
    }

    #[test]
    fn changes_within_a_second_are_told_once() {
        let mut hook = Hook::new("status".into(), None);
        hook.saw(stamp(1), at(0));
        hook.saw(stamp(2), at(900));
        assert!(!hook.take_due(at(999)));
        assert_eq!(hook.look_again(), Some(at(1000)));
        assert!(hook.take_due(at(1000)) && !hook.take_due(at(1001)));
        hook.saw(stamp(2), at(2000));
        assert_eq!(hook.look_again(), None);
    }

    #[test]
    fn a_file_that_goes_is_not_told_of_and_one_that_comes_back_is() {
        let mut hook = Hook::new("status".into(), stamp(1));
        hook.saw(None, at(0));
        assert_eq!(hook.look_again(), None);
        hook.saw(stamp(1), at(5));
        assert_eq!(hook.look_again(), Some(at(1005)));
    }
}
