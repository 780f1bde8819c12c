//! What reconcilers put right, by name.

use std::path::PathBuf;

use handoff_core::TaskName;

use crate::error::EngineError;

/// What was put right, and what could not be.
#[derive(Debug, Default)]
pub struct Repaired {
    /// In the order in which it was done.
    pub repairs: Vec<Repair>,
    /// Worktrees that stay as they are, and why. They keep nobody from working.
    pub stuck: Vec<(PathBuf, EngineError)>,
}

/// Something that was put right.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Repair {
    /// A task was given back: its holder is dead.
    SessionLost(TaskName),
    /// A task was given back: whoever had it did not renew the lease in time.
    LeaseExpired(TaskName),
    /// A pause whose maker died was undone.
    PauseUndone,
    /// A commit whose maker died had landed, and its index is up to date now.
    CommitFinished,
    /// A commit whose maker died had not landed.
    CommitForgotten,
    /// What cannot be understood of a commit was set aside.
    CommitSetAside,
    /// The ref of a baseline says what the ledger says.
    BaselineShown,
    /// A run that is over is shown in git to its end.
    RunShown,
    /// The repository was moved, and this worktree knows where it is now.
    TreeRelinked(PathBuf),
    /// A worktree that was nobody's was saved and removed.
    TreeRetired(PathBuf),
}

impl Repaired {
    /// Whether there was nothing to be put right.
    pub fn is_nothing(&self) -> bool {
        self.repairs.is_empty() && self.stuck.is_empty()
    }

    /// How many tasks were given back.
    pub fn given_back(&self) -> usize {
        let is_one = |it: &&Repair| matches!(it, Repair::SessionLost(_) | Repair::LeaseExpired(_));
        self.repairs.iter().filter(is_one).count()
    }

    /// How many worktrees were saved and removed.
    pub fn retired(&self) -> usize {
        let is_one = |it: &&Repair| matches!(it, Repair::TreeRetired(_));
        self.repairs.iter().filter(is_one).count()
    }

    pub(super) fn add(&mut self, repair: &Repair, times: usize) {
        let times = std::iter::repeat_n(repair.clone(), times);
        self.repairs.extend(times);
    }
}
