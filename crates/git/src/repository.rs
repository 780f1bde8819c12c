//! A repository on disk, found without running git: an exec costs more than most commands take.
//!
//! The rules are git's own: up from where we stand, on one file system, `.git` before a bare
//! repository. `GIT_DIR` and its kin are not looked at, and configuration is not read, so a `.git`
//! directory that says `core.bare` counts as having a tree.

use std::io;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};

mod git_dir;

/// A repository, seen from a place in it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Repository {
    git_dir: PathBuf,
    common_dir: PathBuf,
    worktree_root: Option<PathBuf>,
}

/// No repository, or a damaged one.
#[derive(Debug, thiserror::Error)]
pub enum DiscoverError {
    /// The place to look from is not there.
    #[error("cannot look for a repository from `{}`", .0.display())]
    Start(PathBuf, #[source] io::Error),
    /// Neither the place nor a directory above it is in a repository.
    #[error("`{}` is not in a git repository", .0.display())]
    NotFound(PathBuf),
    /// Something of the repository cannot be read.
    #[error("cannot read `{}`", .0.display())]
    Read(PathBuf, #[source] io::Error),
    /// A `.git` file that does not say where the repository is.
    #[error("`{}` should be a line `gitdir: <path>`, and is not", .0.display())]
    MalformedGitFile(PathBuf),
    /// A `.git` file whose repository is gone or damaged.
    #[error("`{}` points to `{}`, which is not a git directory", .file.display(), .target.display())]
    PointsNowhere {
        /// The file.
        file: PathBuf,
        /// What it says.
        target: PathBuf,
    },
}

impl Repository {
    /// The repository that `start` lies in.
    pub fn discover(start: &Path) -> Result<Self, DiscoverError> {
        let at_start = |error| DiscoverError::Start(start.to_owned(), error);
        let start = start.canonicalize().map_err(at_start)?;
        let device = start.metadata().map_err(at_start)?.dev();
        for dir in start.ancestors() {
            if !dir
                .metadata()
                .is_ok_and(|metadata| metadata.dev() == device)
            {
                break;
            }
            if let Some(found) = Self::look_at(dir)? {
                return Ok(found);
            }
        }
        Err(DiscoverError::NotFound(start))
    }

    /// The repository whose tree, or bare directory, is exactly `root`. Unlike
    /// [`Repository::discover`], it never takes the repository around a tree that is gone.
    pub fn open(root: &Path) -> Result<Self, DiscoverError> {
        let at_root = |error| DiscoverError::Start(root.to_owned(), error);
        let root = root.canonicalize().map_err(at_root)?;
        Self::look_at(&root)?.ok_or(DiscoverError::NotFound(root))
    }

    /// The repository that git itself names by `GIT_DIR`, for a program that it runs in `cwd`, which
    /// is the root of the tree if there is one.
    #[must_use]
    pub fn at_git_dir(git_dir: &Path, cwd: &Path) -> Option<Self> {
        let git_dir = cwd.join(git_dir).canonicalize().ok()?;
        let cwd = cwd.canonicalize().ok()?;
        let is_inside = cwd.starts_with(&git_dir);
        let root = Some(cwd.as_path()).filter(|_| !is_inside);
        let is_one = git_dir::is_git_dir(&git_dir).is_ok_and(|is_one| is_one);
        is_one.then(|| Self::assemble(git_dir, root).ok()).flatten()
    }

    /// Whether this is a linked worktree that the repository has on record. A directory that only
    /// says that it belongs to the repository is none.
    #[must_use]
    pub fn is_linked(&self) -> bool {
        self.git_dir.parent() == Some(&self.common_dir.join("worktrees"))
    }

    /// The linked worktree with root `root`, as this repository has it on record. The `.git` in that
    /// tree is not read: whoever works there can write it, and could name a repository of their own,
    /// with programs in its configuration. None if there is no record.
    #[must_use]
    pub fn linked_at(&self, root: &Path) -> Option<Self> {
        let root = root.canonicalize().ok()?;
        let git_dir = git_dir::recorded(&self.common_dir, &root)?;
        Some(Self {
            git_dir,
            common_dir: self.common_dir.clone(),
            worktree_root: Some(root),
        })
    }

    /// Puts a `.git` that says where the record is back into a linked worktree. What was there
    /// instead is kept beside it.
    pub fn relink(&self) -> io::Result<()> {
        let (Some(root), false) = (self.worktree_root(), self.git_dir == self.common_dir) else {
            return Ok(());
        };
        git_dir::relink(root, &self.git_dir)
    }

    /// Whether the `.git` of this tree still names the place that the repository had before it was moved.
    #[must_use]
    pub fn is_left_behind(&self) -> bool {
        let dot_git = self.worktree_root().map(|root| root.join(".git"));
        dot_git.is_some_and(|it| git_dir::is_stale(&it))
    }

    fn look_at(dir: &Path) -> Result<Option<Self>, DiscoverError> {
        if let Some(git_dir) = git_dir::of_tree(dir)? {
            return Self::assemble(git_dir, Some(dir)).map(Some);
        }
        if git_dir::is_git_dir(dir)? {
            return Self::assemble(dir.to_owned(), None).map(Some);
        }
        Ok(None)
    }

    fn assemble(git_dir: PathBuf, root: Option<&Path>) -> Result<Self, DiscoverError> {
        let common_dir = git_dir::common_dir(&git_dir)?;
        Ok(Self {
            git_dir,
            common_dir,
            worktree_root: root.map(Path::to_owned),
        })
    }

    /// What belongs to the worktree we stand in: its HEAD and its index.
    #[must_use]
    pub fn git_dir(&self) -> &Path {
        &self.git_dir
    }

    /// What all worktrees share.
    #[must_use]
    pub fn common_dir(&self) -> &Path {
        &self.common_dir
    }

    /// The tree we stand in; none in a bare repository and inside `.git`.
    #[must_use]
    pub fn worktree_root(&self) -> Option<&Path> {
        self.worktree_root.as_deref()
    }

    /// The tree that the repository was made with; none of a bare repository.
    #[must_use]
    pub fn main_worktree(&self) -> Option<&Path> {
        if self.git_dir == self.common_dir && self.worktree_root.is_some() {
            return self.worktree_root();
        }
        let is_dot_git = self
            .common_dir
            .file_name()
            .is_some_and(|name| name == ".git");
        self.common_dir.parent().filter(|_| is_dot_git)
    }

    /// Where git runs when no tree matters.
    pub(crate) fn any_place(&self) -> &Path {
        self.worktree_root().unwrap_or(&self.common_dir)
    }
}
