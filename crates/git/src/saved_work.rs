//! What is left of attempts that are over: what was saved, in `refs/handoff/quarantine/…`, and their branches.

use handoff_core::CommitId;

use crate::change::Difference;
use crate::git::{Call, Git, GitError, commit_id, printable};
use crate::repository::Repository;

const PLACE: &str = "refs/handoff/quarantine/";
const BRANCHES: &str = "refs/heads/handoff/";

/// Saved work of one attempt.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SavedWork {
    /// The full name of the ref.
    pub name: String,
    /// The commit that holds it.
    pub commit: CommitId,
    /// What it changes, fit to be shown.
    pub paths: Vec<String>,
}

impl SavedWork {
    fn new(name: String, commit: CommitId, changes: &[Difference]) -> Self {
        let paths = changes.iter().map(|it| printable(&it.shown_path()));
        Self {
            name,
            paths: paths.collect(),
            commit,
        }
    }
}

/// The refs that a call lists whose names begin so, the oldest first.
pub(crate) fn refs_in(call: Call, beginning: &str) -> Result<Vec<(String, CommitId)>, GitError> {
    let call = call.arguments(["--format=%(objectname) %(refname)", "--sort=creatordate"]);
    let unknown = call.unknown_answer();
    let answer = call.run()?;
    let text = String::from_utf8_lossy(&answer);
    let lines = text.lines().filter_map(|line| line.split_once(' '));
    let wanted = lines.filter(|(_, name)| name.starts_with(beginning));
    let read = wanted.map(|(id, name)| Some((name.to_owned(), commit_id(id.as_bytes())?)));
    read.collect::<Option<_>>().ok_or(unknown)
}

impl Git {
    /// What was saved of attempts whose label begins so, the oldest first.
    pub fn saved_work(&self, at: &Repository, label: &str) -> Result<Vec<SavedWork>, GitError> {
        let call = self.call("for-each-ref", at.any_place());
        let refs = refs_in(call.arguments([PLACE]), &format!("{PLACE}{label}"))?;
        let saved = |(name, commit): (String, CommitId)| {
            let changes = self.compare(at, &format!("{commit}^"), commit.as_str())?;
            Ok(SavedWork::new(name, commit, &changes))
        };
        refs.into_iter().map(saved).collect()
    }

    /// What attempts whose label begins so have committed on their branches, and is not part of what is checked out here: the
    /// oldest first.
    pub fn unlanded_work(&self, at: &Repository, label: &str) -> Result<Vec<SavedWork>, GitError> {
        let head = self.head(at)?;
        let refs = self.unlanded_refs(at, &head, label)?;
        let left = |(name, commit): (String, CommitId)| {
            let base = self.merge_base(at, &head, &commit)?;
            let base = base.unwrap_or_else(|| head.clone());
            let changes = self.compare(at, base.as_str(), commit.as_str())?;
            Ok(SavedWork::new(name, commit, &changes))
        };
        refs.into_iter().map(left).collect()
    }

    /// Our branches that are not in the commit that is checked out, by their names, with where they are.
    pub fn unlanded_branches(&self, at: &Repository) -> Result<Vec<(String, CommitId)>, GitError> {
        let head = self.head(at)?;
        self.unlanded_refs(at, &head, "")
    }

    fn unlanded_refs(
        &self,
        at: &Repository,
        head: &CommitId,
        label: &str,
    ) -> Result<Vec<(String, CommitId)>, GitError> {
        let call = self.call("for-each-ref", at.any_place());
        let call = call.arguments([&format!("--no-merged={head}"), BRANCHES]);
        refs_in(call, &format!("{BRANCHES}{label}"))
    }

    /// Files in the tree of `at` that git ignores, and that a removal would take along. Directories
    /// that are ignored as a whole are named, not walked.
    pub fn ignored_files(&self, at: &Repository) -> Result<Vec<String>, GitError> {
        let call = self.call_in_tree("ls-files", at.tree()?);
        let answer = call
            .arguments([
                "-z",
                "--others",
                "--ignored",
                "--exclude-standard",
                "--directory",
            ])
            .run()?;
        let names = answer
            .split(|&byte| byte == 0)
            .filter(|name| !name.is_empty());
        Ok(names
            .map(|name| printable(&String::from_utf8_lossy(name)))
            .collect())
    }
}
