//! What follows from the results before a session and after it.

use super::objection::Objection;
use super::results::{FailureKind, Results, SuiteRun, TestName, TestOutcome};

/// The test that a session was to write, as it names it, and why it may fail.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Wanted<'a> {
    /// Its name.
    pub test: &'a str,
    /// The kinds of reason for which it may fail.
    pub expected: &'a [FailureKind],
    /// Tests that were there before and may ask for something else.
    pub altered: &'a [TestName],
}

/// What a test that was written shows.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Red {
    /// It fails: there is something to be done.
    Failing(TestName),
    /// It passes: what it asks for is there already.
    Covered(TestName),
}

/// The new test is there, alone, and fails for an expected reason, or shows that it is covered; nothing else broke.
pub fn red(before: &Results, after: &SuiteRun, wanted: &Wanted<'_>) -> Result<Red, Objection> {
    let after = ran(after)?;
    let cases = meant(after, wanted.test)?;
    let (test, _) = cases[0];
    let is_altered = { wanted.altered.iter() }.any(|it| Results::is_same_test(it, test));
    if before.has_family(test) && !is_altered {
        return Err(Objection::NotNew { test: test.clone() });
    }
    let is_other = |name: &&TestName| !before.has(name) && !cases.iter().any(|(it, _)| it == name);
    let others: Vec<_> = after
        .iter()
        .map(|(name, _)| name)
        .filter(is_other)
        .cloned()
        .collect();
    if !others.is_empty() {
        return Err(Objection::OthersToo(others));
    }
    spared_but(before, after, wanted.altered)?;
    shown(&cases, wanted.expected)
}

/// Of several cases the first that fails decides.
fn shown(cases: &[(&TestName, TestOutcome)], expected: &[FailureKind]) -> Result<Red, Objection> {
    let skipped = cases
        .iter()
        .find(|(_, it)| matches!(it, TestOutcome::Skipped));
    if let Some((test, _)) = skipped {
        return Err(Objection::WantedSkipped((*test).clone()));
    }
    let failing = cases.iter().find_map(|(test, outcome)| match outcome {
        TestOutcome::Failed { why } => Some((*test, *why)),
        TestOutcome::Passed | TestOutcome::Skipped => None,
    });
    match failing {
        None => Ok(Red::Covered(cases[0].0.clone())),
        Some((test, why)) if expected.contains(&why) => Ok(Red::Failing(test.clone())),
        Some((test, found)) => Err(Objection::OtherReason {
            test: test.clone(),
            found,
            expected: expected.to_vec(),
        }),
    }
}

/// The test that was red passes, and nothing else broke.
pub fn green(before: &Results, after: &SuiteRun, test: &TestName) -> Result<(), Objection> {
    let after = ran(after)?;
    for (case, outcome) in meant(after, test.as_str())? {
        match outcome {
            TestOutcome::Passed => {}
            TestOutcome::Failed { .. } => return Err(Objection::StillFails(case.clone())),
            TestOutcome::Skipped => return Err(Objection::WantedSkipped(case.clone())),
        }
    }
    spared(before, after)
}

/// The same tests, and none of them worse.
pub fn same(before: &Results, after: &SuiteRun) -> Result<(), Objection> {
    let after = ran(after)?;
    // What is lost says more than what came in its place.
    spared(before, after)?;
    let added: Vec<_> = { after.iter() }
        .filter(|(name, _)| !before.has(name))
        .map(|(name, _)| name.clone())
        .collect();
    match added.as_slice() {
        [] => Ok(()),
        [_, ..] => Err(Objection::Added(added)),
    }
}

fn ran(run: &SuiteRun) -> Result<&Results, Objection> {
    match run {
        SuiteRun::Ran(results) => Ok(results),
        SuiteRun::DidNotRun { said } => Err(Objection::DidNotRun { said: said.clone() }),
    }
}

fn meant<'a>(
    results: &'a Results,
    test: &str,
) -> Result<Vec<(&'a TestName, TestOutcome)>, Objection> {
    let cases = results.meant_by(test);
    let Some((first, _)) = cases.first() else {
        let test = test.to_owned();
        return Err(Objection::NotThere { test });
    };
    let is_one = { cases.iter() }.all(|(name, _)| Results::is_same_test(first, name));
    if is_one {
        return Ok(cases);
    }
    Err(Objection::Ambiguous {
        test: test.to_owned(),
        several: cases.into_iter().map(|(name, _)| name.clone()).collect(),
    })
}

/// Nothing broke, whatever else came.
pub fn unharmed<'a>(before: &Results, after: &'a SuiteRun) -> Result<&'a Results, Objection> {
    let after = ran(after)?;
    spared(before, after).map(|()| after)
}

/// Tests that were to ask for something else pass again, or are gone.
pub fn settled(after: &SuiteRun, altered: &[TestName]) -> Result<(), Objection> {
    let after = ran(after)?;
    let fails = |it: &&TestName| !matches!(after.outcome(it), None | Some(TestOutcome::Passed));
    match altered.iter().find(fails) {
        Some(test) => Err(Objection::StillFails(test.clone())),
        None => Ok(()),
    }
}

/// The test that is meant by a name, among those that ran; why it is none, if not.
pub fn named(results: &Results, test: &str) -> Result<TestName, Objection> {
    meant(results, test).map(|cases| cases[0].0.clone())
}

fn spared(before: &Results, after: &Results) -> Result<(), Objection> {
    spared_but(before, after, &[])
}

/// No test that passed before fails, is skipped or is gone, but those that may. Flaky ones neither prove nor refute. None is skipped:
/// one that does not run asks for nothing.
fn spared_but(before: &Results, after: &Results, altered: &[TestName]) -> Result<(), Objection> {
    let (mut broken, mut skipped, mut gone) = (vec![], vec![], vec![]);
    for (name, was) in before.iter() {
        let is_altered = altered.iter().any(|it| Results::is_same_test(it, name));
        if is_altered && after.outcome(name) != Some(TestOutcome::Skipped) {
            continue;
        }
        let has_passed = before.steady(name) == Some(TestOutcome::Passed);
        match after.outcome(name) {
            // One that failed or is flaky must stay as well.
            None => gone.push(name.clone()),
            Some(TestOutcome::Skipped) if was != TestOutcome::Skipped => skipped.push(name.clone()),
            Some(TestOutcome::Passed) => {}
            Some(_) if !has_passed => {}
            // What the newer run has found to be flaky proves nothing; gone it may not be.
            Some(_) if after.steady(name).is_none() => {}
            Some(TestOutcome::Failed { .. }) => broken.push(name.clone()),
            Some(TestOutcome::Skipped) => skipped.push(name.clone()),
        }
    }
    let objections = [
        (gone, Objection::Gone as fn(Vec<TestName>) -> Objection),
        (skipped, Objection::Skipped),
        (broken, Objection::Broken),
    ];
    let worst = objections.into_iter().find(|(tests, _)| !tests.is_empty());
    worst.map_or(Ok(()), |(tests, objection)| Err(objection(tests)))
}

#[cfg(test)]
mod tests {
    use super::*;

    const PASSED: TestOutcome = TestOutcome::Passed;
    const FAILED: TestOutcome = TestOutcome::Failed {
        why: FailureKind::Assertion,
    };
    const CRASHED: TestOutcome = TestOutcome::Failed {
        why: FailureKind::Error,
    };

    fn results(tests: &[(&str, TestOutcome)]) -> Results {
        let mut results = Results::default();
        for (name, outcome) in tests {
            results.note(name.parse().unwrap(), *outcome);
        }
        results
    }

    fn run(tests: &[(&str, TestOutcome)]) -> SuiteRun {
        SuiteRun::Ran(results(tests))
    }

    fn name(text: &str) -> TestName {
        text.parse().unwrap()
    }

    fn wanted(test: &str) -> Wanted<'_> {
        Wanted {
            test,
            expected: &[FailureKind::Assertion, FailureKind::Unimplemented],
            altered: &[],
        }
    }

    #[test]
    fn a_new_failing_test_is_red() {
        let before = results(&[("a.rs::old", PASSED), ("a.rs::known", FAILED)]);
        let after = run(&[
            ("a.rs::old", PASSED),
            ("a.rs::known", FAILED),
            ("a.rs::new", FAILED),
        ]);
        let shown = red(&before, &after, &wanted("new"));
        assert_eq!(shown, Ok(Red::Failing(name("a.rs::new"))));
    }

    #[test]
    fn one_that_passes_at_once_is_covered() {
        let after = run(&[("new", PASSED)]);
        let shown = red(&Results::default(), &after, &wanted("new"));
        assert_eq!(shown, Ok(Red::Covered(name("new"))));
    }

    #[test]
    fn breaking_what_worked_is_no_red() {
        let before = results(&[("old", PASSED)]);
        let after = run(&[("old", FAILED), ("new", FAILED)]);
        let shown = red(&before, &after, &wanted("new"));
        assert_eq!(shown, Err(Objection::Broken(vec![name("old")])));
    }

    #[test]
    fn the_test_must_be_there_new_alone_and_run() {
        let before = results(&[("old", PASSED)]);
        let of = |tests: &[(&str, TestOutcome)], test| red(&before, &run(tests), &wanted(test));
        let missing = Objection::NotThere {
            test: "new".to_owned(),
        };
        assert_eq!(of(&[("old", PASSED)], "new"), Err(missing));
        let known = Objection::NotNew { test: name("old") };
        assert_eq!(of(&[("old", FAILED)], "old"), Err(known));
        let two = [("old", PASSED), ("new", FAILED), ("more", FAILED)];
        assert_eq!(
            of(&two, "new"),
            Err(Objection::OthersToo(vec![name("more")]))
        );
        let skipped = [("old", PASSED), ("new", TestOutcome::Skipped)];
        assert_eq!(
            of(&skipped, "new"),
            Err(Objection::WantedSkipped(name("new")))
        );
    }

    #[test]
    fn it_must_fail_for_a_reason_that_was_expected() {
        let after = run(&[("new", CRASHED)]);
        let shown = red(&Results::default(), &after, &wanted("new"));
        assert_eq!(
            shown.unwrap_err().to_string(),
            "`new` fails with error, where assertion or unimplemented was expected"
        );
    }

    #[test]
    fn a_test_may_ask_for_something_else_where_a_person_agreed() {
        let before = results(&[("old", PASSED), ("other", PASSED)]);
        let altered = [name("old")];
        let wanted = Wanted {
            altered: &altered,
            ..wanted("old")
        };
        let of = |tests: &[(&str, TestOutcome)]| red(&before, &run(tests), &wanted);
        let failing = [("old", FAILED), ("other", PASSED)];
        assert_eq!(of(&failing), Ok(Red::Failing(name("old"))));
        let broken = Objection::Broken(vec![name("other")]);
        assert_eq!(of(&[("old", FAILED), ("other", FAILED)]), Err(broken));
        let idle = [("old", TestOutcome::Skipped), ("other", PASSED)];
        assert_eq!(of(&idle), Err(Objection::Skipped(vec![name("old")])));
        let fails = Objection::StillFails(name("old"));
        assert_eq!(settled(&run(&failing), &altered), Err(fails));
        assert_eq!(settled(&run(&[("other", PASSED)]), &altered), Ok(()));
    }

    #[test]
    fn cases_of_one_test_are_one_test() {
        let after = run(&[
            ("t.py::test_add[1-2]", PASSED),
            ("t.py::test_add[3-4]", FAILED),
        ]);
        let shown = red(&Results::default(), &after, &wanted("test_add"));
        assert_eq!(shown, Ok(Red::Failing(name("t.py::test_add[3-4]"))));
    }

    #[test]
    fn a_name_that_means_two_tests_is_not_guessed() {
        let after = run(&[("a.rs::new", FAILED), ("b.rs::new", FAILED)]);
        let shown = red(&Results::default(), &after, &wanted("new"));
        assert!(
            matches!(shown, Err(Objection::Ambiguous { .. })),
            "{shown:?}"
        );
    }

    #[test]
    fn green_means_that_it_passes_and_nothing_else_broke() {
        let before = results(&[("old", PASSED), ("new", FAILED)]);
        let of = |tests: &[(&str, TestOutcome)]| green(&before, &run(tests), &name("new"));
        assert_eq!(of(&[("old", PASSED), ("new", PASSED)]), Ok(()));
        let fails = Objection::StillFails(name("new"));
        assert_eq!(of(&[("old", PASSED), ("new", FAILED)]), Err(fails));
        let gone = Objection::Gone(vec![name("old")]);
        assert_eq!(of(&[("new", PASSED)]), Err(gone));
        let skipped = Objection::Skipped(vec![name("old")]);
        let tests = [("old", TestOutcome::Skipped), ("new", PASSED)];
        assert_eq!(of(&tests), Err(skipped));
    }

    #[test]
    fn what_failed_before_does_not_count_until_it_passes() {
        let before = results(&[("bad", FAILED), ("new", FAILED)]);
        let after = run(&[("bad", FAILED), ("new", PASSED)]);
        assert_eq!(green(&before, &after, &name("new")), Ok(()));
        let mended = results(&[("bad", PASSED)]);
        let again = run(&[("bad", FAILED)]);
        assert_eq!(
            same(&mended, &again),
            Err(Objection::Broken(vec![name("bad")]))
        );
    }

    #[test]
    fn flaky_tests_neither_prove_nor_refute_but_must_stay() {
        let mut before = results(&[("odd", PASSED), ("old", PASSED)]);
        before.repeat(&results(&[("odd", FAILED), ("old", PASSED)]));
        assert_eq!(before.flaky().collect::<Vec<_>>(), [&name("odd")]);
        let after = run(&[("odd", FAILED), ("old", PASSED)]);
        assert_eq!(same(&before, &after), Ok(()));
    }

    #[test]
    fn what_failed_before_may_not_go_either() {
        let before = results(&[("bad", FAILED)]);
        let gone = Objection::Gone(vec![name("bad")]);
        assert_eq!(same(&before, &run(&[])), Err(gone));
        let skipped = Objection::Skipped(vec![name("bad")]);
        assert_eq!(
            same(&before, &run(&[("bad", TestOutcome::Skipped)])),
            Err(skipped)
        );
    }

    #[test]
    fn refactoring_adds_no_test_and_loses_none() {
        let before = results(&[("old", PASSED)]);
        let more = run(&[("old", PASSED), ("new", PASSED)]);
        assert_eq!(
            same(&before, &more),
            Err(Objection::Added(vec![name("new")]))
        );
        for left in [run(&[]), run(&[("old.js", PASSED)])] {
            assert_eq!(
                same(&before, &left),
                Err(Objection::Gone(vec![name("old")]))
            );
        }
        let said = "error: expected `;`".to_owned();
        let broken = SuiteRun::DidNotRun { said: said.clone() };
        assert_eq!(same(&before, &broken), Err(Objection::DidNotRun { said }));
    }
}
