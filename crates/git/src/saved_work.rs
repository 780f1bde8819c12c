//! What was saved of attempts that are over: `refs/handoff/quarantine/…`.

use handoff_core::{BranchName, CommitId};

use crate::git::{Git, GitError, commit_id, printable};
use crate::ref_moves::RefMove;
use crate::ref_watch::Phase;
use crate::repository::Repository;

const PLACE: &str = "refs/handoff/quarantine/";

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

impl Git {
    /// What was saved of attempts whose label begins so, the oldest first.
    pub fn saved_work(&self, at: &Repository, label: &str) -> Result<Vec<SavedWork>, GitError> {
        let call = self.call("for-each-ref", at.any_place());
        let call = call.arguments(["--format=%(objectname) %(refname)", "--sort=creatordate"]);
        let call = call.arguments([PLACE]);
        let unknown = call.unknown_answer();
        let answer = call.run()?;
        let text = String::from_utf8_lossy(&answer).into_owned();
        let wanted = format!("{PLACE}{label}");
        let mut found = vec![];
        for (id, name) in text.lines().filter_map(|line| line.split_once(' ')) {
            if !name.starts_with(&wanted) {
                continue;
            }
            let Some(commit) = commit_id(id.as_bytes()) else {
                return Err(unknown);
            };
            let changes = self.compare(at, &format!("{commit}^"), commit.as_str())?;
            found.push(SavedWork {
                name: name.to_owned(),
                paths: changes
                    .iter()
                    .map(|it| printable(&it.shown_path()))
                    .collect(),
                commit,
            });
        }
        Ok(found)
    }

    /// Makes a branch at a commit. One that is there already stays where it is, and that is an error.
    pub fn make_branch(
        &self,
        at: &Repository,
        branch: &BranchName,
        commit: &CommitId,
    ) -> Result<(), GitError> {
        let nothing = "0".repeat(commit.as_str().len());
        let moved = RefMove {
            old: nothing.clone(),
            new: commit.to_string(),
            name: format!("refs/heads/{branch}"),
        };
        // Our hook does not run here; not written down it would be told as foreign.
        at.note_moves(Phase::Prepared, &[moved]).ok();
        self.call("update-ref", at.any_place())
            .arguments(["-m", "handoff: rescue", "--end-of-options"])
            .arguments([
                format!("refs/heads/{branch}").as_str(),
                commit.as_str(),
                &nothing,
            ])
            .run()?;
        Ok(())
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
