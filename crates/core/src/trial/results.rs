//! What a run of a test suite showed.

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};

use crate::checked_text::checked_text;

/// The name of a test as its runner spells it, with what tells it from its namesakes in other files before it.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct TestName(String);

/// A text that names no test.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error(
    "the name of a test has between 1 and {} bytes, and no line break",
    TestName::LIMIT
)]
pub struct TestNameError;

impl TestName {
    /// The longest one, in bytes.
    pub const LIMIT: usize = 1024;

    /// Without the values of one case of a parametrised test.
    fn family(&self) -> &str {
        match self.0.strip_suffix(']') {
            Some(open) => open.split('[').next().unwrap_or_default(),
            None => &self.0,
        }
    }

    /// Whether a person who says `said` means this test, or a case of it.
    fn is_meant_by(&self, said: &str) -> bool {
        let is_end = |full: &str| {
            let before = full.strip_suffix(said);
            before.is_some_and(|it| it.is_empty() || it.ends_with(['/', ':', '>', ' ', '.']))
        };
        is_end(&self.0) || is_end(self.family())
    }
}

checked_text!(TestName, TestNameError, |text| {
    let fits = !text.trim().is_empty() && text.len() <= TestName::LIMIT && !text.contains('\n');
    if fits { Ok(()) } else { Err(TestNameError) }
});

/// How a test ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub enum TestOutcome {
    /// It passed.
    Passed,
    /// It failed.
    Failed {
        /// For which kind of reason.
        why: FailureKind,
    },
    /// It did not run.
    Skipped,
}

impl TestOutcome {
    /// The word for it.
    pub const fn word(self) -> &'static str {
        match self {
            Self::Passed => "passes",
            Self::Failed { .. } => "fails",
            Self::Skipped => "is skipped",
        }
    }
}

/// For which kind of reason a test failed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum FailureKind {
    /// What it checks is not so.
    Assertion,
    /// What it calls says that it is not there yet.
    Unimplemented,
    /// Something else went wrong.
    Error,
}

impl FailureKind {
    /// The word for it.
    pub const fn word(self) -> &'static str {
        match self {
            Self::Assertion => "assertion",
            Self::Unimplemented => "unimplemented",
            Self::Error => "error",
        }
    }
}

/// Each test with how it ended.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Results {
    tests: BTreeMap<TestName, TestOutcome>,
    /// Tests that end now so, now so: they prove nothing and refute nothing.
    #[serde(default, skip_serializing_if = "BTreeSet::is_empty")]
    flaky: BTreeSet<TestName>,
}

impl Results {
    /// One that is told twice counts by the worse of the two.
    pub fn note(&mut self, test: TestName, outcome: TestOutcome) {
        let there = self.tests.entry(test).or_insert(outcome);
        match (*there, outcome) {
            (TestOutcome::Failed { .. }, _) | (TestOutcome::Skipped, TestOutcome::Passed) => {}
            (TestOutcome::Passed | TestOutcome::Skipped, _) => *there = outcome,
        }
    }

    /// The same suite ran again on the same tree: whatever ended otherwise is flaky.
    pub fn repeat(&mut self, again: &Self) {
        let of = |results: &Self, name: &TestName| results.tests.get(name).map(is_passed);
        let names: BTreeSet<_> = self
            .tests
            .keys()
            .chain(again.tests.keys())
            .cloned()
            .collect();
        let differing = names.into_iter().filter(|it| of(self, it) != of(again, it));
        let differing: Vec<_> = differing.collect();
        self.flaky.extend(again.flaky.iter().cloned());
        self.flaky.extend(differing);
    }

    /// Takes over which tests are flaky.
    #[must_use]
    pub fn knowing(mut self, other: &Self) -> Self {
        self.flaky.extend(other.flaky.iter().cloned());
        self
    }

    /// All tests with how they ended, by name.
    pub fn iter(&self) -> impl Iterator<Item = (&TestName, TestOutcome)> {
        self.tests.iter().map(|(name, outcome)| (name, *outcome))
    }

    /// Those that end now so, now so.
    pub fn flaky(&self) -> impl Iterator<Item = &TestName> {
        self.flaky.iter()
    }

    /// How many passed, failed and were skipped.
    pub fn counts(&self) -> (usize, usize, usize) {
        let count =
            |is_it: fn(&TestOutcome) -> bool| self.tests.values().filter(|it| is_it(it)).count();
        (
            count(is_passed),
            count(|it| matches!(it, TestOutcome::Failed { .. })),
            count(|it| matches!(it, TestOutcome::Skipped)),
        )
    }

    /// The same as a ledger has them.
    pub fn numbers(&self) -> (u64, u64, u64) {
        let number = |it: usize| u64::try_from(it).unwrap_or(u64::MAX);
        let (passed, failed, skipped) = self.counts();
        (number(passed), number(failed), number(skipped))
    }

    /// How a test ended, if it is there and its results mean something.
    pub(super) fn steady(&self, test: &TestName) -> Option<TestOutcome> {
        let outcome = self.tests.get(test).copied();
        outcome.filter(|_| !self.flaky.contains(test))
    }

    /// Whether a test is there at all.
    pub(super) fn has(&self, test: &TestName) -> bool {
        self.tests.contains_key(test)
    }

    /// How a test ended, flaky or not.
    pub(super) fn outcome(&self, test: &TestName) -> Option<TestOutcome> {
        self.tests.get(test).copied()
    }

    /// Whether two names are those of cases of one test.
    pub(super) fn is_same_test(one: &TestName, other: &TestName) -> bool {
        one.family() == other.family()
    }

    /// Whether any case of the same test is there.
    pub(super) fn has_family(&self, test: &TestName) -> bool {
        self.tests.keys().any(|it| it.family() == test.family())
    }

    /// The tests that a person means by a name: one, or all the cases of one.
    pub(super) fn meant_by(&self, said: &str) -> Vec<(&TestName, TestOutcome)> {
        let found: Vec<_> = self
            .iter()
            .filter(|(name, _)| name.is_meant_by(said))
            .collect();
        let exact: Vec<_> = { found.iter() }
            .filter(|(name, _)| name.as_str() == said || name.family() == said)
            .copied()
            .collect();
        if exact.is_empty() { found } else { exact }
    }
}

const fn is_passed(outcome: &TestOutcome) -> bool {
    matches!(outcome, TestOutcome::Passed)
}

/// What came of running a suite.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum SuiteRun {
    /// Its tests ran.
    Ran(Results),
    /// They did not: the tree does not compile, a file cannot be loaded, or the runner broke.
    DidNotRun {
        /// The end of what the runner said.
        said: String,
    },
}
