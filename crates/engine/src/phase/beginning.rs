//! Before the session of a phase begins: what can be known without it is found out without it.

use handoff_core::run::Run;
use handoff_core::workflow::Suite;
use handoff_core::{CommitId, Task};
use handoff_git::Repository;

use super::bench::Referee;
use crate::error::EngineError;
use crate::suite;
use crate::workshop::Workshop;

/// How the tests are run: as the run began, so that no session chooses its judge; a project that was empty then is known later.
pub(super) fn suite_of(
    workshop: &Workshop<'_>,
    run: &Run,
    at: &Repository,
    base: &CommitId,
) -> Option<Suite> {
    let of = |commit: &CommitId| suite::found(|name| is_in(workshop, at, commit, name));
    let said = run.spec.workflow.suite.clone();
    said.or_else(|| of(&run.spec.base)).or_else(|| of(base))
}

pub(super) fn is_in(
    workshop: &Workshop<'_>,
    at: &Repository,
    commit: &CommitId,
    name: &str,
) -> bool {
    let path = name.parse();
    path.is_ok_and(|path| matches!(workshop.git.file_in(at, commit, &path), Ok(Some(_))))
}

/// Runs the suite on what the session begins with, before the first session of a run and before each that is proved by tests. A
/// session whose work nobody could judge is not begun.
pub(crate) fn measure(
    workshop: &mut Workshop<'_>,
    task: &Task,
    run: &Run,
    at: &Repository,
) -> Result<(), EngineError> {
    let is_judged = run.phase().proof.needs_suite();
    let is_first = run.steps.is_empty() && run.spec.workflow.needs_suite();
    if !is_judged && !is_first {
        return Ok(());
    }
    let base = run.head();
    let Some(suite) = suite_of(workshop, run, at, base) else {
        if !is_judged {
            // A project that is still empty: what its tests are is seen when there are some.
            return Ok(());
        }
        let why = "nobody knows how the tests of this project are run; say it in `[tests]` of the workflow";
        return Err(EngineError::NoProof(why.to_owned()));
    };
    let referee = Referee::of(workshop, run.id)?;
    match referee.known(workshop, task, &suite, base)? {
        Ok(_) => Ok(()),
        Err(said) => Err(EngineError::NoProof(format!(
            "the test suite does not run as it is, so nothing could be proved{}: {said}",
            workshop.checks.enclosure.hint()
        ))),
    }
}
