//! A repository that was moved: the worktrees of its sessions still name the place where it was, and git finds nothing there.

use std::path::PathBuf;

use super::attempts;
use crate::error::EngineError;
use crate::workshop::Workshop;

/// Tells the worktrees of attempts where the repository is now, and names them. Those who work there notice nothing.
pub fn moved_repository(workshop: &Workshop<'_>) -> Result<Vec<PathBuf>, EngineError> {
    let mut told = vec![];
    for attempt in attempts(workshop)? {
        let path = workshop.places.worktree(workshop.project, attempt);
        let at = workshop.repository.linked_at(&path);
        if let Some(at) = at.filter(handoff_git::Repository::is_left_behind) {
            at.relink()
                .map_err(|error| EngineError::Relink(path.clone(), error))?;
            told.push(path);
        }
    }
    Ok(told)
}
