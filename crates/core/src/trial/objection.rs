//! Why a phase is not proved.

use super::results::{FailureKind, TestName};
use crate::ownership::RepoPath;

/// Why a phase is not proved: written for the session that tries next.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Objection {
    /// The suite did not run.
    #[error("the test suite does not run on this tree: {said}")]
    DidNotRun {
        /// The end of what the runner said.
        said: String,
    },
    /// The test that was to be written is not there.
    #[error("no test called `{test}` ran")]
    NotThere {
        /// As the session named it.
        test: String,
    },
    /// The name means several tests.
    #[error("`{test}` means {}; name the one", listed(.several))]
    Ambiguous {
        /// As the session named it.
        test: String,
        /// All that it can mean.
        several: Vec<TestName>,
    },
    /// The test was there before.
    #[error("`{test}` was there before; a new test is wanted")]
    NotNew {
        /// Which.
        test: TestName,
    },
    /// More tests than the one that was asked for.
    #[error("besides the one test that is wanted, {} came with it", listed(.0))]
    OthersToo(Vec<TestName>),
    /// The test fails for a reason that says nothing about the behaviour.
    #[error("`{test}` fails with {}, where {} was expected", found.word(), words(.expected))]
    OtherReason {
        /// Which.
        test: TestName,
        /// For which kind of reason it fails.
        found: FailureKind,
        /// For which it should.
        expected: Vec<FailureKind>,
    },
    /// The test does not run.
    #[error("`{0}` is skipped, and a test that does not run shows nothing")]
    WantedSkipped(TestName),
    /// The test still fails.
    #[error("`{0}` still fails")]
    StillFails(TestName),
    /// Tests that passed before fail now.
    #[error("{} passed before and {} now", listed(.0), verb(.0, "fails", "fail"))]
    Broken(Vec<TestName>),
    /// Tests that ran before do not run now.
    #[error("{} ran before and {} skipped now", listed(.0), verb(.0, "is", "are"))]
    Skipped(Vec<TestName>),
    /// Tests that were there before are gone.
    #[error("{} ran before and {} gone now", listed(.0), verb(.0, "is", "are"))]
    Gone(Vec<TestName>),
    /// A file of tests lost some of what it had.
    #[error(
        "`{0}` was there before: what is in it stays as it is, and a new test comes at its end or in a file of its own"
    )]
    Edited(RepoPath),
    /// Tests that share a file with code lost some of what they had.
    #[error(
        "the tests in `{0}` were there before: they stay as they are, and a new one comes behind them"
    )]
    InlineEdited(RepoPath),
    /// Tests that share a file with code were touched by one who may not.
    #[error("the tests in `{0}` are not as they were; this phase changes code only")]
    InlineTouched(RepoPath),
    /// The test fails because of what the session did to the code.
    #[error("`{0}` passes on the code as it was; it fails only because this session changed that")]
    MadeToFail(TestName),
    /// The test passes because of what the session did to the code.
    #[error(
        "`{0}` passes only with what this session wrote besides it; a stub has no behaviour, which is for the next phase to write"
    )]
    MadeToPass(TestName),
    /// Tests came where none was to.
    #[error("{} came where the tests were to stay the same", listed(.0))]
    Added(Vec<TestName>),
}

/// How many names a sentence has.
const SHOWN: usize = 5;

fn listed(tests: &[TestName]) -> String {
    let shown: Vec<_> = tests
        .iter()
        .take(SHOWN)
        .map(|it| format!("`{it}`"))
        .collect();
    let more = match tests.len().saturating_sub(SHOWN) {
        0 => String::new(),
        more => format!(" and {more} more"),
    };
    format!("{}{more}", shown.join(", "))
}

const fn verb(tests: &[TestName], one: &'static str, many: &'static str) -> &'static str {
    if tests.len() == 1 { one } else { many }
}

fn words(kinds: &[FailureKind]) -> String {
    let words: Vec<_> = kinds.iter().map(|it| it.word()).collect();
    words.join(" or ")
}
