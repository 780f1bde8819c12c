//! What git sees of baselines: `refs/handoff/baseline/<branch>`.
//!
//! The ref points to a tag object whose message says by which command, when and by whom, so that whoever has only the repository
//! can read it. It is a view: the ledger is believed, and what somebody writes here by hand is put right.

use std::collections::{BTreeMap, BTreeSet};

use handoff_core::{Baseline, CommitId, TaskId};

use crate::git::{Git, GitError, printable};
use crate::kept_pack::{KeepError, Wanted};
use crate::repository::Repository;

const PLACE: &str = "refs/handoff/baseline/";
const BRANCHES: &str = "refs/heads/";
/// So many commits are asked who made them. Whoever has more on top of a baseline does not live by it.
const ASKED: &str = "--max-count=1000";

/// The refs of baselines, and the branches that there are.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct BaselineRefs {
    /// Where each ref leads, by branch.
    pub commits: BTreeMap<String, CommitId>,
    /// The branches, without `refs/heads/`.
    pub branches: BTreeSet<String>,
}

impl Git {
    /// The refs of baselines, and the branches that there are.
    pub fn baseline_refs(&self, at: &Repository) -> Result<BaselineRefs, GitError> {
        let answer = self
            .call("for-each-ref", at.any_place())
            .arguments(["--format=%(refname) %(*objectname)", PLACE, BRANCHES])
            .run()?;
        Ok(parse(&String::from_utf8_lossy(&answer)))
    }

    /// Lets the ref of a branch say what is known of it. Fails where the commit is not in this clone.
    pub fn point_baseline(&self, at: &Repository, baseline: &Baseline) -> Result<(), KeepError> {
        let tag = format!(
            "object {}\ntype commit\ntag baseline\ntagger handoff <handoff@localhost> {} +0000\n\n{}",
            baseline.commit,
            baseline.at.as_second(),
            message(baseline)
        );
        let (tag, _kept) = self.apart(at, KeepError::git, |private| {
            let call = self.writing_to(private).call("mktag", at.any_place());
            let id = call.input(tag.clone().into_bytes()).run_for_commit()?;
            let kept = self.keep_objects(at, private, &Wanted::Exactly(&id))?;
            Ok::<_, KeepError>((id, kept))
        })?;
        self.call("update-ref", at.any_place())
            .arguments([
                "--create-reflog",
                "-m",
                "handoff: baseline",
                "--end-of-options",
            ])
            .arguments([format!("{PLACE}{}", baseline.branch).as_str(), tag.as_str()])
            .run()?;
        Ok(())
    }

    /// Takes the ref of a branch away.
    pub fn remove_baseline(&self, at: &Repository, branch: &str) -> Result<(), GitError> {
        self.call("update-ref", at.any_place())
            .arguments(["-d", "--end-of-options", &format!("{PLACE}{branch}")])
            .run()?;
        Ok(())
    }

    /// The tasks that say of themselves that they made a commit between these two.
    pub fn tasks_between(
        &self,
        at: &Repository,
        from: &CommitId,
        to: &CommitId,
    ) -> Result<Vec<TaskId>, GitError> {
        let answer = self
            .call("log", at.any_place())
            .arguments(["--no-show-signature", ASKED])
            .arguments(["--format=%(trailers:key=Handoff-Task-Id,valueonly)"])
            .arguments(["--end-of-options", &format!("{from}..{to}")])
            .run()?;
        let answer = String::from_utf8_lossy(&answer);
        let mut tasks: Vec<_> = answer
            .lines()
            .filter_map(|line| line.trim().parse().ok())
            .collect();
        tasks.sort_by_key(ToString::to_string);
        tasks.dedup();
        Ok(tasks)
    }

    /// The commit that a name stands for, as a person writes it.
    pub fn commit_named(&self, at: &Repository, name: &str) -> Result<Option<CommitId>, GitError> {
        self.resolve(at, name)
    }
}

fn message(baseline: &Baseline) -> String {
    let line = |key: &str, value: &str| format!("{key}: {}\n", printable(value));
    let command = baseline.command.as_ref();
    let command = command.map_or_else(String::new, |it| line("Command", it.as_str()));
    let at = line("At", &baseline.at.to_string());
    format!("{command}{at}{}", line("By", &baseline.by.to_string()))
}

fn parse(text: &str) -> BaselineRefs {
    let mut refs = BaselineRefs::default();
    for (name, commit) in text.lines().filter_map(|line| line.split_once(' ')) {
        if let Some(branch) = name.strip_prefix(BRANCHES) {
            refs.branches.insert(branch.to_owned());
        } else if let Some(branch) = name.strip_prefix(PLACE)
            && let Ok(commit) = commit.parse()
        {
            refs.commits.insert(branch.to_owned(), commit);
        }
    }
    refs
}
