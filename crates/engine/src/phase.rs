//! A phase of a run on the road: what its session begins with and is told, what proves that it is over, and what is left for
//! people to read in git.
//!
//! The ledger is the truth. Branch, refs and notes of a run are views: they are put right whenever the road passes.

mod beginning;
mod bench;
mod build_output;
mod court;
mod described_batch;
mod join;
mod path_rule;
mod telling;
mod test_item;

use handoff_core::run::{Run, Verdict};
use handoff_core::task::Part;
use handoff_core::{BranchName, CommitId, Task};
use handoff_store::{batches, read, runs};

pub(crate) use beginning::measure;
pub(crate) use bench::referees;
pub(crate) use court::judge;
pub(crate) use join::Join;
pub use telling::result_key;
pub(crate) use telling::{packages_before, text};
pub use test_item::place_in_list;
pub use test_item::test_list;
pub(crate) use test_item::tick;

use crate::error::EngineError;
use crate::workshop::Workshop;

/// The run that a task is a phase of.
pub(crate) fn run_of(workshop: &mut Workshop<'_>, task: &Task) -> Result<Option<Run>, EngineError> {
    let Some(id) = task.spec.part.and_then(Part::run) else {
        return Ok(None);
    };
    Ok(Some(read(workshop.store, |tx| runs::get(tx, id))?))
}

/// The run that hears of the end of a task: of its phase, or of the batch into which that was split.
pub(crate) fn run_behind(
    workshop: &mut Workshop<'_>,
    task: &Task,
) -> Result<Option<Run>, EngineError> {
    let Some(batch) = task.spec.part.and_then(Part::batch) else {
        return run_of(workshop, task);
    };
    Ok(read(workshop.store, |tx| {
        let batch = batches::get(tx, batch)?;
        batch.spec.run.map(|run| runs::get(tx, run)).transpose()
    })?)
}

/// Puts the branch, the refs and the notes of a run where the ledger says. A branch that somebody looks at stays where it is
/// until they leave it. When all of a run that is over is shown, its referee goes.
pub fn show_in_git(workshop: &mut Workshop<'_>, run: &Run) -> Result<(), EngineError> {
    // What a killed git left locked is only known to be nobody's if no other of us writes.
    let _lock = bench::lock_views(workshop)?;
    // One of them that cannot be shown does not keep the others back.
    let branch = show_branch(workshop, run);
    show_steps(workshop, run).and(branch)?;
    if !run.state.is_live() {
        bench::clear(workshop, run.id)?;
    }
    Ok(())
}

fn show_branch(workshop: &Workshop<'_>, run: &Run) -> Result<(), EngineError> {
    let (git, repository) = (&workshop.git, workshop.repository);
    let branch = branch(run);
    let is_free = git.is_checked_out(repository, &branch).map(|it| !it);
    if is_free.map_err(EngineError::Show)? {
        git.unlock_ref(repository, &format!("refs/heads/{branch}"))
            .map_err(EngineError::Unlock)?;
        git.point_branch(repository, &branch, run.head())
            .map_err(EngineError::Show)?;
    }
    Ok(())
}

/// A mark and a note for each proof.
fn show_steps(workshop: &Workshop<'_>, run: &Run) -> Result<(), EngineError> {
    let (git, repository) = (&workshop.git, workshop.repository);
    let name = &run.spec.name;
    for (place, step) in run.steps.iter().enumerate() {
        let (phase, verdict) = (&step.phase, &step.verdict);
        let mark = format!("run/{name}/{:03}-{phase}", place + 1);
        let full = format!("refs/handoff/{mark}");
        let found = git.commit_named(repository, &full);
        if found.map_err(EngineError::Show)?.as_ref() == Some(&verdict.commit) {
            continue;
        }
        for name in ["refs/notes/handoff", &full] {
            git.unlock_ref(repository, name)
                .map_err(EngineError::Unlock)?;
        }
        git.note(repository, &verdict.commit, &note(run, &verdict.commit))
            .and_then(|()| git.mark_commit(repository, &mark, &verdict.commit))
            .map_err(EngineError::Show)?;
    }
    Ok(())
}

/// All phases that came to a commit: one that changes nothing does not take the place of the one before.
fn note(run: &Run, commit: &CommitId) -> String {
    let steps = run.steps.iter().filter(|it| it.verdict.commit == *commit);
    let lines = steps.map(|step| {
        let (run, phase, task) = (run.id, &step.phase, step.task);
        // How the work was split is told by the ledger; a note is for people.
        let verdict = Verdict {
            manifest: None,
            ..step.verdict.clone()
        };
        let step =
            serde_json::json!({ "run": run, "phase": phase, "task": task, "verdict": verdict });
        format!("{step}\n")
    });
    lines.collect()
}

/// The branch on which the work of a run is.
pub fn branch(run: &Run) -> BranchName {
    let name = format!("handoff/{}", run.spec.name);
    name.parse()
        .expect("the name of a run is part of a branch name")
}
