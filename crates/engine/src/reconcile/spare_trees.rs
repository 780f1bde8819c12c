//! A spare tree whose worker is dead goes: nobody ever worked in it.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use handoff_files::{Dir, Lock};

use crate::error::EngineError;
use crate::places::Places;
use crate::workshop::Workshop;

/// Removes the spare trees that no worker has, and says which could not be removed.
pub fn spare_trees(workshop: &Workshop<'_>) -> Result<Vec<(PathBuf, EngineError)>, EngineError> {
    let mut stuck = vec![];
    for path in spares(workshop)? {
        if let Err(error) = discard(workshop, &path) {
            stuck.push((path, error));
        }
    }
    Ok(stuck)
}

/// The spare trees that are there, or whose locks are.
pub(crate) fn spares(workshop: &Workshop<'_>) -> Result<BTreeSet<PathBuf>, EngineError> {
    let place = workshop.places.worktrees(workshop.project);
    let names = match Dir::open(&place) {
        Ok(dir) => dir.names()?,
        Err(error) if error.is_not_found() => return Ok(BTreeSet::new()),
        Err(error) => return Err(error.into()),
    };
    let paths = names.iter().map(|it| place.join(it).with_extension(""));
    Ok(paths.filter(|path| Places::is_spare(path)).collect())
}

/// Removes a spare tree, unless a worker has it; says whether it did. One that is being given to an attempt has its lock until
/// it has another name.
pub(crate) fn discard(workshop: &Workshop<'_>, path: &Path) -> Result<bool, EngineError> {
    let lock = path.with_extension("lock");
    let Some(held) = Lock::try_acquire(&lock, "spare")? else {
        return Ok(false);
    };
    workshop.git.remove_worktree(workshop.repository, path)?;
    std::fs::remove_file(&lock).ok();
    drop(held);
    Ok(true)
}
