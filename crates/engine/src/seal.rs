//! Sealing: what the next session needs, in a package that is durable before the ledger names it.

use handoff_core::task::{Command, Evidence};
use handoff_core::{CommitId, PackageId, Task};
use handoff_files::Dir;
use handoff_package::Package;

use crate::error::EngineError;
use crate::places::Attempt;
use crate::workshop::Workshop;

/// Writes the package of an attempt and records it.
pub(crate) fn seal(
    workshop: &mut Workshop<'_>,
    task: &Task,
    evidence: &[Evidence],
) -> Result<PackageId, EngineError> {
    let id = PackageId::from_uuid(handoff_process::mint());
    let package = Package {
        id,
        project: task.project,
        task: task.id,
        task_name: task.spec.name.clone(),
        fence: task.fence,
        created_at: workshop.clock.now().wall,
        branch: Attempt::of(task).branch(task),
        commit: committed(evidence),
        brief: task.spec.brief.clone(),
        summary: None,
        evidence: evidence.to_vec(),
    };
    let sealed = handoff_package::seal(&package)?;
    let dir = Dir::create_private(&workshop.places.packages(task.project))?;
    handoff_package::store(&dir, &sealed)?;
    let evidence = Evidence::Sealed {
        package: id,
        digest: sealed.digest().to_string(),
    };
    workshop.tell(
        task,
        Command::Prove {
            fence: task.fence,
            evidence,
        },
        "seal",
    )?;
    Ok(id)
}

fn committed(evidence: &[Evidence]) -> Option<CommitId> {
    evidence.iter().find_map(|proof| match proof {
        Evidence::Committed { commit, .. } => Some(commit.clone()),
        Evidence::Verified { .. } | Evidence::Sealed { .. } => None,
    })
}
