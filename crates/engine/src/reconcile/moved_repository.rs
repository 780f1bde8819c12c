//! A repository that was moved: the worktrees of its sessions still name the place where it was, and git finds nothing there.

use std::path::PathBuf;

use super::attempts;
use crate::error::EngineError;
use crate::workshop::Workshop;

/// The worktrees that were told, and those that could not be.
#[derive(Debug, Default)]
pub struct Relinked {
    /// Those that were told.
    pub told: Vec<PathBuf>,
    /// Those that could not be, and why.
    pub stuck: Vec<(PathBuf, EngineError)>,
}

/// Tells the worktrees of attempts where the repository is now, and names them. Those who work there notice nothing. One that
/// cannot be told keeps nobody else from anything.
pub fn moved_repository(workshop: &Workshop<'_>) -> Result<Relinked, EngineError> {
    let mut relinked = Relinked::default();
    for attempt in attempts(workshop)? {
        let path = workshop.places.worktree(workshop.project, attempt);
        let at = workshop.repository.linked_at(&path);
        if let Some(at) = at.filter(handoff_git::Repository::is_left_behind) {
            match at.relink() {
                Ok(()) => relinked.told.push(path),
                Err(error) => {
                    let error = EngineError::Relink(path.clone(), error);
                    relinked.stuck.push((path, error));
                }
            }
        }
    }
    Ok(relinked)
}
