//! The refs of baselines say what the ledger says. It is written first, so that a crash leaves a ref behind, never a proof.

use handoff_core::ProjectId;
use handoff_core::baseline::{Repair, repairs};
use handoff_git::{Git, Repository};
use handoff_store::{Store, read, repositories};

use crate::error::EngineError;

/// Puts the refs right, and says how many.
pub fn baselines(
    store: &mut dyn Store,
    project: ProjectId,
    git: &Git,
    at: &Repository,
) -> Result<usize, EngineError> {
    let proved = read(store, |tx| repositories::baselines(tx, project))?;
    if proved.is_empty() {
        return Ok(0);
    }
    let refs = git.baseline_refs(at).map_err(EngineError::Baseline)?;
    let repairs = repairs(&proved, &refs.commits, |it| refs.branches.contains(it));
    let repaired = repairs.iter().filter(|repair| {
        match repair {
            // A commit of a colleague that was not fetched yet: the next one tries again.
            Repair::Point(baseline) => git.point_baseline(at, baseline).is_ok(),
            Repair::Remove(branch) => git.remove_baseline(at, branch).is_ok(),
        }
    });
    Ok(repaired.count())
}
