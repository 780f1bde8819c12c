//! Small real projects that grow by one test after the other: what is there at first, what honest sessions make of it, and what sessions
//! do that want a phase to be over without doing its work.
//!
//! The cheats are derived from the honest work by mutation ([`cheats`]), so that each of them is tried in each phase of each language.

mod cheat;
mod javascript;
mod language;
mod play;
mod python;
mod rust;
mod tree;

pub use cheat::{Cheat, cheats, in_turn};
pub use language::Language;
pub use play::{Play, Troupe};
pub use tree::Tree;

use crate::GitRepo;

/// A phase of the built-in workflow `tdd`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Phase {
    Plan,
    Red,
    Green,
    Refactor,
}

impl Phase {
    pub const ALL: [Self; 4] = [Self::Plan, Self::Red, Self::Green, Self::Refactor];

    #[must_use]
    pub const fn word(self) -> &'static str {
        match self {
            Self::Plan => "plan",
            Self::Red => "red",
            Self::Green => "green",
            Self::Refactor => "refactor",
        }
    }
}

/// The list of tests as the first planning session writes it.
pub const ITEMS: [&str; 3] = [
    "adds two numbers",
    "subtracts one number from another",
    "adds in any order",
];

/// What is proved, phase by phase, when all sessions are honest: two tests are written and made to pass, the third is covered already.
pub const PROOFS: [&str; 11] = [
    "plan next",
    "red red",
    "green done",
    "refactor done",
    "plan next",
    "red red",
    "green done",
    "refactor done",
    "plan next",
    "red covered",
    "plan complete",
];

/// A project in one language, and what becomes of it.
#[derive(Clone, Debug)]
pub struct Kata {
    pub language: &'static Language,
    /// What is there at first: code and tests, one of which fails.
    pub start: Tree,
    /// What red, green and refactoring leave, for each item.
    cycles: [[Tree; 3]; 3],
}

impl Kata {
    #[must_use]
    pub fn rust() -> Self {
        Self::of(&rust::RUST)
    }

    #[must_use]
    pub fn python() -> Self {
        Self::of(&python::PYTHON)
    }

    #[must_use]
    pub fn javascript() -> Self {
        Self::of(&javascript::JAVASCRIPT)
    }

    fn of(language: &'static Language) -> Self {
        let start = language.start();
        let first = language.adding(&start);
        let second = language.subtracting(&first[2]);
        let third = language.covered(&second[2]);
        Self {
            language,
            start,
            cycles: [first, second, third],
        }
    }

    /// Makes a repository the project as it is at first.
    pub fn lay(&self, repo: &GitRepo) {
        for (path, text) in self.start.files() {
            repo.write(path, text);
        }
        repo.commit("a calculator");
    }

    /// What a session of a phase finds.
    #[must_use]
    pub fn before(&self, cycle: usize, phase: Phase) -> &Tree {
        match (cycle, phase) {
            (0, Phase::Plan | Phase::Red) => &self.start,
            (_, Phase::Plan | Phase::Red) => &self.cycles[cycle - 1][2],
            (_, Phase::Green) => &self.cycles[cycle][0],
            (_, Phase::Refactor) => &self.cycles[cycle][1],
        }
    }

    /// What an honest session of a phase leaves.
    #[must_use]
    pub fn after(&self, cycle: usize, phase: Phase) -> &Tree {
        match phase {
            Phase::Plan => self.before(cycle, Phase::Plan),
            Phase::Red => &self.cycles[cycle][0],
            Phase::Green => &self.cycles[cycle][1],
            Phase::Refactor => &self.cycles[cycle][2],
        }
    }

    /// The whole tree when the list is done.
    #[must_use]
    pub fn end(&self) -> Tree {
        let list: String = ITEMS.map(|it| format!("- [x] {it}\n")).concat();
        self.cycles[2][2].clone().with("test-list.md", list)
    }
}
