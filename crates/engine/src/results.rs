//! What the ledger says of the repository, compared with the repository: the commits of tasks that are done, and baselines.
//!
//! A person may remove a branch that has been landed, so that nothing of this is damage; but it may be the last trace of work.

use std::collections::{BTreeMap, BTreeSet};

use handoff_core::baseline::{Repair, repairs};
use handoff_core::task::{Ending, Evidence};
use handoff_core::{BranchName, CommitId, HeadName, ProjectId, TaskName};
use handoff_git::reachability::Reachability;
use handoff_git::{Git, Repository};
use handoff_store::tasks::{Listed, Which};
use handoff_store::{Store, StoreError, Transaction, read, repositories, tasks};

use crate::error::EngineError;

/// So many rows are read at a time.
const PAGE: u32 = 1_000;

/// Something that the ledger names and the repository does not have as it says.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Absence {
    /// No ref leads to the commit of a task that is done.
    Unnamed {
        /// Whose.
        task: TaskName,
        /// Where it was.
        branch: BranchName,
        /// Which.
        commit: CommitId,
    },
    /// The commit of a task that is done is not there, and its branch is not either.
    Gone {
        /// Whose.
        task: TaskName,
        /// Where it was.
        branch: BranchName,
        /// Which.
        commit: CommitId,
    },
    /// The commit that was proved good is not there.
    Baseline {
        /// Of which branch.
        branch: HeadName,
        /// Which.
        commit: CommitId,
    },
    /// The ref of a baseline says something else than the ledger, and is put right by whoever comes next.
    BaselineRef {
        /// Of which branch.
        branch: String,
    },
}

/// Compares.
pub fn compare(
    store: &mut dyn Store,
    project: ProjectId,
    git: &Git,
    at: &Repository,
) -> Result<Vec<Absence>, EngineError> {
    let (results, proved) = read(store, |tx| {
        Ok((results(tx, project)?, repositories::baselines(tx, project)?))
    })?;
    let wanted: BTreeSet<CommitId> = { results.keys().cloned() }
        .chain(proved.iter().map(|it| it.commit.clone()))
        .collect();
    let found = git
        .reachability(at, &wanted)
        .map_err(EngineError::Branches)?;
    let found: BTreeMap<_, _> = found.into_iter().collect();
    let mut absences = vec![];
    for (commit, (task, branch)) in results {
        match found.get(&commit) {
            Some(Reachability::Loose) => absences.push(Absence::Unnamed {
                task,
                branch,
                commit,
            }),
            Some(Reachability::Missing) => absences.push(Absence::Gone {
                task,
                branch,
                commit,
            }),
            Some(Reachability::Kept) | None => {}
        }
    }
    let refs = git.baseline_refs(at).map_err(EngineError::Baseline)?;
    let is_missing = |commit| found.get(commit) == Some(&Reachability::Missing);
    for baseline in proved.iter().filter(|it| is_missing(&it.commit)) {
        absences.push(Absence::Baseline {
            branch: baseline.branch.clone(),
            commit: baseline.commit.clone(),
        });
    }
    for repair in repairs(&proved, &refs.commits, |it| refs.branches.contains(it)) {
        let branch = match repair {
            Repair::Point(baseline) if is_missing(&baseline.commit) => continue,
            Repair::Point(baseline) => baseline.branch.to_string(),
            Repair::Remove(branch) => branch.to_owned(),
        };
        absences.push(Absence::BaselineRef { branch });
    }
    Ok(absences)
}

/// The commits of the tasks that are done, each with one that made it.
fn results(
    tx: &mut Transaction<'_>,
    project: ProjectId,
) -> Result<BTreeMap<CommitId, (TaskName, BranchName)>, StoreError> {
    let mut results = BTreeMap::new();
    let mut after: Option<Listed> = None;
    loop {
        let page = tasks::page(tx, project, Which::All, after.as_ref(), PAGE)?;
        let Some(last) = page.last().cloned() else {
            return Ok(results);
        };
        after = Some(last);
        for listed in page {
            let task = listed.task;
            if task.state.ending() != Some(Ending::Done) {
                continue;
            }
            let name = task.spec.name;
            let committed = task.evidence.into_iter().rev().find_map(|it| {
                let Evidence::Committed { branch, commit } = it else {
                    return None;
                };
                Some((branch, commit))
            });
            results.extend(committed.map(|(branch, commit)| (commit, (name, branch))));
        }
    }
}
