//! Running a test suite, and reading what it showed.

mod cargo;
mod found;
mod junit;
mod tap;

use std::fs;
use std::path::{Path, PathBuf};

use handoff_core::Task;
use handoff_core::feature::CheckOutcome;
use handoff_core::trial::{FailureKind, Results, SuiteRun, TestOutcome};
use handoff_core::workflow::{Suite, SuiteFormat};
use handoff_files::Dir;

pub(crate) use found::found;

use crate::check_bench::{Bench, Order};
use crate::enclosure::whole;
use crate::error::EngineError;
use crate::workshop::Workshop;

/// Where a command that writes a report is told to: outside of the tree that it tests.
const REPORT: &str = "HANDOFF_REPORT";
/// A suite that says more is broken.
const MOST: usize = 256 * 1024 * 1024;
/// So much of the end of what a runner said is told.
const TAIL: usize = 600;

/// Runs a suite once.
pub(crate) fn run(
    workshop: &mut Workshop<'_>,
    task: &Task,
    suite: &Suite,
    bench: &Bench,
) -> Result<SuiteRun, EngineError> {
    let report = bench.report(suite);
    fs::remove_file(&report).ok();
    let own = [
        (REPORT, report.clone().into_os_string()),
        ("CARGO_TERM_COLOR", "never".into()),
        ("PYTHONDONTWRITEBYTECODE", "1".into()),
        ("NO_COLOR", "1".into()),
    ];
    let order = Order {
        variables: own.into(),
        // All of it: a test whose line was cut off would be taken for one that is not there.
        output: whole(MOST),
        ..Order::of(&suite.command)
    };
    let mut running = bench.start(workshop, task, order)?;
    let (child, patience) = running.waited_for();
    let exit = workshop.wait(child, task, Some(patience))?;
    let outcome = running.outcome(exit)?;
    let said = bench.seen_from_inside(&running.stdout());
    let exit = match outcome {
        CheckOutcome::Passed => 0,
        CheckOutcome::Failed { code } => code,
        CheckOutcome::Killed { .. } | CheckOutcome::TimedOut | CheckOutcome::OverLimit { .. } => {
            let why = outcome
                .limit()
                .map_or_else(String::new, |it| format!(": {it}"));
            let said = format!("it did not come to its end{why}\n{}", tail(&said));
            return Ok(SuiteRun::DidNotRun { said });
        }
    };
    let written = match suite.format {
        SuiteFormat::Junit => written(&report),
        SuiteFormat::Cargo | SuiteFormat::Tap | SuiteFormat::Exit => String::new(),
    };
    Ok(read(suite.format, exit, &said, &written))
}

/// The report, if it is a file: what runs here may have put anything in its place.
fn written(report: &Path) -> String {
    let name = report.file_name().unwrap_or_default();
    let dir = report.parent().and_then(|it| Dir::open(it).ok());
    let text = dir.and_then(|it| it.read_to_string(name, MOST as u64).ok());
    text.unwrap_or_default()
}

impl Bench {
    /// What a runner said, with the files of the tree as its sessions know them. Runners name files by their whole path, and so the
    /// tests that are files; another referee has another tree, and a test would be gone there.
    fn seen_from_inside(&self, said: &str) -> String {
        let root = fs::canonicalize(&self.root).unwrap_or_else(|_| self.root.clone());
        said.replace(&format!("{}/", root.display()), "")
    }

    fn report(&self, suite: &Suite) -> PathBuf {
        match &suite.report {
            Some(path) => self.root.join(path.as_str()),
            None => self.private.join("report.xml"),
        }
    }
}

fn read(format: SuiteFormat, exit: i32, said: &str, written: &str) -> SuiteRun {
    let results = match format {
        // Something failed that is not among its tests: a target that died, or one whose words were not its own.
        SuiteFormat::Cargo => cargo::read(said).filter(|it| exit == 0 || it.counts().1 > 0),
        SuiteFormat::Tap => tap::read(said),
        SuiteFormat::Junit => junit::read(written),
        SuiteFormat::Exit => Some(as_one_test(exit)),
    };
    match results {
        Some(results) => SuiteRun::Ran(results),
        None => SuiteRun::DidNotRun {
            said: tail(&cargo::for_people(said)),
        },
    }
}

/// A suite of which nothing is known but how it ended.
fn as_one_test(exit: i32) -> Results {
    let mut results = Results::default();
    let it = if exit == 0 {
        TestOutcome::Passed
    } else {
        let why = FailureKind::Assertion;
        TestOutcome::Failed { why }
    };
    results.note("the whole suite".parse().expect("a name"), it);
    results
}

/// The end of a text, from the beginning of a line.
fn tail(said: &str) -> String {
    let said = said.trim();
    let start = said.len().saturating_sub(TAIL);
    let start = (start..=said.len())
        .find(|it| said.is_char_boundary(*it))
        .unwrap_or(0);
    let end = &said[start..];
    let end = end
        .split_once('\n')
        .filter(|_| start > 0)
        .map_or(end, |(_, rest)| rest);
    if end.is_empty() {
        "it printed nothing".to_owned()
    } else {
        end.to_owned()
    }
}

/// For which kind of reason a test failed, from what it said.
fn kind(said: &str) -> FailureKind {
    const UNIMPLEMENTED: [&str; 4] = [
        "not implemented",
        "not yet implemented",
        "NotImplementedError",
        "ERR_METHOD_NOT_IMPLEMENTED",
    ];
    const ASSERTION: [&str; 3] = ["assert", "Assert", "ERR_ASSERTION"];
    let has = |words: &[&str]| words.iter().any(|it| said.contains(it));
    match () {
        () if has(&UNIMPLEMENTED) => FailureKind::Unimplemented,
        () if has(&ASSERTION) => FailureKind::Assertion,
        () => FailureKind::Error,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_suite_of_which_only_the_end_is_known_is_one_test() {
        let SuiteRun::Ran(results) = read(SuiteFormat::Exit, 1, "", "") else {
            panic!("it ran");
        };
        assert_eq!(results.counts(), (0, 1, 0));
    }

    #[test]
    fn a_file_is_called_what_it_is_called_in_every_tree() {
        let scratch = tempfile::tempdir().unwrap();
        let root = scratch.path().canonicalize().unwrap();
        let bench = Bench::beside(scratch.path().to_owned(), &root.join("output")).unwrap();
        let said = format!("ok 1 - {}/test/a.js\n", root.display());
        assert_eq!(bench.seen_from_inside(&said), "ok 1 - test/a.js\n");
    }

    #[test]
    fn what_did_not_run_tells_the_end_of_what_was_said() {
        let said = format!("{}\nerror: expected `;`\n", "x".repeat(2_000));
        let run = read(SuiteFormat::Cargo, 101, &said, "");
        let said = "error: expected `;`".to_owned();
        assert_eq!(run, SuiteRun::DidNotRun { said });
    }

    #[test]
    fn cargo_that_fails_without_a_failed_test_has_not_run_its_tests() {
        let said = |outcome: &str, passed: u32| {
            format!(
                "   Doc-tests calc\n\nrunning 1 test\ntest src/lib.rs - add (line 3) ... {outcome}\n\n\
                 test result: {passed} passed; 0 ignored\n"
            )
        };
        let ran = |code, said: &str| {
            let run = read(SuiteFormat::Cargo, code, said, "");
            matches!(run, SuiteRun::Ran(_))
        };
        assert!(ran(0, &said("ok", 1)) && !ran(101, &said("ok", 1)));
        assert!(ran(101, &said("FAILED", 0)));
    }
}
