//! The only place that runs git.
//!
//! | module | noun |
//! |---|---|
//! | [`repository`] | a repository on disk, found without running git |
//! | [`mark`] | the mark that says which project it is |
//! | [`git`] | one call of git, and how it fails |
//! | [`worktree`] | linked worktrees, and what they stand on |
//! | [`status`] | branch, commit, and what is not committed |
//! | [`ignoring`] | what git does with the workspace |
//! | [`change`] | what differs between a commit and a working tree |
//! | [`tree_path`] | a path in a tree, whatever it is called |
//! | [`head`] | what is checked out, read without git |
//! | [`commit`] | a commit of exactly the declared paths, in a tree of our own |
//! | [`held_commit`] | the same for a tree whose owner is not trusted |
//! | [`commit_lock`] | the lock under which commits are made in a tree that others use too |
//! | [`safe_commit`] | such a commit, with the user's hooks, and what repairs it |
//! | [`guard`] | which git commands a role may run |
//! | [`hooks`] | our hooks in a repository, and those that were there before |
//! | [`ref_moves`] | which refs a role may move |
//! | [`ref_watch`] | noticing refs that moved past our hooks |
//! | [`land`] | bringing a branch of ours into one of a person |
//! | [`kept_pack`] | objects that no ref names yet, safe from `git prune` and `git gc` |
//! | [`merge`] | bringing commits together without a working tree |
//! | [`baseline`] | the last commit of a branch that was verified good |
//! | [`reachability`] | whether commits that somebody named are still there |
//! | [`saved_work`] | what was saved of attempts that are over |
//! | [`quarantine`] | uncommitted work, kept before its tree goes away |
//!
//! Names and ids come in as types that git cannot read as an option or an expression, paths as
//! input on stdin. Configuration of a repository is never executed: no hook, no file system
//! monitor, no external diff, no text conversion, no pager, no signing program, no transport.
//!
//! A look at a tree ([`Git::status`], [`Git::shortstat`]) runs no filter that the repository's own configuration names. One
//! exception: **`filter.*.clean`, `smudge` and `process` run** where content goes into the
//! repository or comes out of it, because without them a repository with large-file storage or
//! encryption would get the wrong content. Whoever calls [`Git::changed_paths`],
//! [`Git::commit_paths`], [`Git::quarantine`] or [`Git::add_worktree`] runs the filters that the
//! repository's own configuration names.
//!
//! Only what handoff made is moved: branches by compare-and-swap, never by force. No lock of git
//! is ever removed. The user's hooks do not run here yet.

#![warn(missing_docs)]

pub mod baseline;
pub mod change;
pub mod commit;
pub mod commit_lock;
pub mod git;
pub mod guard;
pub mod head;
pub mod held_commit;
pub mod hooks;
pub mod ignoring;
mod index;
mod inflate;
pub mod kept_pack;
pub mod land;
mod left_lock;
mod loose_commit;
mod loose_object;
pub mod mark;
pub mod merge;
mod own_branches;
mod private_objects;
pub mod quarantine;
pub mod reachability;
pub mod ref_moves;
mod ref_places;
pub mod ref_watch;
mod referee_tree;
pub mod repository;
pub mod safe_commit;
pub mod saved_work;
mod sha1;
mod snapshot;
pub mod status;
mod tree_object;
pub mod tree_path;
pub mod worktree;
mod worktree_record;

pub use change::{Change, ChangeKind};
pub use commit::CommitError;
pub use commit_lock::{CommitLock, CommitLockError};
pub use git::{Git, GitError};
pub use head::{Head, HeadError};
pub use ignoring::{IgnoreRule, Ignoring};
pub use kept_pack::{KeepError, KeptPack};
pub use mark::MarkError;
pub use merge::{Merge, Merged};
pub use quarantine::QuarantineError;
pub use repository::{DiscoverError, Repository};
pub use safe_commit::{
    CommitRequest, IndexState, Made, Prepared, SafeCommitError, StagingRefusal, Version,
};
pub use snapshot::{Snapshot, SnapshotError};
pub use status::{Look, Status};
pub use tree_path::{PathRefusal, TreePath};
pub use worktree::{Checkout, NewTree, SpareTree, Worktree, WorktreeError};
