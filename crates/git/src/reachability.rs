//! Whether commits that somebody named are still there, and whether git keeps them.

use std::collections::BTreeSet;

use handoff_core::CommitId;

use crate::git::{Git, GitError};
use crate::repository::Repository;

/// What git has of a commit.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Reachability {
    /// A ref leads to it.
    Kept,
    /// It is there, and no ref leads to it: git removes it some day.
    Loose,
    /// It is not there.
    Missing,
}

impl Git {
    /// What git has of each of these commits.
    pub fn reachability(
        &self,
        at: &Repository,
        commits: &BTreeSet<CommitId>,
    ) -> Result<Vec<(CommitId, Reachability)>, GitError> {
        if commits.is_empty() {
            return Ok(vec![]);
        }
        let list = |wanted: &[&CommitId]| {
            let lines = wanted.iter().map(|it| format!("{it}\n"));
            lines.collect::<String>().into_bytes()
        };
        let all: Vec<_> = commits.iter().collect();
        let call = self.call("cat-file", at.any_place());
        let answer = call.arguments(["--batch-check"]).input(list(&all)).run()?;
        let answer = String::from_utf8_lossy(&answer);
        let there: BTreeSet<_> = { answer.lines() }
            .filter_map(|line| line.split_once(' '))
            .filter(|(_, what)| what.starts_with("commit "))
            .map(|(id, _)| id.to_owned())
            .collect();
        let present: Vec<_> = { commits.iter() }
            .filter(|it| there.contains(it.as_str()))
            .collect();
        let mut loose = BTreeSet::new();
        if !present.is_empty() {
            let mut asked = list(&present);
            asked.extend_from_slice(b"--not\n--all\n");
            let call = self.call("rev-list", at.any_place());
            let answer = call.arguments(["--stdin"]).input(asked).run()?;
            let answer = String::from_utf8_lossy(&answer).into_owned();
            loose.extend(answer.lines().map(str::to_owned));
        }
        let standing = |commit: &CommitId| {
            let id = commit.as_str();
            match (there.contains(id), loose.contains(id)) {
                (false, _) => Reachability::Missing,
                (true, true) => Reachability::Loose,
                (true, false) => Reachability::Kept,
            }
        };
        Ok(commits
            .iter()
            .map(|it| (it.clone(), standing(it)))
            .collect())
    }
}
