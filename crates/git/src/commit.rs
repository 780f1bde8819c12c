//! A commit of exactly the declared paths.
//!
//! It is put together in a private index on top of HEAD, checked against the declaration, and
//! becomes the branch's new commit only if HEAD is still what it was. The worktree's own index is
//! then brought up to date for these paths and no other; files are never written.
//!
//! Hooks and signing do not happen here.

use std::collections::BTreeSet;
use std::io;
use std::path::Path;

use handoff_core::CommitId;
use handoff_core::ownership::RepoPath;

use crate::change::{self, Difference};
use crate::git::{Call, Git, GitError};
use crate::index::PrivateIndex;
use crate::kept_pack::{KeepError, KeptPack, Wanted};
use crate::ref_moves::RefMove;
use crate::ref_watch::Phase;
use crate::repository::Repository;
use crate::snapshot::Snapshot;

/// No commit was made, unless the variant says otherwise.
#[derive(Debug, thiserror::Error)]
pub enum CommitError {
    /// Git failed.
    #[error("cannot make the commit")]
    Git(#[from] GitError),
    /// Its objects could not be kept.
    #[error("cannot make the commit")]
    Keep(#[from] KeepError),
    /// The declared paths are as they were in HEAD.
    #[error("nothing has changed in the declared paths")]
    Empty,
    /// A declared path cannot be committed without changing another: a file has taken the place of
    /// a directory, or the other way round.
    #[error("the declared paths cannot be committed without {}", shown(.0))]
    Others(Vec<String>),
    /// A repository within the tree: git would keep its commit id and lose its files.
    #[error("`{0}` is a git repository of its own")]
    NestedRepository(String),
    /// There is no place for its objects.
    #[error("cannot make a place for the objects of the commit")]
    Quarters(#[source] io::Error),
    /// Somebody else moved HEAD while the commit was made.
    #[error("HEAD moved from {expected} to {found}")]
    HeadMoved {
        /// What the commit stands on.
        expected: CommitId,
        /// What is there now.
        found: CommitId,
    },
    /// The commit **was made**, but the worktree's index still has the old entries.
    #[error("{commit} was made, but the index is not up to date")]
    IndexLeft {
        /// The commit.
        commit: CommitId,
        /// What kept us.
        #[source]
        source: GitError,
    },
}

fn shown(paths: &[String]) -> String {
    paths
        .iter()
        .map(|path| format!("`{path}`"))
        .collect::<Vec<_>>()
        .join(", ")
}

impl CommitError {
    pub(crate) const fn git(&self) -> Option<&GitError> {
        match self {
            Self::Git(error) => Some(error),
            Self::Keep(error) => error.git(),
            Self::Empty
            | Self::Others(_)
            | Self::NestedRepository(_)
            | Self::Quarters(_)
            | Self::HeadMoved { .. }
            | Self::IndexLeft { .. } => None,
        }
    }
}

impl Git {
    /// Commits `paths` as they are in the tree of `at`, on top of its HEAD and onto its branch.
    ///
    /// A path that is not in the tree is deleted; one that is ignored is committed all the same.
    /// `message` is taken as it is, trailers included.
    pub fn commit_paths(
        &self,
        at: &Repository,
        paths: &[RepoPath],
        message: &str,
    ) -> Result<CommitId, CommitError> {
        let root = at.tree()?;
        let parent = self.head(at)?;
        let (commit, kept) = self.apart(at, CommitError::git, |private| {
            let git = self.writing_to(private);
            let tree = git.tree_of_paths(at, &parent, paths)?;
            git.check(at, &parent, &tree, paths)?;
            let tip = &git.commit_tree(at, &tree, &[&parent], message)?;
            let known = vec![&parent];
            let kept = self.keep_objects(at, private, &Wanted::Beyond { tip, known })?;
            Ok::<_, CommitError>((tip.clone(), kept))
        })?;
        self.move_head(root, at, &commit, &parent)?;
        drop(kept);
        self.fold_packs(at);
        self.refresh_index(root, &commit, paths)
            .map_err(|source| CommitError::IndexLeft {
                commit: commit.clone(),
                source,
            })?;
        Ok(commit)
    }

    /// Commits all that a snapshot of the tree of `at` has beyond its HEAD, onto its branch. This is for a tree that goes: its
    /// own index becomes that of the snapshot, whoever staged something there, so that a last look finds only what came later.
    pub fn commit_snapshot(
        &self,
        at: &Repository,
        snapshot: &Snapshot,
        message: &str,
    ) -> Result<CommitId, CommitError> {
        if snapshot.differences.is_empty() {
            return Err(CommitError::Empty);
        }
        let (tree, parent) = (&snapshot.tree, &snapshot.head);
        let (commit, kept) = self.commit_kept(at, tree, &[parent], message)?;
        self.move_head(at.tree()?, at, &commit, parent)?;
        drop(kept);
        self.fold_packs(at);
        // With the old one the last look takes longer and finds the same.
        snapshot.index.install(at).ok();
        Ok(commit)
    }

    fn tree_of_paths(
        &self,
        at: &Repository,
        parent: &CommitId,
        paths: &[RepoPath],
    ) -> Result<CommitId, GitError> {
        let index = PrivateIndex::empty(at);
        let root = at.tree()?;
        let call = |name| self.call_in_tree(name, root).index(&index);
        tree_on(parent, paths, call)
    }

    pub(crate) fn check(
        &self,
        at: &Repository,
        parent: &CommitId,
        tree: &CommitId,
        paths: &[RepoPath],
    ) -> Result<(), CommitError> {
        let differences = self.compare(at, parent.as_str(), tree.as_str())?;
        if differences.is_empty() {
            return Err(CommitError::Empty);
        }
        let is_declared = declaration(paths);
        let others: Vec<_> = differences
            .iter()
            .filter(|d| !is_declared(d))
            .map(Difference::shown_path)
            .collect();
        if !others.is_empty() {
            return Err(CommitError::Others(others));
        }
        match differences
            .iter()
            .find(|difference| difference.is_new_repository())
        {
            Some(nested) => Err(CommitError::NestedRepository(nested.shown_path())),
            None => Ok(()),
        }
    }

    /// A commit object on a tree that is kept or reachable; nothing points to it yet.
    pub(crate) fn commit_kept(
        &self,
        at: &Repository,
        tree: &CommitId,
        parents: &[&CommitId],
        message: &str,
    ) -> Result<(CommitId, KeptPack), KeepError> {
        self.apart(at, KeepError::git, |private| {
            let git = self.writing_to(private);
            let commit = git.commit_tree(at, tree, parents, message)?;
            let kept = self.keep_objects(at, private, &Wanted::Exactly(&commit))?;
            Ok((commit, kept))
        })
    }

    /// A commit object; nothing points to it yet.
    pub(crate) fn commit_tree(
        &self,
        at: &Repository,
        tree: &CommitId,
        parents: &[&CommitId],
        message: &str,
    ) -> Result<CommitId, GitError> {
        let commit = |call: Call| {
            let parents = parents.iter().flat_map(|parent| ["-p", parent.as_str()]);
            call.arguments(["--no-gpg-sign", "-F", "-"])
                .arguments(parents)
                .arguments([tree.as_str()])
                .input(message.as_bytes().to_owned())
                .run_for_commit()
        };
        // Asking first who the user is would cost a process each time; git itself says when it does not know.
        let call = self.call("commit-tree", at.any_place());
        match commit(call.named_user()) {
            Err(GitError::Failed { .. }) => commit(self.signed_call("commit-tree", at)?),
            made => made,
        }
    }

    /// A call that makes a commit: in the user's name, or in ours if git knows none.
    pub(crate) fn signed_call(
        &self,
        name: &'static str,
        at: &Repository,
    ) -> Result<Call, GitError> {
        let mut call = self.call(name, at.any_place());
        if !self.has_identity(at)? {
            for role in ["AUTHOR", "COMMITTER"] {
                call = call.variable(&format!("GIT_{role}_NAME"), "handoff");
                call = call.variable(&format!("GIT_{role}_EMAIL"), "handoff@localhost");
            }
        }
        Ok(call)
    }

    /// Whether git knows who the user is. It would otherwise make up a name from the machine's.
    fn has_identity(&self, at: &Repository) -> Result<bool, GitError> {
        let call = self.call("config", at.any_place());
        let call = call.arguments(["-z", "--name-only", "--get-regexp", r"^user\.(name|email)$"]);
        let keys = call.ask()?.unwrap_or_default();
        let has = |key: &str| {
            keys.split(|&byte| byte == 0)
                .any(|found| found == key.as_bytes())
        };
        Ok(has("user.name") && has("user.email"))
    }

    pub(crate) fn move_head(
        &self,
        root: &Path,
        at: &Repository,
        commit: &CommitId,
        parent: &CommitId,
    ) -> Result<(), CommitError> {
        self.note_head(at, commit, parent);
        let moved = self
            .call("update-ref", root)
            .arguments(["-m", "handoff: commit", "--end-of-options", "HEAD"])
            .arguments([commit.as_str(), parent.as_str()])
            .run();
        let Err(error) = moved else { return Ok(()) };
        let found = self.head(at)?;
        if found == *parent {
            return Err(error.into());
        }
        Err(CommitError::HeadMoved {
            expected: parent.clone(),
            found,
        })
    }

    /// Our hook does not run here; not written down the move would be told as foreign, which is the safe mistake.
    fn note_head(&self, at: &Repository, commit: &CommitId, parent: &CommitId) {
        if let Ok(Some(name)) = at.read_head().map(|head| head.branch) {
            let moved = RefMove {
                old: parent.to_string(),
                new: commit.to_string(),
                name,
            };
            at.note_moves(Phase::Prepared, &[moved]).ok();
        }
    }

    fn refresh_index(
        &self,
        root: &Path,
        commit: &CommitId,
        paths: &[RepoPath],
    ) -> Result<(), GitError> {
        self.update_entries(root, commit, paths)?;
        let call = self.call_in_tree("update-index", root);
        call.arguments(["-q", "--refresh"]).run()?;
        Ok(())
    }

    /// Makes the worktree's own index agree with `commit` on `paths`. The entries are named one by
    /// one, because a pathspec would also take what others have staged below a path.
    pub(crate) fn update_entries(
        &self,
        root: &Path,
        commit: &CommitId,
        paths: &[RepoPath],
    ) -> Result<(), GitError> {
        let call = self.call_in_tree("diff-index", root).arguments([
            "--cached",
            "-z",
            "--raw",
            "--no-renames",
            "--ignore-submodules=none",
            "--end-of-options",
            commit.as_str(),
        ]);
        let unknown = call.unknown_answer();
        let staged = change::parse(&call.run()?).ok_or(unknown)?;
        let entries = staged
            .iter()
            .filter(|d| declaration(paths)(d))
            .flat_map(index_entry);
        self.call_in_tree("update-index", root)
            .arguments(["-z", "--index-info"])
            .input(entries.collect())
            .run()?;
        Ok(())
    }
}

fn declaration(paths: &[RepoPath]) -> impl Fn(&&Difference) -> bool {
    let declared: BTreeSet<&[u8]> = paths.iter().map(|path| path.as_str().as_bytes()).collect();
    move |difference| declared.contains(difference.path.as_slice())
}

/// What the commit has at this path, for `update-index --index-info`; mode 0 removes it.
pub(crate) fn index_entry(difference: &Difference) -> Vec<u8> {
    let Difference {
        old_mode,
        old_object,
        path,
        ..
    } = difference;
    [format!("{old_mode} {old_object}\t").as_bytes(), path, &[0]].concat()
}

/// The tree of a commit with these paths as they are now, by calls that share an index of their own.
pub(crate) fn tree_on(
    parent: &CommitId,
    paths: &[RepoPath],
    call: impl Fn(&'static str) -> Call,
) -> Result<CommitId, GitError> {
    call("read-tree").arguments([parent.as_str()]).run()?;
    let list = paths
        .iter()
        .flat_map(|path| [path.as_str().as_bytes(), &[0]].concat());
    call("update-index")
        .arguments(["--add", "--remove", "--replace", "-z", "--stdin"])
        .input(list.collect())
        .run()?;
    call("write-tree").run_for_commit()
}
