//! Judging the results of a batch into which a phase was split: nothing that passed before may fail.
//!
//! The tests as they were are laid over the results, so that no part makes its work pass by asking for less; what decides how tests
//! are run stays as it was. A project of which nobody knows how its tests are run has nothing that passed before.

use handoff_core::batch::Batch;
use handoff_core::ownership::{CaseRule, RepoPath};
use handoff_core::run::{Run, Verdict};
use handoff_core::task::Evidence;
use handoff_core::trial::{Results, SuiteRun, unharmed};
use handoff_core::workflow::Suite;
use handoff_core::{CommitId, Ownership, Task};
use handoff_git::{ChangeKind, Repository};
use handoff_store::{read, runs};

use super::beginning::suite_of;
use super::bench::{Exhibit, Referee, measured};
use crate::collect::listed;
use crate::error::EngineError;
use crate::judgement::prove;
use crate::workshop::Workshop;

/// What the results of a batch are judged by.
pub(crate) struct Join {
    base: CommitId,
    measure: Option<Measure>,
    referee: Referee,
}

/// The suite, and what it showed on the commit that all parts began with.
struct Measure {
    suite: Suite,
    before: Results,
}

impl Join {
    /// What judges the results of this batch; nothing if no run waits for them.
    pub(crate) fn of(
        workshop: &mut Workshop<'_>,
        task: &Task,
        batch: &Batch,
        at: &Repository,
    ) -> Result<Option<Self>, EngineError> {
        let Some(run) = batch.spec.run else {
            return Ok(None);
        };
        let run = read(workshop.store, |tx| runs::get(tx, run))?;
        let base = batch.spec.base.clone();
        let referee = Referee::of(workshop, run.id)?;
        let measure = match suite_of(workshop, &run, at, &base) {
            Some(suite) => measure(workshop, task, &run, suite, (&referee, &base))?,
            None => None,
        };
        Ok(Some(Self {
            base,
            measure,
            referee,
        }))
    }

    /// What is to be said against a commit.
    pub(crate) fn objection(
        &self,
        workshop: &mut Workshop<'_>,
        task: &Task,
        commit: &CommitId,
    ) -> Result<Option<String>, EngineError> {
        Ok(self.hear(workshop, task, commit)?.err())
    }

    /// What the suite shows on a commit, where there is one; or why the commit is not accepted.
    fn hear(
        &self,
        workshop: &mut Workshop<'_>,
        task: &Task,
        commit: &CommitId,
    ) -> Result<Result<Option<Results>, String>, EngineError> {
        let Some(Measure { suite, before }) = &self.measure else {
            return Ok(Ok(None));
        };
        if *commit == self.base {
            return Ok(Ok(Some(before.clone())));
        }
        let changes = workshop
            .git
            .changes_between(workshop.repository, &self.base, commit);
        let changes = changes.map_err(EngineError::Show)?;
        let config = suite.config.as_ref();
        let paths: Vec<_> = changes.iter().map(|it| &it.path).collect();
        let touched: Vec<_> = paths.into_iter().filter(|it| within(config, it)).collect();
        if !touched.is_empty() {
            let why = format!(
                "{} decides how tests are run, and is changed",
                listed(&touched)
            );
            return Ok(Err(why));
        }
        let tests = changes.iter().filter(|it| it.kind != ChangeKind::Added);
        let tests = tests.map(|it| it.path.clone());
        let tests: Vec<_> = tests.filter(|it| within(Some(&suite.tests), it)).collect();
        let exhibit = Exhibit {
            commit,
            laid_over: Some((&self.base, &tests)),
            written: vec![],
        };
        let after = match self.referee.run(workshop, task, suite, &exhibit)? {
            SuiteRun::Ran(results) => SuiteRun::Ran(results.knowing(before)),
            other @ SuiteRun::DidNotRun { .. } => other,
        };
        let shown = unharmed(before, &after);
        Ok(shown.cloned().map(Some).map_err(|it| it.to_string()))
    }

    /// Judges the results; says why they are not accepted.
    pub(crate) fn judge(
        &self,
        workshop: &mut Workshop<'_>,
        task: &Task,
        commit: &CommitId,
    ) -> Result<Result<Evidence, String>, EngineError> {
        let results = match self.hear(workshop, task, commit)? {
            Ok(results) => results,
            Err(why) => return Ok(Err(why)),
        };
        let outcome = "done".parse().expect("a word is an outcome");
        let mut verdict = Verdict::of(outcome, commit.clone());
        if let (Some(Measure { suite, .. }), Some(results)) = (&self.measure, &results) {
            measured(workshop, task, suite, commit, results)?;
            verdict.tests = Some(results.numbers());
        }
        let judged = Evidence::Judged { verdict };
        prove(workshop, task, &judged, "judge")?;
        Ok(Ok(judged))
    }
}

/// What the suite shows before; none if nothing ran and nobody asks for tests: then nothing passed that could fail.
fn measure(
    workshop: &mut Workshop<'_>,
    task: &Task,
    run: &Run,
    suite: Suite,
    (referee, base): (&Referee, &CommitId),
) -> Result<Option<Measure>, EngineError> {
    let workflow = &run.spec.workflow;
    let is_asked_for = workflow.needs_suite() || workflow.suite.is_some();
    match referee.known(workshop, task, &suite, base)? {
        Ok(before) => Ok(Some(Measure { suite, before })),
        Err(_) if !is_asked_for => Ok(None),
        Err(said) => Err(EngineError::NoProof(format!(
            "the test suite does not run as it was before the work was split, so nothing could be proved: {said}"
        ))),
    }
}

fn within(paths: Option<&Ownership>, path: &RepoPath) -> bool {
    paths.is_some_and(|it| it.covers(path, CaseRule::NATIVE))
}
