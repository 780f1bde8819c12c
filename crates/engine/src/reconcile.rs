//! Reconcilers: idempotent functions without input that make true what a crash left half-way. Running one twice, or two at once,
//! is harmless; a restart is just another activation.

mod baselines;
mod broken_pauses;
mod expired_leases;
mod lost_holders;
mod moved_repository;
mod old_batons;
mod orphaned_worktrees;
mod repaired;
mod run_views;
mod spare_trees;
mod stale_pauses;
mod stopped_agents;
mod stray_sessions;
mod unfinished_commits;

pub use baselines::baselines;
pub use broken_pauses::{broken_pauses, undo_pause};
pub use expired_leases::expired_leases;
pub(crate) use lost_holders::is_finished;
pub use lost_holders::{dead_holders, lost_holders};
pub use moved_repository::{Relinked, moved_repository};
pub use old_batons::old_batons;
pub(crate) use orphaned_worktrees::save;
pub use orphaned_worktrees::{Retired, orphaned_worktrees, retire};
pub(crate) use orphaned_worktrees::{Tenancy, attempts, tenancy};
pub use repaired::{Repair, Repaired};
pub use run_views::run_views;
pub use spare_trees::spare_trees;
pub(crate) use spare_trees::{discard, spares};
pub use stale_pauses::stale_pauses;
pub use stopped_agents::let_go_on;
pub use stray_sessions::stray_sessions;
pub use unfinished_commits::{UnfinishedError, unfinished_commits};

use crate::error::EngineError;
use crate::workshop::Workshop;

/// Runs all of them, in the order in which one makes work for the next.
pub fn all(workshop: &mut Workshop<'_>) -> Result<Repaired, EngineError> {
    let mut repaired = Repaired::default();
    let lost = lost_holders(workshop.store, &workshop.places)?;
    repaired
        .repairs
        .extend(lost.into_iter().map(Repair::SessionLost));
    let expired = expired_leases(workshop)?;
    repaired
        .repairs
        .extend(expired.into_iter().map(Repair::LeaseExpired));
    let project = workshop.project;
    let undone = broken_pauses(workshop.store, project, &workshop.places)?
        + stale_pauses(workshop.store, project)?;
    repaired.add(&Repair::PauseUndone, undone);
    let now = workshop.clock.now().wall;
    let commits = unfinished_commits(&workshop.git, workshop.repository, now)?;
    repaired.add(&Repair::CommitFinished, commits.finished);
    repaired.add(&Repair::CommitForgotten, commits.forgotten);
    repaired.add(&Repair::CommitSetAside, commits.set_aside);
    // A ref that cannot be put right now keeps nobody from working.
    let shown = baselines(workshop.store, project, &workshop.git, workshop.repository);
    repaired.add(&Repair::BaselineShown, shown.unwrap_or_default());
    // Views for people keep nobody from working either.
    old_batons(workshop).ok();
    repaired.add(&Repair::RunShown, run_views(workshop).unwrap_or_default());
    let moved = moved_repository(workshop)?;
    repaired
        .repairs
        .extend(moved.told.into_iter().map(Repair::TreeRelinked));
    repaired.stuck.extend(moved.stuck);
    repaired.stuck.extend(spare_trees(workshop)?);
    let orphaned = orphaned_worktrees(workshop)?;
    repaired.repairs.extend(orphaned.repairs);
    repaired.stuck.extend(orphaned.stuck);
    Ok(repaired)
}
