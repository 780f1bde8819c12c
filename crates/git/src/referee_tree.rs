//! A tree of our own in which commits are looked at: nobody works there, so nothing in it is worth keeping.

use std::path::Path;

use handoff_core::CommitId;
use handoff_core::ownership::RepoPath;

use crate::git::{Git, GitError};
use crate::repository::Repository;
use crate::safe_commit::remove_file;
use crate::worktree::WorktreeError;

/// Locks of a git that was killed as it laid out a commit. Nobody but the one referee of a run works there.
const LEFT_BY_KILLED: [&str; 3] = ["index.lock", "HEAD.lock", "ORIG_HEAD.lock"];

impl Git {
    /// Makes a commit stand at `path`, and nothing beside it: what a run left there before is gone, ignored files too.
    pub fn lay_out(
        &self,
        repository: &Repository,
        path: &Path,
        commit: &CommitId,
    ) -> Result<Repository, WorktreeError> {
        let at = match repository.linked_at(path) {
            Some(at) if self.is_sound(&at) => at,
            Some(_) | None => self.add_detached(repository, path, commit)?,
        };
        // What ran here may have put anything in the place of `.git`, and anything into the index.
        at.relink().map_err(WorktreeError::Relink)?;
        for name in ["index"].iter().chain(&LEFT_BY_KILLED) {
            remove_file(&at.git_dir().join(name)).map_err(WorktreeError::Relink)?;
        }
        let (git, root) = (self.bound_to(&at), at.tree()?);
        git.call_in_tree("reset", root)
            .arguments(["--hard", "--quiet", commit.as_str()])
            .run()?;
        git.call_in_tree("clean", root)
            .arguments(["--force", "--force", "-d", "-x", "--quiet"])
            .run()?;
        Ok(at)
    }

    /// One that was killed while it was made has no HEAD.
    fn is_sound(&self, at: &Repository) -> bool {
        self.head(at).is_ok()
    }

    /// What a file holds in a commit; none if it is not in it.
    pub fn file_in(
        &self,
        at: &Repository,
        commit: &CommitId,
        path: &RepoPath,
    ) -> Result<Option<Vec<u8>>, GitError> {
        let found = self
            .call("ls-tree", at.any_place())
            .arguments(["--full-tree", "-z", "--format=%(objectname)"])
            .arguments([commit.as_str(), "--", path.as_str()])
            .run()?;
        let found = String::from_utf8_lossy(&found);
        let blob = found.trim_end_matches('\0');
        if blob.is_empty() {
            return Ok(None);
        }
        let call = self.call("cat-file", at.any_place());
        call.arguments(["blob", blob]).run().map(Some)
    }

    /// What changed from one commit to another, a line for each file and one for all, no wider than a terminal.
    pub fn summary(
        &self,
        at: &Repository,
        before: &CommitId,
        after: &CommitId,
    ) -> Result<String, GitError> {
        self.diff(at, ["--stat=100", "--stat-count=20"], before, after)
    }

    /// What changed from one commit to another, line by line, for a person to read.
    pub fn difference(
        &self,
        at: &Repository,
        before: &CommitId,
        after: &CommitId,
    ) -> Result<String, GitError> {
        self.diff(at, ["--patch", "--find-renames"], before, after)
    }

    /// Without the programs that a repository may name for showing files.
    fn diff(
        &self,
        at: &Repository,
        form: [&str; 2],
        before: &CommitId,
        after: &CommitId,
    ) -> Result<String, GitError> {
        let printed = self
            .call("diff", at.any_place())
            .arguments(form)
            .arguments(["--no-ext-diff", "--no-textconv", "--no-color"])
            .arguments([before.as_str(), after.as_str(), "--"])
            .run()?;
        Ok(String::from_utf8_lossy(&printed).into_owned())
    }

    /// The tree of a commit: the same for two commits with the same files.
    pub fn tree_of(&self, at: &Repository, commit: &CommitId) -> Result<CommitId, GitError> {
        self.call("rev-parse", at.any_place())
            .arguments(["--verify", "--quiet", "--end-of-options"])
            .arguments([format!("{commit}^{{tree}}")])
            .run_for_commit()
    }

    /// Points a ref of ours at a commit, wherever it was.
    pub fn mark_commit(
        &self,
        at: &Repository,
        name: &str,
        commit: &CommitId,
    ) -> Result<(), GitError> {
        let name = format!("refs/handoff/{name}");
        let call = self.call("update-ref", at.any_place());
        call.arguments(["--end-of-options", &name, commit.as_str()])
            .run()
            .map(drop)
    }

    /// Writes a note beside a commit, instead of the one that is there.
    pub fn note(&self, at: &Repository, commit: &CommitId, text: &str) -> Result<(), GitError> {
        let call = self.signed_call("notes", at)?;
        call.arguments(["--ref=handoff", "add", "--force", "--file=-", "--"])
            .arguments([commit.as_str()])
            .input(text.as_bytes().to_vec())
            .run()
            .map(drop)
    }

    /// Makes paths stand as they are in another commit; what is not in it is removed.
    pub fn restore(
        &self,
        at: &Repository,
        commit: &CommitId,
        paths: &[RepoPath],
    ) -> Result<(), GitError> {
        if paths.is_empty() {
            return Ok(());
        }
        let list: Vec<_> = paths.iter().flat_map(|it| [it.as_str(), "\0"]).collect();
        let source = format!("--source={commit}");
        self.call_in_tree("restore", at.tree()?)
            .arguments([source.as_str(), "--staged", "--worktree"])
            .arguments(["--pathspec-from-file=-", "--pathspec-file-nul"])
            .input(list.concat().into_bytes())
            .run()?;
        Ok(())
    }
}
