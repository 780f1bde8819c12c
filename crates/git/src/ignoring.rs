//! What git does with the workspace: whether a rule lets it be ignored, and which of its files are tracked all the same.

use crate::git::{Git, GitError, printable};
use crate::repository::Repository;

const WORKSPACE: &str = ".handoff";
/// The workspace, and a path in it, for which a rule for folders holds even where there is no workspace yet.
const ASKED: &[u8] = b".handoff\0.handoff/features\0";

/// What git does with the workspace.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Ignoring {
    /// The rule that decides, if there is one.
    pub rule: Option<IgnoreRule>,
    /// How many files git tracks there; no rule changes that.
    pub tracked: usize,
}

/// A line of a file with rules.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct IgnoreRule {
    /// The file, from the root of the tree or whole, fit to be shown.
    pub file: String,
    /// Counted from one.
    pub line: usize,
    /// What it says, fit to be shown.
    pub pattern: String,
}

impl Ignoring {
    /// Whether git leaves new files there alone.
    #[must_use]
    pub fn is_ignored(&self) -> bool {
        self.rule.as_ref().is_some_and(IgnoreRule::is_ignoring)
    }
}

impl Git {
    /// Asks git itself: there are more places for rules than anyone remembers.
    pub fn ignoring(&self, at: &Repository) -> Result<Ignoring, GitError> {
        let root = at.tree()?;
        let call = self
            .call_in_tree("check-ignore", root)
            .arguments(["--verbose", "--no-index", "--stdin", "-z"])
            .input(ASKED.into());
        let unknown = call.unknown_answer();
        let rule = match call.ask()? {
            Some(answer) => Some(IgnoreRule::deciding(&answer).ok_or(unknown)?),
            None => None,
        };
        let call = self.call_in_tree("ls-files", root);
        let tracked = call.arguments(["-z", "--", WORKSPACE]).run()?;
        Ok(Ignoring {
            rule,
            tracked: tracked.iter().filter(|byte| **byte == 0).count(),
        })
    }
}

impl IgnoreRule {
    /// Whether it does not rather say the opposite.
    #[must_use]
    pub fn is_ignoring(&self) -> bool {
        !self.pattern.starts_with('!')
    }

    /// For each path: `<file> NUL <line> NUL <pattern> NUL <path> NUL`. What is ignored one folder further down is
    /// ignored.
    fn deciding(answer: &[u8]) -> Option<Self> {
        let fields: Vec<_> = answer.split(|byte| *byte == 0).collect();
        let mut rules: Vec<_> = fields.chunks_exact(4).filter_map(Self::parse).collect();
        let place = rules.iter().position(Self::is_ignoring).unwrap_or(0);
        (!rules.is_empty()).then(|| rules.swap_remove(place))
    }

    fn parse(fields: &[&[u8]]) -> Option<Self> {
        let mut fields = fields.iter().copied().map(String::from_utf8_lossy);
        let (file, line, pattern) = (fields.next()?, fields.next()?, fields.next()?);
        Some(Self {
            file: printable(&file),
            line: line.parse().ok()?,
            pattern: printable(&pattern),
        })
    }
}
