//! The trial: what a run of a test suite showed, and what follows from two of them.
//!
//! A phase is over when the tool has proved it. What the referee saw before and after a session is compared here, test by test and
//! by name; the exit code of a runner proves nothing, because whoever can edit a test can edit that too.
//!
//! | proof | what must hold |
//! |---|---|
//! | red | the new test is there, alone, and fails for a reason that was expected; or it passes, and is covered already; what was in the files of tests before stays ([`only_adds`]) |
//! | green | that test passes |
//! | same | every test is still there, with the result it had |
//! | all three | the tree compiles, and no test that passed before fails, and none that was there is skipped or gone |

mod additions;
mod inline_tests;
mod objection;
mod results;
mod test_list;
mod verdict;

pub use additions::only_adds;
pub use inline_tests::Source;
pub use objection::Objection;
pub use results::{FailureKind, Results, SuiteRun, TestName, TestOutcome};
pub use test_list::{Item, ListError, TestList};
pub use verdict::{Red, Wanted, green, named, red, same, settled, unharmed};
