//! Reconcilers: idempotent functions without input that make true what a crash left half-way. Running one twice, or two at once,
//! is harmless; a restart is just another activation.

mod baselines;
mod broken_pauses;
mod lost_holders;
mod old_batons;
mod orphaned_worktrees;
mod run_views;
mod spare_trees;
mod stale_pauses;
mod stopped_agents;
mod stray_sessions;
mod unfinished_commits;

pub use baselines::baselines;
pub use broken_pauses::{broken_pauses, undo_pause};
pub(crate) use lost_holders::is_finished;
pub use lost_holders::{dead_holders, lost_holders};
pub use old_batons::old_batons;
pub(crate) use orphaned_worktrees::save;
pub use orphaned_worktrees::{Retired, orphaned_worktrees, retire};
pub(crate) use orphaned_worktrees::{Tenancy, attempts, tenancy};
pub use run_views::run_views;
pub use spare_trees::spare_trees;
pub(crate) use spare_trees::{discard, spares};
pub use stale_pauses::stale_pauses;
pub use stopped_agents::let_go_on;
pub use stray_sessions::stray_sessions;
pub use unfinished_commits::{UnfinishedError, unfinished_commits};

use std::path::PathBuf;

use crate::error::EngineError;
use crate::workshop::Workshop;

/// What was put right, and what could not be.
#[derive(Debug, Default)]
pub struct Repaired {
    /// Tasks that were given back because their holder is dead.
    pub given_back: usize,
    /// Worktrees that were saved and removed.
    pub retired: usize,
    /// Worktrees that stay as they are, and why. They keep nobody from working.
    pub stuck: Vec<(PathBuf, EngineError)>,
}

impl Repaired {
    /// Whether there was nothing to be put right.
    pub fn is_nothing(&self) -> bool {
        self.given_back == 0 && self.retired == 0 && self.stuck.is_empty()
    }
}

/// Runs all of them, in the order in which one makes work for the next.
pub fn all(workshop: &mut Workshop<'_>) -> Result<Repaired, EngineError> {
    let given_back = lost_holders(workshop.store, &workshop.places)?;
    broken_pauses(workshop.store, workshop.project, &workshop.places)?;
    stale_pauses(workshop.store, workshop.project)?;
    let now = workshop.clock.now().wall;
    unfinished_commits(&workshop.git, workshop.repository, now)?;
    // A ref that cannot be put right now keeps nobody from working.
    baselines(
        workshop.store,
        workshop.project,
        &workshop.git,
        workshop.repository,
    )
    .ok();
    // Views for people keep nobody from working either.
    old_batons(workshop).ok();
    run_views(workshop).ok();
    let stuck = spare_trees(workshop)?;
    let mut repaired = orphaned_worktrees(workshop)?;
    repaired.stuck.extend(stuck);
    repaired.given_back = given_back;
    Ok(repaired)
}
