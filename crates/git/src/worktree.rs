//! Linked worktrees, and what they stand on.
//!
//! Making and removing one is done under a lock in the common directory: git itself loses entries
//! when two do it at once.

mod spare;

use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};

use handoff_core::{BranchName, CommitId};
use handoff_files::{DirError, Lock, LockError};

pub use self::spare::SpareTree;
use crate::git::{Begun, Git, GitError};
use crate::left_lock;
use crate::repository::{DiscoverError, Repository};
use crate::safe_commit::make_ref;
use crate::worktree_record::WorktreeRecord;

/// A working tree of a repository, as git lists it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Worktree {
    /// Its root; of a bare repository, the repository.
    pub path: PathBuf,
    /// What is checked out in it.
    pub checkout: Checkout,
}

/// What is checked out.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Checkout {
    /// A branch; its full name may be any that git allows.
    Branch {
        /// Such as `refs/heads/main`.
        full_name: String,
        /// Where it is.
        commit: CommitId,
    },
    /// A commit without a branch.
    Detached(CommitId),
    /// Nothing: a bare repository.
    Bare,
}

/// A tree that git may still be filling. One that is dropped stays half made, and is known as such.
#[derive(Debug)]
#[must_use = "it is whole when it is finished"]
pub struct NewTree(Making);

#[derive(Debug)]
enum Making {
    Made(Repository),
    Filled {
        record: WorktreeRecord,
        /// None if all of it was there already.
        filling: Option<Box<Begun>>,
    },
}

/// A worktree was not made or not removed.
#[derive(Debug, thiserror::Error)]
pub enum WorktreeError {
    /// There is no place for the lock.
    #[error("cannot make a place for the lock on worktrees")]
    Place(#[source] DirError),
    /// The lock cannot be taken.
    #[error("cannot lock the worktrees")]
    Lock(#[source] LockError),
    /// What it leaves for whoever comes after a crash.
    #[error("cannot use `{}`", .0.display())]
    Note(PathBuf, #[source] std::io::Error),
    /// Git failed.
    #[error("git could not change the worktrees")]
    Git(#[from] GitError),
    /// What is left of it, and git knows nothing of, cannot be removed.
    #[error("cannot remove `{0}`")]
    Leftover(PathBuf, #[source] std::io::Error),
    /// It was made, and is not there.
    #[error("the new worktree is not a repository")]
    Open(#[source] DiscoverError),
    /// A worktree of our own could not be put right.
    #[error("cannot put `.git` back into the referee's tree")]
    Relink(#[source] std::io::Error),
}

/// So often git looks at worktrees that come and go.
const LOOKS: usize = 5;

impl Git {
    /// Makes a branch at `base` and a linked worktree for it at `path`, and returns the repository
    /// as seen from there.
    ///
    /// After a failure the branch may be there without the worktree.
    pub fn add_worktree(
        &self,
        repository: &Repository,
        path: &Path,
        branch: &BranchName,
        base: &CommitId,
    ) -> Result<Repository, WorktreeError> {
        let tree = self.begin_worktree(repository, path, branch, base)?;
        self.finish_worktree(repository, tree)
    }

    /// The same for one who has something else to do while git fills the tree.
    pub fn begin_worktree(
        &self,
        repository: &Repository,
        path: &Path,
        branch: &BranchName,
        base: &CommitId,
    ) -> Result<NewTree, WorktreeError> {
        let changing = Changing::begin(repository)?;
        let recorded = WorktreeRecord::make(repository, path, &on_branch(branch));
        let record = match recorded {
            Ok(record) => {
                changing.end(&Ok::<_, GitError>(()))?;
                record
            }
            // A name that somebody else has, or refs that are no files: git knows what to do.
            Err(_) => {
                let made = self.add_by_git(changing, repository, (path, branch), base)?;
                return Ok(NewTree(Making::Made(made)));
            }
        };
        // Outside of the lock: other trees can be made meanwhile.
        let filling = self
            .begin_branch(repository, &record, branch, base)
            .and_then(|()| self.fill(&record, base));
        self.making(repository, record, filling.map(Some))
    }

    /// A tree that git is filling, or nothing of it.
    fn making(
        &self,
        repository: &Repository,
        record: WorktreeRecord,
        filling: Result<Option<Begun>, GitError>,
    ) -> Result<NewTree, WorktreeError> {
        match filling {
            Ok(filling) => Ok(NewTree(Making::Filled {
                record,
                filling: filling.map(Box::new),
            })),
            Err(error) => {
                self.remove_worktree(repository, record.tree())?;
                Err(error.into())
            }
        }
    }

    /// Waits until a tree that was begun is whole.
    pub fn finish_worktree(
        &self,
        repository: &Repository,
        tree: NewTree,
    ) -> Result<Repository, WorktreeError> {
        let (record, filling) = match tree.0 {
            Making::Made(made) => return Ok(made),
            Making::Filled { record, filling } => (record, filling),
        };
        let path = record.tree().to_owned();
        if let Some(Err(error)) = filling.map(|it| it.finish()) {
            self.remove_worktree(repository, &path)?;
            return Err(error.into());
        }
        record
            .finish()
            .map_err(|error| WorktreeError::Note(path.clone(), error))?;
        Repository::open(&path).map_err(WorktreeError::Open)
    }

    fn begin_branch(
        &self,
        repository: &Repository,
        record: &WorktreeRecord,
        branch: &BranchName,
        base: &CommitId,
    ) -> Result<(), GitError> {
        let name = format!("refs/heads/{branch}");
        if make_ref(repository, &name, base).is_err() {
            let nothing = "0".repeat(base.as_str().len());
            self.call("update-ref", record.tree())
                .arguments(["-m", "handoff: begin", "--end-of-options"])
                .arguments([name.as_str(), base.as_str(), &nothing])
                .run()?;
        }
        Ok(())
    }

    /// Git at work on the files of a commit.
    fn fill(&self, record: &WorktreeRecord, base: &CommitId) -> Result<Begun, GitError> {
        self.call_in_tree("read-tree", record.tree())
            .arguments(["--reset", "-u", base.as_str()])
            .begin()
    }

    fn add_by_git(
        &self,
        changing: Changing<'_>,
        repository: &Repository,
        (path, branch): (&Path, &BranchName),
        base: &CommitId,
    ) -> Result<Repository, WorktreeError> {
        let made = self
            .call("worktree", repository.any_place())
            .arguments(["add", "--quiet", "--no-track", "-b", branch.as_str(), "--"])
            .arguments([path.as_os_str(), base.as_str().as_ref()])
            .run();
        changing.end(&made)?;
        made?;
        Repository::open(path).map_err(WorktreeError::Open)
    }

    /// Makes a linked worktree without a branch at `path`, whatever is there.
    pub(crate) fn add_detached(
        &self,
        repository: &Repository,
        path: &Path,
        commit: &CommitId,
    ) -> Result<Repository, WorktreeError> {
        self.remove_worktree(repository, path)?;
        let changing = Changing::begin(repository)?;
        let made = self
            .call("worktree", repository.any_place())
            .arguments(["add", "--quiet", "--detach", "--"])
            .arguments([path.as_os_str(), commit.as_str().as_ref()])
            .run();
        changing.end(&made)?;
        made?;
        Repository::open(path).map_err(WorktreeError::Open)
    }

    /// Removes a linked worktree with everything in it, also when it was never finished or is
    /// already gone. The branch stays. Call [`Git::quarantine`] first.
    pub fn remove_worktree(
        &self,
        repository: &Repository,
        path: &Path,
    ) -> Result<(), WorktreeError> {
        let changing = Changing::begin(repository)?;
        let removed = self.remove(repository, path);
        changing.end(&removed)?;
        removed
    }

    fn remove(&self, repository: &Repository, path: &Path) -> Result<(), WorktreeError> {
        // Git knows its name, and cannot make anything of it.
        if repository.has_half_made_tree(path) {
            remove_leftover(path)?;
            return admin_dir(repository, path).map_or(Ok(()), |admin| remove_leftover(&admin));
        }
        // As git does it, without a process: what is on record is ours to take apart.
        if let Some(record) = WorktreeRecord::find(repository, path) {
            remove_leftover(path)?;
            remove_leftover(record.directory())?;
            return Ok(());
        }
        // Forced twice, because a person may have locked it.
        let removed = self
            .call("worktree", repository.any_place())
            .arguments(["remove", "--force", "--force", "--"])
            .arguments([path])
            .run();
        match removed {
            Ok(_) => Ok(()),
            Err(error) if self.is_registered(repository, path)? => Err(error.into()),
            Err(_) => remove_leftover(path),
        }
    }

    /// Whether somebody has a branch checked out: then it is not moved under them.
    pub fn is_checked_out(
        &self,
        repository: &Repository,
        branch: &BranchName,
    ) -> Result<bool, GitError> {
        let wanted = format!("refs/heads/{branch}");
        let trees = self.list_worktrees(repository)?;
        Ok(trees.iter().any(|tree| match &tree.checkout {
            Checkout::Branch { full_name, .. } => *full_name == wanted,
            Checkout::Detached(_) | Checkout::Bare => false,
        }))
    }

    /// Removes the lock that a killed git left on a branch of ours. Only for one who knows that nobody works on that
    /// branch: no other lock is ever removed like this.
    pub fn unlock_branch(
        &self,
        repository: &Repository,
        branch: &BranchName,
    ) -> Result<(), WorktreeError> {
        let lock = repository
            .common_dir()
            .join(format!("refs/heads/{branch}.lock"));
        crate::safe_commit::remove_file(&lock).map_err(|error| WorktreeError::Leftover(lock, error))
    }

    fn is_registered(&self, repository: &Repository, path: &Path) -> Result<bool, GitError> {
        let real = |path: &Path| path.canonicalize().unwrap_or_else(|_| path.to_owned());
        let worktrees = self.list_worktrees(repository)?;
        Ok(worktrees.iter().any(|it| real(&it.path) == real(path)))
    }

    /// Whether this branch is what is checked out.
    pub fn is_on_branch(&self, at: &Repository, branch: &BranchName) -> Result<bool, GitError> {
        if let Ok(head) = at.read_head() {
            return Ok(head.branch == Some(format!("refs/heads/{branch}")));
        }
        let call = self
            .call("symbolic-ref", at.any_place())
            .arguments(["--quiet", "HEAD"]);
        let name = call.ask()?;
        Ok(name
            .is_some_and(|name| name.trim_ascii_end() == format!("refs/heads/{branch}").as_bytes()))
    }

    /// All worktrees, the main one first. Git gives up when one goes while it looks, so it may look again.
    pub fn list_worktrees(&self, repository: &Repository) -> Result<Vec<Worktree>, GitError> {
        let looks = (1..LOOKS).map(|_| self.look_at_worktrees(repository));
        let mut looks = looks.skip_while(|it| matches!(it, Err(GitError::Failed { .. })));
        looks
            .next()
            .unwrap_or_else(|| self.look_at_worktrees(repository))
    }

    fn look_at_worktrees(&self, repository: &Repository) -> Result<Vec<Worktree>, GitError> {
        let call = self.call("worktree", repository.any_place());
        let call = call.arguments(["list", "--porcelain", "-z"]);
        let unknown = call.unknown_answer();
        parse(&call.run()?).ok_or(unknown)
    }

    /// The commit that the worktree stands on.
    pub fn head(&self, at: &Repository) -> Result<CommitId, GitError> {
        // What cannot be read without git, git may be able to.
        if let Ok(Some(commit)) = at.read_head().map(|head| head.commit) {
            return Ok(commit);
        }
        self.call("rev-parse", at.any_place())
            .arguments(["--verify", "--end-of-options", "HEAD^{commit}"])
            .run_for_commit()
    }

    /// Where a branch is, if there is one of this name.
    pub fn resolve_branch(
        &self,
        repository: &Repository,
        branch: &BranchName,
    ) -> Result<Option<CommitId>, GitError> {
        self.resolve(repository, &format!("refs/heads/{branch}"))
    }

    pub(crate) fn resolve(
        &self,
        repository: &Repository,
        full_name: &str,
    ) -> Result<Option<CommitId>, GitError> {
        let call = self.call("rev-parse", repository.any_place());
        let call = call.arguments(["--verify", "--quiet", "--end-of-options"]);
        let call = call.arguments([format!("{full_name}^{{commit}}")]);
        let unknown = call.unknown_answer();
        let answer = call.ask()?;
        answer
            .map(|id| crate::git::commit_id(&id).ok_or(unknown))
            .transpose()
    }
}

impl Repository {
    /// Whether a linked worktree was begun at `path`, and never finished: nobody has worked in it. Git locks one while it makes
    /// it, with this word, and gives it a HEAD that names nothing first.
    #[must_use]
    pub fn has_half_made_tree(&self, path: &Path) -> bool {
        let Some(admin) = admin_dir(self, path) else {
            return false;
        };
        let is_locked =
            std::fs::read(admin.join("locked")).is_ok_and(|it| it.starts_with(b"initializing"));
        let head = std::fs::read(admin.join("HEAD")).unwrap_or_default();
        let names_nothing = head.iter().all(|byte| matches!(byte, b'0' | b'\n'));
        admin.exists() && (is_locked || names_nothing)
    }

    /// The tree we stand in.
    pub(crate) fn tree(&self) -> Result<&Path, GitError> {
        self.worktree_root()
            .ok_or_else(|| GitError::NoWorktree(self.git_dir().to_owned()))
    }
}

/// The right to change the worktrees, and a note that somebody does: who finds the note without a holder of the lock knows
/// that a git of ours was killed, and since when.
struct Changing<'a> {
    repository: &'a Repository,
    note: PathBuf,
    _lock: Lock,
}

impl<'a> Changing<'a> {
    /// Waits for the lock, and puts right what a killed one left.
    fn begin(repository: &'a Repository) -> Result<Self, WorktreeError> {
        let place = repository.own_dir().map_err(WorktreeError::Place)?;
        let lock = Lock::acquire(&place.path().join("worktrees.lock"), "git worktree");
        let changing = Self {
            repository,
            note: place.path().join("worktrees.note"),
            _lock: lock.map_err(WorktreeError::Lock)?,
        };
        if changing.note.exists() {
            changing.unlock()?;
        }
        match std::fs::write(&changing.note, "") {
            Ok(()) => Ok(changing),
            Err(error) => Err(WorktreeError::Note(changing.note, error)),
        }
    }

    /// Git is done; if it did not do what it should, it may have been killed.
    fn end<T, E>(self, done: &Result<T, E>) -> Result<(), WorktreeError> {
        if done.is_err() {
            self.unlock()?;
        }
        let removed = crate::safe_commit::remove_file(&self.note);
        removed.map_err(|error| WorktreeError::Note(self.note, error))
    }

    fn unlock(&self) -> Result<(), WorktreeError> {
        let unlocked = left_lock::unlock_packed_refs(self.repository, &self.note);
        unlocked.map_err(|error| WorktreeError::Note(self.note.clone(), error))
    }
}

fn on_branch(branch: &BranchName) -> String {
    format!("ref: refs/heads/{branch}")
}

/// Where git keeps what belongs to a worktree; its name is that of the tree, which no other one of ours has.
fn admin_dir(repository: &Repository, path: &Path) -> Option<PathBuf> {
    let name = path.file_name()?;
    Some(repository.common_dir().join("worktrees").join(name))
}

fn remove_leftover(path: &Path) -> Result<(), WorktreeError> {
    match std::fs::remove_dir_all(path) {
        Ok(()) => Ok(()),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(()),
        Err(error) => Err(WorktreeError::Leftover(path.to_owned(), error)),
    }
}

/// Records of lines that end in NUL; an empty line ends a record.
fn parse(listing: &[u8]) -> Option<Vec<Worktree>> {
    let lines: Vec<&[u8]> = listing.split(|&byte| byte == 0).collect();
    lines
        .split(|line| line.is_empty())
        .filter(|record| !record.is_empty())
        .map(worktree)
        .collect()
}

fn worktree(record: &[&[u8]]) -> Option<Worktree> {
    let value = |key: &str| {
        record
            .iter()
            .find_map(|line| line.strip_prefix(key.as_bytes()))
    };
    let path = Path::new(std::ffi::OsStr::from_bytes(value("worktree ")?)).to_owned();
    let checkout = if record.contains(&b"bare".as_slice()) {
        Checkout::Bare
    } else {
        let commit = crate::git::commit_id(value("HEAD ")?)?;
        match value("branch ") {
            Some(name) => Checkout::Branch {
                full_name: String::from_utf8(name.to_owned()).ok()?,
                commit,
            },
            None => Checkout::Detached(commit),
        }
    };
    Some(Worktree { path, checkout })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn records_with_unknown_lines_are_read() {
        let id = "a".repeat(40);
        let listing = format!(
            "worktree /a b\0bare\0\0worktree /c\nd\0HEAD {id}\0branch refs/heads/m\0locked why\0\0\
             worktree /e\0HEAD {id}\0detached\0prunable gone\0\0"
        );
        let commit: CommitId = id.parse().unwrap();
        let full_name = "refs/heads/m".to_owned();
        let expected = [
            ("/a b", Checkout::Bare),
            (
                "/c\nd",
                Checkout::Branch {
                    full_name,
                    commit: commit.clone(),
                },
            ),
            ("/e", Checkout::Detached(commit)),
        ]
        .map(|(path, checkout)| Worktree {
            path: path.into(),
            checkout,
        });
        assert_eq!(parse(listing.as_bytes()).unwrap(), expected);
        assert_eq!(parse(b"HEAD x\0\0"), None);
    }
}
