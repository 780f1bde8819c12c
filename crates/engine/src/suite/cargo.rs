//! What `cargo test` prints.

use std::collections::BTreeMap;

use handoff_core::trial::{FailureKind, Results, TestOutcome};

use super::kind;

/// Each test of each target. Nothing if no target came to its tests.
pub(super) fn read(said: &str) -> Option<Results> {
    let mut results = Results::default();
    let (mut target, mut has_run) = (String::new(), false);
    let mut stage = Stage::Outside;
    let (mut failed, mut reasons, mut speaker) = (vec![], BTreeMap::new(), None);
    for line in said.lines() {
        if let Some(name) = target_of(line) {
            (target, stage) = (name, Stage::Outside);
        } else if is_beginning(line) {
            (stage, has_run) = (Stage::Tests, true);
        } else if line == "failures:" && stage != Stage::Outside {
            stage = Stage::Failures;
        } else if line.starts_with("test result:") {
            settle(&mut results, &target, std::mem::take(&mut failed), &reasons);
            (stage, speaker) = (Stage::Outside, None);
            reasons.clear();
        } else if stage == Stage::Tests {
            if let Some((test, outcome)) = test_of(line) {
                match outcome {
                    "FAILED" => failed.push(test.to_owned()),
                    _ => note(&mut results, &target, test, quiet(outcome)),
                }
            }
        } else if let Some(name) = heading(line).filter(|_| stage == Stage::Failures) {
            speaker = Some(name.to_owned());
        } else if let Some(name) = &speaker {
            let said: &mut String = reasons.entry(name.clone()).or_default();
            said.push_str(line);
            said.push('\n');
        }
    }
    settle(&mut results, &target, failed, &reasons);
    has_run.then_some(results)
}

/// Where in the output of a target a line stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Stage {
    Outside,
    Tests,
    Failures,
}

/// `Running unittests src/lib.rs (target/debug/deps/calc-0123456789abcdef)` is `calc/src/lib.rs`.
fn target_of(line: &str) -> Option<String> {
    if let Some(name) = line.trim_start().strip_prefix("Doc-tests ") {
        return Some(format!("{name}/doc"));
    }
    let line = line.trim_start().strip_prefix("Running ")?;
    let (source, file) = line.strip_suffix(')')?.split_once(" (")?;
    let source = source.strip_prefix("unittests ").unwrap_or(source);
    let file = file.rsplit('/').next()?;
    let name = file.rsplit_once('-').map_or(file, |(name, _)| name);
    Some(format!("{name}/{source}"))
}

fn is_beginning(line: &str) -> bool {
    let count = line
        .strip_prefix("running ")
        .and_then(|it| it.split(' ').next());
    count.is_some_and(|it| it.parse::<u32>().is_ok())
}

/// `test a::b ... ok`, and `test a::b - should panic ... ok`.
fn test_of(line: &str) -> Option<(&str, &str)> {
    let (test, outcome) = line.strip_prefix("test ")?.rsplit_once(" ... ")?;
    let test = test.strip_suffix(" - should panic").unwrap_or(test);
    let outcome = outcome.split([',', ' ']).next()?;
    matches!(outcome, "ok" | "FAILED" | "ignored").then_some((test, outcome))
}

fn heading(line: &str) -> Option<&str> {
    line.strip_prefix("---- ")?.strip_suffix(" stdout ----")
}

fn quiet(outcome: &str) -> TestOutcome {
    match outcome {
        "ok" => TestOutcome::Passed,
        _ => TestOutcome::Skipped,
    }
}

fn settle(
    results: &mut Results,
    target: &str,
    failed: Vec<String>,
    reasons: &BTreeMap<String, String>,
) {
    for test in failed {
        let why = reasons.get(&test).map_or(FailureKind::Error, |it| why(it));
        note(results, target, &test, TestOutcome::Failed { why });
    }
}

/// A panic with words of its own is what `assert!` with a message looks like; the words of the library are not.
fn why(said: &str) -> FailureKind {
    const LIBRARY: [&str; 5] = [
        "called `Option::unwrap()`",
        "called `Result::unwrap()`",
        "index out of bounds",
        "attempt to ",
        "out of range",
    ];
    let is_words = said.contains("panicked at") && !LIBRARY.iter().any(|it| said.contains(it));
    match kind(said) {
        FailureKind::Error if is_words => FailureKind::Assertion,
        known @ (FailureKind::Assertion | FailureKind::Unimplemented | FailureKind::Error) => known,
    }
}

fn note(results: &mut Results, target: &str, test: &str, outcome: TestOutcome) {
    if let Ok(name) = format!("{target}::{test}").parse() {
        results.note(name, outcome);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SAID: &str = "   Compiling calc v0.1.0
     Running unittests src/lib.rs (target/debug/deps/calc-17a8f8c9a7c5a3bd)

running 1 test
test tests::inner ... ignored, slow

test result: ok. 0 passed; 0 failed; 1 ignored; 0 measured; 0 filtered out; finished in 0.00s

     Running tests/sums.rs (target/debug/deps/sums-5d4c5fcf10a4a2f6)

running 4 tests
test adds ... ok
test divides - should panic ... ok
test negates ... FAILED
test subtracts ... FAILED

failures:

---- negates stdout ----

thread 'negates' (4242) panicked at src/lib.rs:9:5:
not yet implemented
note: run with `RUST_BACKTRACE=1` environment variable to display a backtrace

---- subtracts stdout ----
test adds ... FAILED

thread 'subtracts' (4243) panicked at tests/sums.rs:12:5:
assertion `left == right` failed
  left: 3
 right: 1


failures:
    negates
    subtracts

test result: FAILED. 2 passed; 2 failed; 0 ignored; 0 measured; 0 filtered out; finished in 0.00s

   Doc-tests calc

running 1 test
test src/lib.rs - add (line 3) ... ok

test result: ok. 1 passed; 0 failed; 0 ignored; 0 measured; 0 filtered out; finished in 0.10s
";

    #[test]
    fn each_test_is_known_by_its_target_and_its_name() {
        let results = read(SAID).unwrap();
        let told: Vec<_> = results
            .iter()
            .map(|(name, it)| (name.as_str(), it))
            .collect();
        let failed = |why| TestOutcome::Failed { why };
        assert_eq!(
            told,
            [
                ("calc/doc::src/lib.rs - add (line 3)", TestOutcome::Passed),
                ("calc/src/lib.rs::tests::inner", TestOutcome::Skipped),
                ("sums/tests/sums.rs::adds", TestOutcome::Passed),
                ("sums/tests/sums.rs::divides", TestOutcome::Passed),
                (
                    "sums/tests/sums.rs::negates",
                    failed(FailureKind::Unimplemented)
                ),
                (
                    "sums/tests/sums.rs::subtracts",
                    failed(FailureKind::Assertion)
                ),
            ]
        );
    }

    #[test]
    fn a_tree_that_does_not_compile_has_no_results() {
        assert_eq!(
            read("error[E0425]: cannot find function\nerror: could not compile"),
            None
        );
    }

    #[test]
    fn a_crash_is_no_assertion() {
        let crash = SAID.replace(
            "assertion `left == right` failed",
            "attempt to subtract with overflow",
        );
        let results = read(&crash).unwrap();
        let why = results
            .iter()
            .find(|(name, _)| name.as_str().ends_with("subtracts"));
        let failed = TestOutcome::Failed {
            why: FailureKind::Error,
        };
        assert_eq!(why.unwrap().1, failed);
    }
}
