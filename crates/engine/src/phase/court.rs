//! Judging a phase: the tool looks at what the session left, runs what has to be run in a tree of its own, and decides.

mod mixed_file;
mod plan_proof;
mod red_proof;

use handoff_core::ownership::{CaseRule, RepoPath};
use handoff_core::run::{Cause, ChangeKind, Run, Verdict, Weaker};
use handoff_core::task::Evidence;
use handoff_core::trial::{Results, SuiteRun, TestName, green, same, settled};
use handoff_core::workflow::{Outcome, Phase, Proof, Suite};
use handoff_core::{CommitId, JsonText, Task};
use handoff_git::Repository;
use serde_json::Value;

use super::beginning::{is_in, suite_of};
use super::bench::{Exhibit, Referee, measured};
use super::described_batch::{Left, read_manifest};
use super::test_item::LIST;
use super::{build_output, path_rule};
use crate::collect::{Harvest, commit_as, harvest};
use crate::error::EngineError;
use crate::judgement::{Judgement, prove};
use crate::road::{Ending, reason};
use crate::workshop::Workshop;
use mixed_file::MixedFile;

/// So much of what a check said is kept for the next session.
const LONGEST_WORD: usize = 500;

/// What a session is judged by.
struct Court<'a> {
    task: &'a Task,
    run: &'a Run,
    phase: &'a Phase,
    base: &'a CommitId,
    at: &'a Repository,
    suite: Option<Suite>,
    referee: Referee,
}

/// What was found, or why it is not accepted: written for the session that tries next.
type Finding<T> = Result<Result<T, String>, EngineError>;

/// What a proof found.
#[derive(Default)]
struct Found {
    outcome: String,
    item: Option<String>,
    test: Option<TestName>,
    results: Option<Results>,
    weaker: Option<Weaker>,
    kind: Option<ChangeKind>,
    alters: Vec<TestName>,
}

/// What a session left, as far as it changed something.
struct Changed<'a> {
    candidate: &'a CommitId,
    paths: &'a [RepoPath],
    /// Those of the paths in which tests and code stand together.
    mixed: &'a [MixedFile],
}

impl Changed<'_> {
    fn weaker(&self) -> Option<Weaker> {
        (!self.mixed.is_empty()).then_some(Weaker::InlineTests)
    }
}

impl Found {
    fn of(outcome: &str) -> Self {
        Self {
            outcome: outcome.to_owned(),
            ..Self::default()
        }
    }
}

/// Judges what the session of a phase left.
pub(crate) fn judge(
    workshop: &mut Workshop<'_>,
    task: &Task,
    run: &Run,
    base: &CommitId,
    at: &Repository,
) -> Result<Judgement, EngineError> {
    // Killed after the verdict: what was found then counts.
    let known = workshop.reload(task)?.evidence;
    if let Some(judged) = known.into_iter().rev().find(|it| it.verdict().is_some()) {
        return Ok(Judgement::Accepted(vec![judged]));
    }
    let suite = suite_of(workshop, run, at, base);
    let court = Court {
        task,
        run,
        phase: run.phase(),
        base,
        at,
        suite,
        referee: Referee::of(workshop, run.id)?,
    };
    let harvest = match harvest(workshop, task, at, base) {
        Ok(harvest) => harvest,
        Err(ending) => return Ok(Judgement::Rejected(ending)),
    };
    match court.hear(workshop, &harvest)? {
        Ok(evidence) => Ok(Judgement::Accepted(evidence)),
        Err(Refusal { cause, why }) => {
            prove(workshop, task, &Evidence::Refused { cause }, "refuse")?;
            Ok(Judgement::Rejected(Ending::Failed(reason(&why))))
        }
    }
}

/// Why the work is not accepted.
struct Refusal {
    cause: Cause,
    why: String,
}

impl Refusal {
    const fn of_check(why: String) -> Self {
        let cause = Cause::CheckFailed;
        Self { cause, why }
    }
}

impl Court<'_> {
    fn hear(
        &self,
        workshop: &mut Workshop<'_>,
        harvest: &Harvest,
    ) -> Result<Result<Vec<Evidence>, Refusal>, EngineError> {
        let said = workshop.reload(self.task)?.report.and_then(|it| it.result);
        let paths = harvest.paths.as_slice();
        let candidate = self.commit(workshop, harvest)?;
        let said = match self.result(said.as_ref().map(JsonText::as_str)) {
            Ok(said) => said,
            Err(why) => {
                let cause = Cause::InvalidResult;
                return Ok(Err(Refusal { cause, why }));
            }
        };
        let mixed = self.mixed(workshop, &candidate, paths)?;
        let mut declared = stubs(&said);
        declared.extend(self.as_tests(&mixed).into_iter().cloned());
        let by_path = || path_rule::objection(self.phase, self.suite.as_ref(), paths, &declared);
        let objection = self.output_among(workshop, paths).or_else(by_path);
        if let Some(why) = objection {
            return Ok(Err(Refusal::of_check(why)));
        }
        let left = Changed {
            candidate: &candidate,
            paths,
            mixed: &mixed,
        };
        let found = match self.proof(workshop, &said, &left)? {
            Ok(found) => found,
            Err(why) => return Ok(Err(Refusal::of_check(why))),
        };
        let outcome: Outcome = found.outcome.parse().expect("an outcome is a name");
        let said = Left {
            at: self.at,
            commit: &candidate,
            said: &said,
        };
        let manifest = match read_manifest(workshop, self.run, &outcome, &said)? {
            Ok(manifest) => manifest,
            Err(why) => {
                let cause = Cause::InvalidResult;
                return Ok(Err(Refusal { cause, why }));
            }
        };
        if let Some(suite) = &self.suite
            && paths.iter().all(|it| it.as_str() == LIST)
        {
            self.referee.carry_over(suite, self.base, &candidate)?;
        }
        let verdict = Verdict {
            item: found.item,
            test: found.test,
            tests: found.results.as_ref().map(Results::numbers),
            manifest,
            weaker: found.weaker,
            kind: found.kind,
            alters: found.alters,
            ..Verdict::of(outcome, candidate)
        };
        self.accept(workshop, verdict, found.results.as_ref())
            .map(Ok)
    }

    /// What was built, where only what was written belongs.
    fn output_among(&self, workshop: &Workshop<'_>, paths: &[RepoPath]) -> Option<String> {
        let is_new = |path: &RepoPath| !is_in(workshop, self.at, self.base, path.as_str());
        build_output::objection(self.suite.as_ref(), paths, is_new)
    }

    /// The work in a commit on the branch of the attempt, also if it comes to nothing; what is left unchanged is the base.
    fn commit(
        &self,
        workshop: &mut Workshop<'_>,
        harvest: &Harvest,
    ) -> Result<CommitId, EngineError> {
        let message = self.message();
        let proof = commit_as(workshop, self.task, self.at, harvest, &message)?;
        let commit = match &proof {
            Some(proof) => {
                prove(workshop, self.task, proof, "commit")?;
                proof.commit().cloned().unwrap_or_else(|| self.base.clone())
            }
            None => self.base.clone(),
        };
        let tree = workshop
            .git
            .tree_of(self.at, &commit)
            .map_err(EngineError::Show)?;
        prove(workshop, self.task, &Evidence::Left { tree }, "left")?;
        Ok(commit)
    }

    fn message(&self) -> String {
        let item = self.item();
        let subject = item
            .as_deref()
            .unwrap_or_else(|| self.run.spec.goal.as_str().trim());
        let subject: String = subject
            .lines()
            .next()
            .unwrap_or_default()
            .chars()
            .take(64)
            .collect();
        let is_fix = self.run.cycle_plan().and_then(|it| it.kind) == Some(ChangeKind::Fix);
        let prefix = match self.phase.commit.as_str() {
            "feat:" if is_fix => "fix:",
            prefix => prefix,
        };
        format!(
            "{prefix} {subject}\n\nHandoff-Run: {}\nHandoff-Phase: {}\nHandoff-Task: {}\nHandoff-Task-Id: {}\nHandoff-Fence: {}\n",
            self.run.spec.name, self.phase.name, self.task.spec.name, self.task.id, self.task.fence
        )
    }

    /// The line of the list that the cycle is about, as far as it is known by now.
    fn item(&self) -> Option<String> {
        match self.phase.proof {
            // What the plan before it found to be next.
            Proof::Red => self.run.steps.last().and_then(|it| it.verdict.item.clone()),
            Proof::Green | Proof::Same => {
                let found = self.run.cycle_test().or_else(|| self.run.cycle_plan());
                found.and_then(|it| it.item.clone())
            }
            Proof::Plan | Proof::Checks | Proof::Until => None,
        }
    }

    /// The tests that this cycle may make ask for something else: a person agreed to that.
    fn altered(&self) -> &[TestName] {
        self.run.cycle_plan().map_or(&[], |it| &it.alters)
    }

    /// What the session handed over, if it is what was asked for.
    fn result(&self, said: Option<&str>) -> Result<Value, String> {
        let Some(schema) = &self.phase.gives else {
            return Ok(Value::Null);
        };
        let said = said
            .ok_or("the session handed over no result; finish with `handoff done --result FILE`")?;
        let said: Value =
            serde_json::from_str(said).map_err(|it| format!("the result is no JSON: {it}"))?;
        let schema: Value = serde_json::from_str(schema.as_str()).map_err(|it| it.to_string())?;
        let checker = jsonschema::validator_for(&schema)
            .map_err(|it| format!("the schema of phase `{}` is none: {it}", self.phase.name))?;
        let wrong: Vec<_> = checker
            .iter_errors(&said)
            .take(5)
            .map(|it| it.to_string())
            .collect();
        match wrong.as_slice() {
            [] => Ok(said),
            wrong => Err(format!(
                "the result does not fit its schema: {}",
                wrong.join("; ")
            )),
        }
    }

    fn proof(
        &self,
        workshop: &mut Workshop<'_>,
        said: &Value,
        left: &Changed<'_>,
    ) -> Finding<Found> {
        let candidate = left.candidate;
        if self.phase.proof == Proof::Until {
            let failed = self.checks(workshop, candidate)?;
            let outcome = if failed.is_some() { "failed" } else { "passed" };
            return Ok(Ok(Found {
                item: failed.map(|it| it.chars().take(LONGEST_WORD).collect()),
                ..Found::of(outcome)
            }));
        }
        if let Some(why) = self.checks(workshop, candidate)? {
            return Ok(Err(why));
        }
        match self.phase.proof {
            Proof::Plan => self.plan_proof(workshop, said, candidate),
            Proof::Red => self.red_proof(workshop, said, left),
            Proof::Green => self.green_proof(workshop, left),
            Proof::Same => self.same_proof(workshop, left),
            Proof::Checks | Proof::Until => Ok(self.chosen(said)),
        }
    }

    /// What the commands of the phase have against a commit.
    fn checks(
        &self,
        workshop: &mut Workshop<'_>,
        candidate: &CommitId,
    ) -> Result<Option<String>, EngineError> {
        for command in &self.phase.checks {
            let exhibit = Exhibit::of(candidate);
            let objection = self.referee.check(workshop, self.task, command, &exhibit)?;
            if objection.is_some() {
                return Ok(objection);
            }
        }
        Ok(None)
    }

    /// The outcome that the session chose among those that lead somewhere.
    fn chosen(&self, said: &Value) -> Result<Found, String> {
        let outcome = said
            .get("outcome")
            .and_then(Value::as_str)
            .unwrap_or("done");
        let is_known = self.phase.next.keys().any(|it| it.as_str() == outcome);
        if is_known {
            return Ok(Found::of(outcome));
        }
        let known: Vec<_> = self.phase.next.keys().map(ToString::to_string).collect();
        Err(format!(
            "the outcome `{outcome}` is not one of {}",
            known.join(", ")
        ))
    }

    /// The tests as they were are laid over what the session left.
    fn green_proof(&self, workshop: &mut Workshop<'_>, left: &Changed<'_>) -> Finding<Found> {
        if let Some(objection) = mixed_file::touched(left.mixed) {
            return Ok(Err(objection.to_string()));
        }
        let Some(test) = self.run.cycle_test().and_then(|it| it.test.clone()) else {
            return Ok(Err("no test was red before".to_owned()));
        };
        let tests: Vec<_> = { left.paths.iter() }
            .filter(|it| self.is_test(it))
            .cloned()
            .collect();
        let exhibit = Exhibit {
            commit: left.candidate,
            laid_over: Some((self.base, &tests)),
            written: vec![],
        };
        let (before, after) = match self.trial(workshop, &exhibit)? {
            Ok(both) => both,
            Err(why) => return Ok(Err(why)),
        };
        let shown = green(&before, &after, &test).and_then(|()| settled(&after, self.altered()));
        let shown = shown.map_err(|it| it.to_string());
        Ok(shown.map(|()| self.cycle(results(after), left)))
    }

    fn same_proof(&self, workshop: &mut Workshop<'_>, left: &Changed<'_>) -> Finding<Found> {
        if let Some(objection) = mixed_file::touched(left.mixed) {
            return Ok(Err(objection.to_string()));
        }
        let (before, after) = match self.trial(workshop, &Exhibit::of(left.candidate))? {
            Ok(both) => both,
            Err(why) => return Ok(Err(why)),
        };
        let shown = same(&before, &after).map_err(|it| it.to_string());
        Ok(shown.map(|()| self.cycle(results(after), left)))
    }

    fn is_test(&self, path: &RepoPath) -> bool {
        let tests = self.suite.as_ref().map(|it| &it.tests);
        tests.is_some_and(|it| it.covers(path, CaseRule::NATIVE))
    }

    fn cycle(&self, results: Option<Results>, left: &Changed<'_>) -> Found {
        Found {
            weaker: left.weaker(),
            item: self.item(),
            test: self.run.cycle_test().and_then(|it| it.test.clone()),
            results,
            ..Found::of("done")
        }
    }

    /// What the suite showed before, and what it shows now.
    fn trial(
        &self,
        workshop: &mut Workshop<'_>,
        exhibit: &Exhibit<'_>,
    ) -> Finding<(Results, SuiteRun)> {
        let Some(suite) = &self.suite else {
            return Ok(Err("nobody knows how the tests of this project are run; say it in `[tests]` of the workflow".to_owned()));
        };
        let known = self.referee.known(workshop, self.task, suite, self.base)?;
        let before = match known {
            Ok(before) => before,
            Err(said) => {
                return Ok(Err(format!(
                    "the test suite did not run before this phase: {said}"
                )));
            }
        };
        let after = self.referee.run(workshop, self.task, suite, exhibit)?;
        let after = match after {
            SuiteRun::Ran(results) => SuiteRun::Ran(results.knowing(&before)),
            other @ SuiteRun::DidNotRun { .. } => other,
        };
        Ok(Ok((before, after)))
    }

    fn accept(
        &self,
        workshop: &mut Workshop<'_>,
        verdict: Verdict,
        results: Option<&Results>,
    ) -> Result<Vec<Evidence>, EngineError> {
        if let (Some(suite), Some(results)) = (&self.suite, results) {
            let commit = &verdict.commit;
            self.referee.keep(suite, commit, results)?;
            measured(workshop, self.task, suite, commit, results)?;
        }
        let judged = Evidence::Judged { verdict };
        prove(workshop, self.task, &judged, "judge")?;
        Ok(vec![judged])
    }
}

fn results(run: SuiteRun) -> Option<Results> {
    match run {
        SuiteRun::Ran(results) => Some(results),
        SuiteRun::DidNotRun { .. } => None,
    }
}

/// The files outside of the tests that got a stub, as its session says.
fn stubs(said: &Value) -> Vec<RepoPath> {
    let named = said
        .get("stubs")
        .and_then(Value::as_array)
        .into_iter()
        .flatten();
    named.filter_map(|it| it.as_str()?.parse().ok()).collect()
}
