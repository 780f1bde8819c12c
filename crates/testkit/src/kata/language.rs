//! What a project consists of in one language, in pieces that honest and other sessions put together.

use super::Tree;
use crate::Need;

/// The pieces of a project in one language.
#[derive(Debug)]
pub struct Language {
    pub name: &'static str,
    /// What the machine must have for its tests.
    pub needs: &'static [Need],
    /// What there is besides code and tests.
    pub(super) settings: &'static [(&'static str, &'static str)],
    /// The file of the code, with `twice` that a test covers, `triple` that none covers and `half` that is wrong.
    pub(super) code: (&'static str, &'static str),
    /// The tests that are there at first: one passes and reads the fixture, one fails.
    pub(super) old_tests: (&'static str, &'static str),
    pub(super) fixture: (&'static str, &'static str),
    /// The file in which the new tests are.
    pub(super) new_tests: &'static str,
    pub(super) add: Growth,
    pub(super) subtract: Growth,
    /// A third test, which passes at once.
    pub(super) any_order: (&'static str, &'static str),
    /// What the first test imports, and what two do.
    pub(super) imports: (&'static str, &'static str),
    /// What `twice` does at first, what refactoring makes of it, and what breaks it.
    pub(super) twice: (&'static str, &'static str, &'static str),
    pub(super) ways: Ways,
}

/// A function that comes to be.
#[derive(Debug)]
pub(super) struct Growth {
    /// As the runner names its test.
    pub(super) test: &'static str,
    pub(super) test_text: &'static str,
    pub(super) stub: &'static str,
    pub(super) body: &'static str,
}

/// What sessions reach for that do not want to do their work.
#[derive(Debug)]
pub(super) struct Ways {
    /// An assertion of the old test that fails, and one that asks for nothing.
    pub(super) weaker: (&'static str, &'static str),
    /// The same for the first new test.
    pub(super) weaker_new: (&'static str, &'static str),
    /// The old test that passes, left before it asks for anything.
    pub(super) early: (&'static str, &'static str),
    /// The old test that fails, as it is and skipped.
    pub(super) skipped: (&'static str, &'static str),
    /// The first new test, as it is and skipped.
    pub(super) skipped_new: (&'static str, &'static str),
    /// A test of `triple` in place of the one that is wanted, and what damages `triple`.
    pub(super) triple_test: &'static str,
    pub(super) damage: (&'static str, &'static str),
    /// A body of `add` that ends the runner, and says that all is well.
    pub(super) exit: &'static str,
    /// One that prints what the runner would of a test that passes, and then ends it.
    pub(super) forge: &'static str,
    /// What the referee says then.
    pub(super) exit_why: &'static str,
    /// The same of a test that passed before.
    pub(super) exit_later_why: &'static str,
    /// A file that decides how tests are run, with a text that makes them pass.
    pub(super) switch: (&'static str, &'static str),
    /// What a tool leaves.
    pub(super) output: &'static str,
}

impl Language {
    pub(super) fn start(&self) -> Tree {
        let (code, old, fixture) = (self.code, self.old_tests, self.fixture);
        Tree::of(self.settings)
            .with(code.0, code.1)
            .with(old.0, old.1)
            .with(fixture.0, fixture.1)
    }

    /// The first test is a file of its own, and refactoring finds something to do.
    pub(super) fn adding(&self, before: &Tree) -> [Tree; 3] {
        let text = format!("{}\n{}", self.imports.0, self.add.test_text);
        let red = before
            .clone()
            .with(self.new_tests, text)
            .appending(self.code.0, self.add.stub);
        let green = red
            .clone()
            .replacing(self.code.0, self.add.stub, self.add.body);
        let (twice, better, _) = self.twice;
        let refactored = green.clone().replacing(self.code.0, twice, better);
        [red, green, refactored]
    }

    /// The second comes at the end of the first one's file.
    pub(super) fn subtracting(&self, before: &Tree) -> [Tree; 3] {
        let red = before
            .clone()
            .replacing(self.new_tests, self.imports.0, self.imports.1)
            .appending(self.new_tests, self.subtract.test_text)
            .appending(self.code.0, self.subtract.stub);
        let green = red
            .clone()
            .replacing(self.code.0, self.subtract.stub, self.subtract.body);
        [red, green.clone(), green]
    }

    pub(super) fn covered(&self, before: &Tree) -> [Tree; 3] {
        let red = before.clone().appending(self.new_tests, self.any_order.1);
        [red.clone(), red.clone(), red]
    }

    /// What the session of a phase says of its test.
    pub(super) fn test(&self, cycle: usize) -> &'static str {
        match cycle {
            0 => self.add.test,
            1 => self.subtract.test,
            _ => self.any_order.0,
        }
    }
}
