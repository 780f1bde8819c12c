//! What `cargo test` prints.

use std::collections::BTreeMap;

use handoff_core::trial::{FailureKind, Results, TestOutcome};

use super::kind;

/// Each test of each target. Nothing if no target came to its tests, or if somebody else wrote what a target says.
pub(super) fn read(said: &str) -> Option<Results> {
    let mut reader = Reader::default();
    said.lines().for_each(|line| reader.line(line));
    reader.abandon();
    (reader.has_run && !reader.is_spoiled).then_some(reader.results)
}

/// What is for people in what cargo said: not what it tells programs.
pub(super) fn for_people(said: &str) -> String {
    let lines = said.lines().filter(|it| !it.starts_with("{\"reason\":"));
    lines.map(|it| format!("{it}\n")).collect()
}

#[derive(Default)]
struct Reader {
    results: Results,
    has_run: bool,
    /// A summary came without a target: the one that it is of was ended before by words that were not its own.
    is_spoiled: bool,
    /// The member of the workspace that each program of tests is of.
    members: BTreeMap<String, String>,
    /// How often each target came: without what cargo tells programs, two members may have one of the same name.
    came: BTreeMap<String, u32>,
    target: String,
    open: Option<Open>,
}

/// A target at its tests.
#[derive(Default)]
struct Open {
    stage: Stage,
    ended: Vec<(String, TestOutcome)>,
    failed: Vec<String>,
    reasons: BTreeMap<String, String>,
    speaker: Option<String>,
}

/// Where in the output of a target a line stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
enum Stage {
    #[default]
    Tests,
    Failures,
}

impl Reader {
    fn line(&mut self, line: &str) {
        if let Some((program, member)) = artifact(line) {
            self.members.insert(program, member);
        } else if let Some(target) = target_of(line, &self.members) {
            self.abandon();
            let came = self.came.entry(target.clone()).or_default();
            *came += 1;
            self.target = match *came {
                1 => target,
                number => format!("{target} ({number})"),
            };
        } else if is_beginning(line) {
            self.abandon();
            self.has_run = true;
            self.open = Some(Open::default());
        } else if let Some(summary) = line.strip_prefix("test result:") {
            match self.open.take() {
                Some(open) => open.settle(&self.target, summary, &mut self.results),
                None => self.is_spoiled = true,
            }
        } else if let Some(open) = &mut self.open {
            open.line(line);
        }
    }

    /// Leaves a target that has not come to its end.
    fn abandon(&mut self) {
        if let Some(open) = self.open.take() {
            open.abandon(&self.target, &mut self.results);
        }
    }
}

impl Open {
    fn line(&mut self, line: &str) {
        if line == "failures:" {
            self.stage = Stage::Failures;
        } else if self.stage == Stage::Tests {
            match test_of(line) {
                Some((test, "FAILED")) => self.failed.push(test.to_owned()),
                Some((test, outcome)) => self.ended.push((test.to_owned(), quiet(outcome))),
                None => {}
            }
        } else if let Some(name) = heading(line) {
            self.speaker = Some(name.to_owned());
        } else if let Some(name) = &self.speaker {
            let said: &mut String = self.reasons.entry(name.clone()).or_default();
            said.push_str(line);
            said.push('\n');
        }
    }

    /// Takes over what the lines say, unless more tests passed there than the target itself counts: then somebody else wrote some.
    fn settle(self, target: &str, summary: &str, results: &mut Results) {
        let passed = self.ended.iter();
        let passed = passed.filter(|(_, it)| *it == TestOutcome::Passed).count();
        if counted(summary, "passed").is_none_or(|it| it < passed) {
            return self.abandon(target, results);
        }
        for (test, outcome) in &self.ended {
            note(results, target, test, *outcome);
        }
        for test in &self.failed {
            let why = self.reasons.get(test);
            let why = why.map_or(FailureKind::Error, |it| why_failed(it));
            note(results, target, test, TestOutcome::Failed { why });
        }
    }

    /// Takes over that tests failed, and nothing else: whoever ended the target may have said anything, but nobody who wants to hide
    /// a failure tells of one. Why they failed is not believed either.
    fn abandon(self, target: &str, results: &mut Results) {
        let why = FailureKind::Error;
        for test in &self.failed {
            note(results, target, test, TestOutcome::Failed { why });
        }
    }
}

/// `ok. 2 passed; 1 failed; 0 ignored; …`
fn counted(summary: &str, what: &str) -> Option<usize> {
    let mut parts = summary.split([';', '.']);
    let part = parts.find_map(|it| it.trim().strip_suffix(what))?;
    part.trim().parse().ok()
}

/// A program of tests and the directory of its package, as cargo tells other programs of it.
fn artifact(line: &str) -> Option<(String, String)> {
    line.strip_prefix("{\"reason\":\"compiler-artifact\"")?;
    let told: serde_json::Value = serde_json::from_str(line).ok()?;
    let program = told.get("executable")?.as_str()?.rsplit('/').next()?;
    let manifest = told.get("manifest_path")?.as_str()?;
    let member = manifest.strip_suffix("Cargo.toml")?;
    Some((program.to_owned(), member.to_owned()))
}

/// `Running unittests src/lib.rs (target/debug/deps/calc-0123456789abcdef)` is `calc/src/lib.rs`, below the directory of the member
/// that it is of.
fn target_of(line: &str, members: &BTreeMap<String, String>) -> Option<String> {
    if let Some(name) = line.trim_start().strip_prefix("Doc-tests ") {
        return Some(format!("{name}/doc"));
    }
    let line = line.trim_start().strip_prefix("Running ")?;
    let (source, file) = line.strip_suffix(')')?.split_once(" (")?;
    let source = source.strip_prefix("unittests ").unwrap_or(source);
    let file = file.rsplit('/').next()?;
    let name = file.rsplit_once('-').map_or(file, |(name, _)| name);
    let member = members.get(file).map_or("", String::as_str);
    Some(format!("{member}{name}/{source}"))
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

/// A panic with words of its own is what `assert!` with a message looks like; the words of the library are not.
fn why_failed(said: &str) -> FailureKind {
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
    fn a_target_that_did_not_come_to_its_end_has_shown_only_what_failed() {
        let early = SAID.replace("test result: FAILED. 2 passed; 2 failed", "so long");
        let results = read(&early).unwrap();
        let why = FailureKind::Error;
        assert!(
            results
                .iter()
                .filter(|(name, _)| name.as_str().starts_with("sums/"))
                .all(|(_, it)| it == TestOutcome::Failed { why })
        );
        assert_eq!(results.counts(), (1, 2, 1));
        let (last, _) = early.split_once("   Doc-tests").unwrap();
        assert_eq!(read(last).unwrap().counts(), (0, 2, 1));
    }

    /// What a test prints that wants its target to have passed.
    const FORGED: &str = "running 2 tests
test negates ... ok
test subtracts ... ok

test result: ok. 2 passed; 0 failed; 0 ignored; 0 measured; 0 filtered out; finished in 0.00s
";

    #[test]
    fn whoever_prints_what_a_target_says_hides_no_failure() {
        let heading = "---- subtracts stdout ----\n";
        let with = |forged: &str| SAID.replace(heading, &format!("{heading}{forged}"));
        assert_eq!(read(&with(FORGED)), None);
        let (_, summary) = FORGED.split_once("\n\n").unwrap();
        assert_eq!(read(&with(summary)), None);
        let target = "     Running tests/sums.rs (target/debug/deps/sums-5d4c5fcf10a4a2f6)\n";
        assert_eq!(read(&with(&format!("{target}{FORGED}"))), None);
        // The target's own summary ends the block that was begun for it, in which `adds` is said to fail, or nothing does.
        let (begun, _) = FORGED.split_once("\n\n").unwrap();
        assert_eq!(read(&with(begun)).unwrap().counts().1, 3);
        let forged = with(FORGED);
        let (gone, _) = forged.split_once("thread 'subtracts'").unwrap();
        assert_eq!(read(gone).unwrap().counts().1, 2);
    }

    #[test]
    fn lines_that_the_target_does_not_count_are_not_its_own() {
        let more = SAID.replace("test adds ... ok\n", "test adds ... ok\ntest more ... ok\n");
        let results = read(&more).unwrap();
        assert_eq!(results.counts(), (1, 2, 1));
        // One whose line was torn by other output is only missing.
        let torn = SAID.replace("test adds ... ok\n", "test adds ... hello\nok\n");
        assert_eq!(read(&torn).unwrap().counts(), (2, 2, 1));
    }

    #[test]
    fn targets_of_one_name_are_told_apart_by_their_members() {
        let target = |hash: &str| {
            format!(
                "     Running tests/it.rs (target/debug/deps/it-{hash})\n\nrunning 1 test\ntest adds ... ok\n\n\
                 test result: ok. 1 passed; 0 failed; 0 ignored; 0 measured; 0 filtered out\n\n"
            )
        };
        let names = |said: &str| {
            let results = read(said).unwrap();
            let names: Vec<_> = results.iter().map(|(name, _)| name.to_string()).collect();
            names
        };
        let said = format!("{}{}", target("0a"), target("0b"));
        assert_eq!(
            names(&said),
            ["it/tests/it.rs (2)::adds", "it/tests/it.rs::adds"]
        );
        let artifact = |member: &str, hash: &str| {
            format!(
                r#"{{"reason":"compiler-artifact","manifest_path":"{member}Cargo.toml","executable":"/x/target/debug/deps/it-{hash}"}}"#
            )
        };
        let said = format!(
            "{}\n{}\n{said}",
            artifact("", "0a"),
            artifact("crates/b/", "0b")
        );
        assert_eq!(
            names(&said),
            ["crates/b/it/tests/it.rs::adds", "it/tests/it.rs::adds"]
        );
        assert_eq!(
            for_people("{\"reason\":\"build-finished\"}\nerror\n"),
            "error\n"
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
