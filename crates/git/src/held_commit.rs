//! A commit of declared paths for somebody who must not get a program of theirs run by us.
//!
//! Whoever works in a tree can write the program that a filter of the repository names by a path in it. So filters run in a
//! sandbox that can change nothing but a directory made for this commit: there git puts the new objects, from where they are
//! taken as data. Hooks do not run.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use handoff_core::CommitId;
use handoff_core::ownership::RepoPath;
use handoff_process::{Sandbox, mint};

use crate::commit::{CommitError, tree_on};
use crate::git::{Call, Git, GitError};
use crate::kept_pack::Wanted;
use crate::repository::Repository;

const PLACE: &str = "held";

/// A directory for the objects of one commit, removed on drop. What a killed process leaves is never read; whoever has the commit
/// lock next clears it away, because such commits are made under it.
#[derive(Debug)]
struct Quarters {
    path: PathBuf,
    shared: PathBuf,
}

impl Quarters {
    fn make(at: &Repository) -> io::Result<Self> {
        let place = at.own_dir().map_err(io::Error::other)?;
        let place = place.create_dir(PLACE).map_err(io::Error::other)?;
        let path = place.path().join(mint().simple().to_string());
        fs::create_dir_all(path.join("objects"))?;
        Ok(Self {
            path,
            shared: at.common_dir().join("objects"),
        })
    }

    /// A call that puts what it makes here.
    fn within(&self, call: Call) -> Call {
        call.variable("GIT_INDEX_FILE", self.path.join("index"))
            .variable("GIT_OBJECT_DIRECTORY", self.path.join("objects"))
            .variable("GIT_ALTERNATE_OBJECT_DIRECTORIES", &self.shared)
            .variable("TMPDIR", &self.path)
            .sandbox(Sandbox::new([self.path.clone()]))
    }
}

impl Drop for Quarters {
    fn drop(&mut self) {
        // A leftover is a directory that nobody reads.
        fs::remove_dir_all(&self.path).ok();
    }
}

/// Whether somebody makes such a commit at this moment, or was killed at it.
pub(crate) fn has_quarters(at: &Repository) -> bool {
    let place = at.common_dir().join("handoff").join(PLACE);
    fs::read_dir(place).is_ok_and(|mut entries| entries.next().is_some())
}

/// Clears away what the killed left. Only for one who has the commit lock.
pub(crate) fn clear_quarters(at: &Repository) -> io::Result<()> {
    let place = at.common_dir().join("handoff").join(PLACE);
    match fs::remove_dir_all(place) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
        Ok(()) | Err(_) => Ok(()),
    }
}

impl Git {
    /// Commits `paths` as [`Git::commit_paths`] does, with filters in a sandbox. The index gets the new entries, but is not
    /// compared with the files: that would run filters too.
    pub fn commit_paths_held(
        &self,
        at: &Repository,
        paths: &[RepoPath],
        message: &str,
    ) -> Result<CommitId, CommitError> {
        let root = at.tree()?;
        let parent = self.head(at)?;
        let quarters = Quarters::make(at).map_err(CommitError::Quarters)?;
        let tree = self.tree_in(&quarters, root, &parent, paths)?;
        let (commit, kept) = self.apart(at, CommitError::git, |private| {
            let git = self.writing_to(private);
            git.take_objects((self, &quarters), root, &tree, &parent)?;
            git.check(at, &parent, &tree, paths)?;
            let tip = &git.commit_tree(at, &tree, &[&parent], message)?;
            let known = vec![&parent];
            let kept = self.keep_objects(at, private, &Wanted::Beyond { tip, known })?;
            Ok::<_, CommitError>((tip.clone(), kept))
        })?;
        self.move_head(root, at, &commit, &parent)?;
        drop(kept);
        self.fold_packs(at);
        match self.update_entries(root, &commit, paths) {
            Ok(()) => Ok(commit),
            Err(source) => Err(CommitError::IndexLeft { commit, source }),
        }
    }

    /// Brings the name of the branch that is checked out to stable storage: git syncs what it writes, but not that it renamed it.
    pub fn sync_branch(&self, at: &Repository) -> io::Result<()> {
        let head = at.read_head().map_err(io::Error::other)?;
        let (home, name) = match head.branch {
            Some(branch) => (at.common_dir(), branch),
            None => (at.git_dir(), "HEAD".to_owned()),
        };
        let file = home.join(name);
        let place = file.parent().unwrap_or(home);
        fs::File::open(place)?.sync_all()
    }

    fn tree_in(
        &self,
        quarters: &Quarters,
        root: &Path,
        parent: &CommitId,
        paths: &[RepoPath],
    ) -> Result<CommitId, GitError> {
        let call = |name| quarters.within(self.call_in_tree(name, root));
        tree_on(parent, paths, call)
    }

    /// Brings new objects into the repository. Git computes the id of each from what it is given.
    fn take_objects(
        &self,
        (outside, quarters): (&Self, &Quarters),
        root: &Path,
        tree: &CommitId,
        parent: &CommitId,
    ) -> Result<(), GitError> {
        let wanted = format!("{tree}\n^{parent}\n");
        let pack = quarters
            .within(outside.call_in_tree("pack-objects", root))
            .arguments(["--revs", "--stdout", "-q"])
            .input(wanted.into_bytes())
            .run()?;
        let call = self.call_in_tree("unpack-objects", root);
        call.arguments(["-q", "--strict"]).input(pack).run()?;
        Ok(())
    }
}
