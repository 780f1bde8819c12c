//! Reconcilers: idempotent functions without input that make true what a crash left half-way. Running one twice, or two at once, is
//! harmless; a restart is just another activation.

mod lost_holders;
mod orphaned_worktrees;

pub use lost_holders::lost_holders;
pub use orphaned_worktrees::{orphaned_worktrees, retire};

use crate::error::EngineError;
use crate::workshop::Workshop;

/// Runs all of them, in the order in which one makes work for the next.
pub fn all(workshop: &mut Workshop<'_>) -> Result<(), EngineError> {
    lost_holders(workshop)?;
    orphaned_worktrees(workshop)?;
    Ok(())
}
