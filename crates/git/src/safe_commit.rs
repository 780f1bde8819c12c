//! A commit of exactly the declared paths in a tree that others use too, with the user's hooks,
//! signing and filters.
//!
//! | step | what happens | what is left if we die after it |
//! |---|---|---|
//! | [`Git::prepare`] | git makes the commit in a booth, hooks and all | objects that nobody names |
//! | the caller looks whether it may still | | |
//! | [`Prepared::land`] | the branch moves, if it is still where it was | an index that is behind; [`repair`] brings it up |
//! | | the entries of these paths move in the shared index | nothing |
//!
//! All of it under the [`CommitLock`]. What others have staged or edited is not touched.

mod booth;
mod cache_tree;
mod empty_tree;
mod error;
mod graft;
mod grip;
mod index_file;
mod intent;
mod keeping;
mod landing;
mod merge;
mod new_objects;
mod publishing;
mod ref_file;
pub mod repair;
mod scene;
mod shared_index;
mod staging;
mod syncing;
mod wrappers;

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use handoff_core::{CommitId, Timestamp};
use handoff_process::Exit;

use self::booth::Booth;
pub use self::booth::BoothError;
use self::empty_tree::parent_tree;
pub use self::error::SafeCommitError;
pub(crate) use self::index_file::hides_nothing;
pub use self::intent::Company;
use self::intent::{Content, Intent};
pub use self::landing::{IndexState, Landed, Made};
pub(crate) use self::ref_file::{has_special_modes, make as make_ref};
pub use self::scene::Outlook;
use self::scene::{Scene, recall};
pub(crate) use self::shared_index::remove as remove_file;
use self::shared_index::{SharedIndex, Stamp};
pub use self::staging::{StagingRefusal, Version};
pub(crate) use self::syncing::sync_together;
use self::wrappers::Wrapped;
pub(crate) use self::wrappers::quoted;
use crate::commit_lock::CommitLock;
use crate::git::{Git, printable};
use crate::kept_pack::{self, KeptPack};
use crate::left_lock;
use crate::private_objects::PrivateObjects;
use crate::repository::Repository;
use crate::tree_path::{TreePath, joined};

/// What a hook finds in its environment while we commit: the name of the booth.
pub const COMMIT_VARIABLE: &str = "HANDOFF_COMMIT";

/// What is to be committed.
#[derive(Debug, Clone, Copy)]
pub struct CommitRequest<'a> {
    /// Exactly these.
    pub paths: &'a [TreePath],
    /// With trailers, if any.
    pub message: &'a str,
    /// Where there are two versions of a file, which.
    pub version: Version,
    /// Who else works in this tree at the moment; none if that is not known.
    pub peers: Option<&'a [String]>,
    /// Now.
    pub at: Timestamp,
}

/// A commit that is made, and that nothing points to yet. Dropping it forgets it.
#[derive(Debug)]
pub struct Prepared<'a> {
    git: &'a Git,
    at: &'a Repository,
    _lock: &'a CommitLock,
    booth: Booth,
    intent: Intent,
    commit: CommitId,
    changed: Vec<TreePath>,
    wrapped: Wrapped,
    /// The index in the booth is the shared one with our paths, as long as that still has this stamp.
    fresh: Option<Stamp>,
    said: String,
    /// The files of all its objects, where they are known without looking through the repository.
    new_objects: Option<BTreeSet<PathBuf>>,
    /// Its objects, as long as no ref names it.
    kept: Option<KeptPack>,
}

impl Git {
    /// Makes the commit, without moving anything. If objects of it are pruned meanwhile, it is made again where nobody prunes.
    pub fn prepare<'a>(
        &'a self,
        lock: &'a CommitLock,
        at: &'a Repository,
        request: &CommitRequest<'_>,
        mut outlook: Option<Outlook>,
    ) -> Result<Prepared<'a>, SafeCommitError> {
        let mut left = kept_pack::ATTEMPTS;
        let mut private = None;
        loop {
            let ahead = outlook.take();
            left -= 1;
            match self.prepare_once(lock, at, request, (ahead, private.as_ref())) {
                Err(error) if left > 0 && error.said().is_some_and(|it| self.is_pruned(at, it)) => {
                }
                Ok(mut prepared) if private.is_some() => {
                    prepared.explain_again("`git prune` or `git gc` removed objects of the commit");
                    return Ok(prepared);
                }
                made => return made,
            }
            let made = PrivateObjects::make(at);
            let failed = |error| SafeCommitError::Sync(at.common_dir().to_owned(), error);
            private = Some(made.map_err(failed)?);
        }
    }

    fn prepare_once<'a>(
        &'a self,
        lock: &'a CommitLock,
        at: &'a Repository,
        request: &CommitRequest<'_>,
        (outlook, private): (Option<Outlook>, Option<&PrivateObjects>),
    ) -> Result<Prepared<'a>, SafeCommitError> {
        let (booth, view) = match outlook {
            Some(Outlook { booth, view }) => (booth, Some(view)),
            None => (Booth::open(at, request.paths, request.message)?, None),
        };
        let scene = match view.map(|view| recall(at, request, view)) {
            Some(Some(scene)) => scene?,
            Some(None) | None => self.survey(at, request)?,
        };
        let intent = scene.intent(at, request);
        let wrapped = scene.hooks.wrap(&booth, private)?;
        let apart = private.map_or_else(|| self.clone(), |private| self.writing_to(private));
        let stamp = SharedIndex::of(at.git_dir())
            .copy_to(&booth.file(publishing::INDEX))
            .and_then(|stamp| booth.keep_index().map(|()| stamp))
            .map_err(|error| SafeCommitError::Index(at.git_dir().to_owned(), error))?;
        booth.begin(at, &intent)?;
        apart.stage(at, &scene, &booth, &intent, request)?;
        let said = apart
            .commit_in(&booth, &scene, &intent, &wrapped)
            .inspect_err(|error| {
                if error.is_killed() {
                    // The next one finds out otherwise that it cannot lock them.
                    left_lock::unlock_packed_refs(at, &booth.file("commondir")).ok();
                }
            })?;
        let Some(commit) = booth.commit(intent.parent.as_ref()) else {
            let exit = Exit::Code(0);
            return Err(SafeCommitError::Refused { exit, said });
        };
        let is_exact = intent.content == Content::Tree && !wrapped.is_any;
        let is_checked = is_exact && scene.plan.unknown_to_git.is_empty();
        let mut prepared = Prepared {
            git: self,
            at,
            _lock: lock,
            booth,
            intent,
            commit,
            changed: scene.plan.changed.clone(),
            wrapped,
            fresh: is_exact.then_some(stamp),
            said,
            new_objects: None,
            kept: None,
        };
        prepared.keep_objects(private)?;
        if !is_checked {
            self.check_extent(at, &scene, &prepared.commit, request)?;
        }
        Ok(prepared)
    }

    /// Puts into the booth's index what `git commit` will find there.
    fn stage(
        &self,
        at: &Repository,
        scene: &Scene<'_>,
        booth: &Booth,
        intent: &Intent,
        request: &CommitRequest<'_>,
    ) -> Result<(), SafeCommitError> {
        let update = |options: &[&str]| {
            self.call("update-index", scene.root)
                .unsynced()
                .git_dir(booth.path(), scene.root)
                .arguments(options)
        };
        let add = ["--add", "--remove", "--replace", "-z", "--stdin"];
        match intent.content {
            Content::Tree if scene.plan.unknown_to_git.is_empty() => {}
            Content::Tree => {
                let input = joined(&scene.plan.unknown_to_git);
                update(&add).input(input).run()?;
            }
            Content::Replacing => {
                update(&add).input(joined(&scene.plan.changed)).run()?;
                let entries = self.undeclared(at, scene, booth, intent, request)?;
                update(&["-z", "--index-info"]).input(entries).run()?;
            }
            Content::Staged => {
                let entries = self.undeclared(at, scene, booth, intent, request)?;
                update(&["-z", "--index-info"]).input(entries).run()?;
            }
            Content::Merge => {
                merge::copy(at.git_dir(), booth)?;
                if request.version != Version::Staged {
                    update(&add).input(joined(&scene.plan.changed)).run()?;
                }
                self.check_merge(at, scene, booth, intent, request)?;
            }
        }
        Ok(())
    }

    /// What others have staged, as the parent has it, so that it is not part of this commit.
    fn undeclared(
        &self,
        at: &Repository,
        scene: &Scene<'_>,
        booth: &Booth,
        intent: &Intent,
        request: &CommitRequest<'_>,
    ) -> Result<Vec<u8>, SafeCommitError> {
        let declared: BTreeSet<_> = request.paths.iter().map(TreePath::as_bytes).collect();
        let staged = self.staged(scene.root, booth.path(), &intent.parent_tree(at))?;
        let others = staged
            .iter()
            .filter(|it| !declared.contains(it.path.as_slice()));
        Ok(others.flat_map(crate::commit::index_entry).collect())
    }

    fn check_merge(
        &self,
        at: &Repository,
        scene: &Scene<'_>,
        booth: &Booth,
        intent: &Intent,
        request: &CommitRequest<'_>,
    ) -> Result<(), SafeCommitError> {
        let call = self.call("ls-files", scene.root);
        let call = call.git_dir(booth.path(), scene.root);
        let listing = call.arguments(["--unmerged", "-z"]).run()?;
        let unresolved = unmerged(&listing);
        if !unresolved.is_empty() {
            return Err(SafeCommitError::Unresolved(unresolved));
        }
        let mut allowed: BTreeSet<TreePath> = request.paths.iter().cloned().collect();
        if let Some(parent) = &intent.parent {
            allowed.extend(self.merged_paths(at, parent, &scene.merged)?);
        }
        let staged = self.staged(scene.root, booth.path(), &intent.parent_tree(at))?;
        let others = beyond(&staged, &allowed);
        if others.is_empty() {
            Ok(())
        } else {
            Err(SafeCommitError::NotMerged(others))
        }
    }

    /// Runs `git commit` in the booth, and returns what it and the hooks said.
    fn commit_in(
        &self,
        booth: &Booth,
        scene: &Scene<'_>,
        intent: &Intent,
        wrapped: &Wrapped,
    ) -> Result<String, SafeCommitError> {
        let call = self
            .user_call("commit", scene.root)
            .unsynced()
            .hooks_path(&wrapped.before)
            .git_dir(booth.path(), scene.root)
            .variable(COMMIT_VARIABLE, booth.name())
            .arguments(["--quiet", "--no-edit"])
            .arguments([Path::new("--file"), &booth.message()]);
        let call = match intent.content {
            Content::Tree => {
                let specs: Vec<u8> = scene.plan.changed.iter().flat_map(spec_line).collect();
                let only = ["--only", "--pathspec-from-file=-", "--pathspec-file-nul"];
                call.arguments(only).input(specs)
            }
            Content::Replacing | Content::Staged | Content::Merge => call,
        };
        let begun = call.begin()?;
        // While git works: nobody waits for it then.
        let synced = syncing::sync_together(&booth.needed());
        let (exit, said) = begun.finish_aloud()?;
        let said = lines(&said);
        if !exit.is_success() {
            return Err(SafeCommitError::Refused { exit, said });
        }
        let failed = |error| SafeCommitError::Sync(booth.path().to_owned(), error);
        synced.map(|()| said).map_err(failed)
    }

    /// A hook may stage more than was declared; a file in the place of a directory takes the place of all that was in it.
    fn check_extent(
        &self,
        at: &Repository,
        scene: &Scene<'_>,
        commit: &CommitId,
        request: &CommitRequest<'_>,
    ) -> Result<(), SafeCommitError> {
        if !scene.merged.is_empty() {
            return Ok(());
        }
        let parent = parent_tree(scene.head.commit.as_ref(), commit);
        let differences = self.compare(at, &parent, commit.as_str())?;
        let allowed: BTreeSet<TreePath> = request.paths.iter().cloned().collect();
        let others = beyond(&differences, &allowed);
        if !others.is_empty() {
            return Err(SafeCommitError::Others(others));
        }
        let nested: Vec<_> = differences
            .iter()
            .filter(|it| it.is_new_repository())
            .collect();
        if nested.is_empty() || at.tree()?.join(".gitmodules").exists() {
            return Ok(());
        }
        let nested = nested.iter().map(|it| TreePath::from_git(&it.path));
        Err(StagingRefusal::NestedRepository(nested.collect()).into())
    }
}

fn beyond(
    differences: &[crate::change::Difference],
    allowed: &BTreeSet<TreePath>,
) -> Vec<TreePath> {
    let paths = differences.iter().map(|it| TreePath::from_git(&it.path));
    paths.filter(|path| !allowed.contains(path)).collect()
}

/// `<mode> <object> <stage> TAB <path> NUL`, up to three times a path.
fn unmerged(listing: &[u8]) -> Vec<TreePath> {
    let entries = listing.split(|&byte| byte == 0);
    let paths = entries.filter_map(|entry| {
        let tab = entry.iter().position(|&byte| byte == b'\t')?;
        Some(TreePath::from_git(&entry[tab + 1..]))
    });
    paths.collect::<BTreeSet<_>>().into_iter().collect()
}

fn spec_line(path: &TreePath) -> Vec<u8> {
    use std::os::unix::ffi::OsStringExt as _;
    let mut spec = path.pathspec().into_vec();
    spec.push(0);
    spec
}

/// What was said, line by line and harmless.
fn lines(said: &[u8]) -> String {
    let text = String::from_utf8_lossy(said);
    let lines: Vec<_> = text.lines().map(printable).collect();
    lines.join("\n")
}
