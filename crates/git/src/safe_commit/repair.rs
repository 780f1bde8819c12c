//! What an interrupted commit left: finished if it had landed, forgotten if it had not.

use std::collections::BTreeSet;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use handoff_core::CommitId;
use handoff_files::{Dir, DirError};

use super::booth::{self, Booth, BoothError, PLACE};
use super::empty_tree::parent_tree;
use super::intent::{Company, Content, Intent};
use super::landing;
use super::merge;
use super::publishing::{INDEX, IndexEntries, NEXT_INDEX, PublishError};
use super::shared_index::{SharedIndex, Swap, remove};
use crate::change::Difference;
use crate::commit_lock::CommitLock;
use crate::git::{Git, GitError};
use crate::head::HeadError;
use crate::held_commit;
use crate::left_lock::{self, LeftLock};
use crate::ref_moves::RefMove;
use crate::repository::Repository;
use crate::tree_path::TreePath;

/// What was put right.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Repaired {
    /// Commits that had landed, and whose index is up to date now.
    pub finished: usize,
    /// Commits that had not landed.
    pub forgotten: usize,
    /// Those that must wait until somebody lets go of an index.
    pub waiting: usize,
    /// Those that cannot be understood, and lie in `handoff/damaged-commits` now.
    pub set_aside: usize,
}

/// What was left could not be put right.
#[derive(Debug, thiserror::Error)]
pub enum RepairError {
    /// The booths cannot be listed.
    #[error("cannot look for interrupted commits")]
    List(#[source] DirError),
    /// One cannot be read.
    #[error(transparent)]
    Booth(#[from] BoothError),
    /// Git failed.
    #[error("cannot finish an interrupted commit")]
    Git(#[from] GitError),
    /// The branch cannot be read.
    #[error("cannot tell whether an interrupted commit has landed")]
    Head(#[from] HeadError),
    /// The index cannot be replaced.
    #[error("cannot finish an interrupted commit")]
    Publish(#[from] PublishError),
    /// A file failed.
    #[error("cannot clear away what an interrupted commit left")]
    File(#[from] io::Error),
}

/// Whether somebody has left something: costs nothing when nobody commits.
pub fn has_leftovers(repository: &Repository) -> bool {
    held_commit::has_quarters(repository)
        || booths(repository).any(|booth| !booth::is_owned(&booth))
}

/// Whether somebody commits at this moment, or has left something.
pub fn has_booths(repository: &Repository) -> bool {
    booths(repository).next().is_some()
}

fn booths(repository: &Repository) -> impl Iterator<Item = PathBuf> {
    let place = repository.common_dir().join("handoff").join(PLACE);
    let entries = fs::read_dir(place).into_iter().flatten();
    entries.filter_map(|entry| Some(entry.ok()?.path()))
}

impl Repository {
    /// The commit that is being made in the booth of this name, for hooks to tell it from others.
    #[must_use]
    pub fn commit_in_the_making(&self, booth: &str) -> Option<InTheMaking> {
        let place = self.own_dir().and_then(|own| own.dir(PLACE)).ok()?;
        let booth = Booth::visit(place.dir(booth).ok()?);
        let intent = booth.intent().ok()??;
        let commit = booth.commit(intent.parent.as_ref());
        Some(InTheMaking {
            pid: intent.pid,
            company: intent.company,
            has_stash: intent.has_stash,
            landing: commit.map(|commit| landing_of(&intent, &commit)),
        })
    }
}

/// A commit that is being made.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct InTheMaking {
    /// The process that makes it, to be looked for above a hook.
    pub pid: u32,
    /// Who else works in the tree.
    pub company: Company,
    /// Whether something was put aside before it began.
    pub has_stash: bool,
    /// The one move of a ref by which it lands; none as long as it is not made.
    pub landing: Option<RefMove>,
}

pub(super) fn landing_of(intent: &Intent, commit: &CommitId) -> RefMove {
    let nothing = "0".repeat(commit.as_str().len());
    let parent = intent.parent.as_ref().map(ToString::to_string);
    RefMove {
        old: parent.unwrap_or(nothing),
        new: commit.to_string(),
        name: intent.branch.clone().unwrap_or_else(|| "HEAD".to_owned()),
    }
}

impl Git {
    /// The paths in which an index, the tree's own unless another is named, differs from HEAD.
    pub fn staged_paths(
        &self,
        at: &Repository,
        index: Option<&Path>,
    ) -> Result<BTreeSet<TreePath>, GitError> {
        let index = index.map_or_else(|| at.git_dir().join("index"), Path::to_owned);
        let head = at.read_head().ok().and_then(|head| head.commit);
        let call = self
            .call_in_tree("diff-index", at.tree()?)
            .variable("GIT_INDEX_FILE", index)
            .arguments(["--cached", "-z", "--raw", "--no-renames"])
            .arguments(["--ignore-submodules=none", "--end-of-options"])
            .arguments([head.as_ref().map_or(at.empty_tree(), CommitId::as_str)]);
        let unknown = call.unknown_answer();
        let staged = crate::change::parse(&call.run()?).ok_or(unknown)?;
        Ok(staged
            .iter()
            .map(|it| TreePath::from_git(&it.path))
            .collect())
    }

    /// Puts right what others left. A booth whose owner lives is of one who waits, or who has landed and clears away.
    pub fn repair_commits(
        &self,
        _lock: &CommitLock,
        repository: &Repository,
    ) -> Result<Repaired, RepairError> {
        let mut repaired = Repaired::default();
        if !has_leftovers(repository) {
            return Ok(repaired);
        }
        held_commit::clear_quarters(repository)?;
        let own = repository.own_dir().map_err(RepairError::List)?;
        let place = match own.dir(PLACE) {
            Err(error) if error.is_not_found() => return Ok(repaired),
            place => place.map_err(RepairError::List)?,
        };
        for name in place.names().map_err(RepairError::List)? {
            // What is no directory is no booth, and in nobody's way.
            let Ok(dir) = place.dir(&name) else { continue };
            let Some(booth) = Booth::take_over(dir)? else {
                continue;
            };
            match self.repair_one(repository, &own, booth)? {
                Outcome::Finished => repaired.finished += 1,
                Outcome::Forgotten => repaired.forgotten += 1,
                Outcome::Waits => repaired.waiting += 1,
                Outcome::SetAside => repaired.set_aside += 1,
            }
        }
        Ok(repaired)
    }

    fn repair_one(
        &self,
        repository: &Repository,
        own: &Dir,
        mut booth: Booth,
    ) -> Result<Outcome, RepairError> {
        booth.keep();
        let intent = match booth.intent() {
            Ok(Some(intent)) => intent,
            Ok(None) => {
                booth.close();
                return Ok(Outcome::Forgotten);
            }
            // One that nobody understands must not keep all others from committing.
            Err(BoothError::Intent(..)) => {
                booth.set_aside(own)?;
                return Ok(Outcome::SetAside);
            }
            Err(error) => return Err(error.into()),
        };
        // The tree may be gone; the branch is not.
        let at = Repository::open(&intent.root).ok();
        let at = at.filter(|at| at.common_dir() == repository.common_dir());
        unlock_ref(at.as_ref().unwrap_or(repository), &booth, &intent)?;
        left_lock::unlock_packed_refs(repository, &booth.file("commondir"))?;
        let copies = [booth.file(INDEX), booth.file(NEXT_INDEX)];
        let outcome = match at {
            None => Outcome::Forgotten,
            Some(at) => {
                SharedIndex::of(at.git_dir()).unlock_if_linked(&copies)?;
                self.finish(&at, &booth, &intent)?
            }
        };
        if outcome != Outcome::Waits {
            booth.close();
        }
        Ok(outcome)
    }

    fn finish(
        &self,
        at: &Repository,
        booth: &Booth,
        intent: &Intent,
    ) -> Result<Outcome, RepairError> {
        let head = match &intent.branch {
            Some(branch) => at.read_ref(branch)?,
            None => at.read_head()?.commit,
        };
        let (Some(commit), Some(head)) = (booth.commit(intent.parent.as_ref()), head) else {
            return Ok(Outcome::Forgotten);
        };
        if !self.is_ancestor(at, &commit, &head)? {
            return Ok(Outcome::Forgotten);
        }
        let is_still_there = at.read_head()?.branch == intent.branch;
        if !is_still_there {
            // Another branch is checked out by now, and with it another index.
            return Ok(Outcome::Finished);
        }
        if intent.branch.is_some() {
            landing::log_head(booth, at.git_dir());
        }
        if intent.content == Content::Merge {
            merge::forget(at.git_dir());
        }
        self.catch_up(at, booth, intent, &head)
    }

    /// Brings those entries up to date that are still as the parent had them, or as they were staged when the commit was
    /// begun. Others were staged by somebody since, and are theirs.
    fn catch_up(
        &self,
        at: &Repository,
        booth: &Booth,
        intent: &Intent,
        head: &CommitId,
    ) -> Result<Outcome, RepairError> {
        let parent = parent_tree(intent.parent.as_ref(), head);
        let before: IndexEntries = self
            .compare(at, &parent, head.as_str())?
            .into_iter()
            .map(|it| (it.path, (it.old_mode, it.old_object)))
            .collect();
        let staged = self.entries_before(at, booth, head)?;
        let declared = booth.paths()?;
        let shared = SharedIndex::of(at.git_dir());
        let next = booth.file(NEXT_INDEX);
        loop {
            let stamp = shared.copy_to(&next)?;
            let is_meant = |it: &Difference| {
                let is_as = |entries: &IndexEntries| entries.get(&it.path) == Some(&it.new_entry());
                (is_as(&before) || is_as(&staged))
                    && declared.iter().any(|path| path.as_bytes() == it.path)
            };
            self.refresh_entries(at, &next, head, is_meant)?;
            if !next.exists() {
                return Ok(Outcome::Finished);
            }
            match shared.sync_and_swap(&next, stamp)? {
                Swap::Done => return Ok(Outcome::Finished),
                Swap::Locked => return Ok(Outcome::Waits),
                Swap::Outdated => {}
            }
        }
    }

    /// Whether one commit is part of another's history.
    pub fn is_ancestor(
        &self,
        at: &Repository,
        ancestor: &CommitId,
        of: &CommitId,
    ) -> Result<bool, GitError> {
        let call = self.call("merge-base", at.any_place());
        let call = call.arguments(["--is-ancestor", "--end-of-options"]);
        let answer = call.arguments([ancestor.as_str(), of.as_str()]).ask()?;
        Ok(answer.is_some())
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Outcome {
    Finished,
    Forgotten,
    Waits,
    SetAside,
}

/// Removes the lock that a killed git left on the ref, if it is proved to be ours: it names our
/// commit, or it is empty, younger than the booth, and stays the same for longer than git needs to
/// write into it.
pub(super) fn unlock_ref(at: &Repository, booth: &Booth, intent: &Intent) -> io::Result<()> {
    let Some(commit) = booth.commit(intent.parent.as_ref()) else {
        return Ok(());
    };
    let lock = match &intent.branch {
        Some(branch) => at.common_dir().join(format!("{branch}.lock")),
        None => at.git_dir().join("HEAD.lock"),
    };
    let since = booth.file("commondir");
    match LeftLock::read(&lock) {
        Some(found) if found.names(&commit) => remove(&lock),
        Some(found) if found.is_abandoned_since(&since) => remove(&lock),
        Some(_) | None => Ok(()),
    }
}
