//! What is known of a tree before a commit is made in it, and looking before it is one's turn.

use std::collections::BTreeSet;
use std::path::Path;

use handoff_core::CommitId;

use super::booth::Booth;
use super::grip::Grip;
use super::index_file::Entries;
use super::intent::{Company, Content, Intent};
use super::staging::{self, Entry, Form, Merging, Plan, Replacing, Standing, Version};
use super::wrappers::Hooks;
use super::{CommitRequest, SafeCommitError, merge};
use crate::git::Git;
use crate::head::Head;
use crate::ref_moves::STASH;
use crate::repository::Repository;

/// What was seen of a tree before it was one's turn, so that others need not wait for the look, and a booth.
#[derive(Debug)]
pub struct Outlook {
    pub(super) booth: Booth,
    pub(super) view: View,
}

/// It is of use only if the index still has the same at the declared paths.
#[derive(Debug)]
pub(super) struct View {
    hooks: Hooks,
    plan: Plan,
    entries: Option<Entries>,
}

/// What is known of a tree before a commit is made in it.
pub(super) struct Scene<'a> {
    pub(super) root: &'a Path,
    pub(super) head: Head,
    pub(super) merged: Vec<CommitId>,
    pub(super) hooks: Hooks,
    pub(super) plan: Plan,
}

impl Git {
    /// Looks at the declared paths before the lock is taken. Refusals that cannot change by waiting
    /// come from here already.
    pub fn look_ahead(
        &self,
        at: &Repository,
        request: &CommitRequest<'_>,
    ) -> Result<Outlook, SafeCommitError> {
        let entries = Entries::read(&at.git_dir().join("index"), request.paths);
        let scene = self.survey(at, request)?;
        let view = View {
            hooks: scene.hooks,
            plan: scene.plan,
            // The reader of an index knows ids of one length.
            entries: entries.filter(|_| scene.merged.is_empty() && !at.has_long_ids()),
        };
        let booth = Booth::open(at, request.paths, request.message)?;
        Ok(Outlook { booth, view })
    }

    pub(super) fn survey<'a>(
        &self,
        at: &'a Repository,
        request: &CommitRequest<'_>,
    ) -> Result<Scene<'a>, SafeCommitError> {
        let root = at.tree()?;
        if let Some(name) = merge::other_operation(at.git_dir()) {
            return Err(SafeCommitError::UnderWay(name));
        }
        let head = at.read_head()?;
        let merged = merge::heads(at.git_dir());
        let hooks = self.hooks(at)?;
        let entries = self.staging(at, request.paths)?;
        let forms: Vec<_> = request
            .paths
            .iter()
            .map(|path| (path.clone(), Form::of(root, path)))
            .collect();
        let merging = if merged.is_empty() {
            Merging::No
        } else {
            Merging::Yes
        };
        let plan = staging::plan(&forms, &entries, request.version, merging)?;
        self.refuse_stashing(at, &hooks, request)?;
        Ok(Scene {
            root,
            head,
            merged,
            hooks,
            plan,
        })
    }

    /// A manager that stashes would take a peer's edit off the disk, and lose what they write meanwhile.
    fn refuse_stashing(
        &self,
        at: &Repository,
        hooks: &Hooks,
        request: &CommitRequest<'_>,
    ) -> Result<(), SafeCommitError> {
        let peers = match request.peers {
            Some([]) => return Ok(()),
            Some(peers) => peers.to_vec(),
            // What cannot be told may be somebody.
            None => vec![],
        };
        let Some((hook, grip)) = hooks.grip(at.tree()?) else {
            return Ok(());
        };
        if grip == Grip::Everything {
            return Err(SafeCommitError::PuttingBack { hook, peers });
        }
        let declared: BTreeSet<_> = request.paths.iter().collect();
        let is_new = |it: &Entry| grip == Grip::EditsAndNew && it.standing == Standing::Untracked;
        let entries = self.staging(at, &[])?;
        let taken: Vec<_> = entries
            .into_iter()
            .filter(|it| (it.is_edited() || is_new(it)) && !declared.contains(&it.path))
            .map(|it| it.path)
            .collect();
        if taken.is_empty() {
            return Ok(());
        }
        Err(SafeCommitError::Stashing { hook, taken })
    }
}

/// The same look without looking, if nothing has changed that matters: what the index has at the declared
/// paths tells whether somebody staged or committed them meanwhile.
pub(super) fn recall<'a>(
    at: &'a Repository,
    request: &CommitRequest<'_>,
    view: View,
) -> Option<Result<Scene<'a>, SafeCommitError>> {
    let before = view.entries?;
    let now = Entries::read(&at.git_dir().join("index"), request.paths)?;
    let is_same = before == now
        && merge::heads(at.git_dir()).is_empty()
        && merge::other_operation(at.git_dir()).is_none();
    let root = at.worktree_root().filter(|_| is_same)?;
    let scene = at.read_head().map(|head| Scene {
        root,
        head,
        merged: vec![],
        hooks: view.hooks,
        plan: view.plan,
    });
    Some(scene.map_err(SafeCommitError::from))
}

impl Scene<'_> {
    pub(super) fn intent(&self, at: &Repository, request: &CommitRequest<'_>) -> Intent {
        let content = match request.version {
            _ if !self.merged.is_empty() => Content::Merge,
            Version::Staged => Content::Staged,
            Version::Only | Version::Tree if self.plan.replacing == Replacing::Yes => {
                Content::Replacing
            }
            Version::Only | Version::Tree => Content::Tree,
        };
        Intent {
            schema_version: Intent::VERSION,
            root: self.root.to_owned(),
            branch: self.head.branch.clone(),
            parent: self.head.commit.clone(),
            content,
            pid: std::process::id(),
            company: match request.peers {
                Some([]) => Company::Nobody,
                Some([..]) | None => Company::Others,
            },
            // Git lists what is put aside by the log of this ref alone.
            has_stash: at.common_dir().join("logs").join(STASH).exists(),
            at: request.at,
        }
    }
}
