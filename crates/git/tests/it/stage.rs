//! A repository, and our git to be tried on it.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};

use handoff_core::ownership::RepoPath;
use handoff_core::{CommitId, Timestamp};
use handoff_git::{
    CommitLock, CommitRequest, Git, Made, Repository, SafeCommitError, TreePath, Version,
};
use handoff_testkit::{GitRepo, TestEnv};

pub(crate) struct Stage {
    pub(crate) env: TestEnv,
    pub(crate) repo: GitRepo,
    pub(crate) git: Git,
}

impl Stage {
    pub(crate) fn new() -> Self {
        let env = TestEnv::without_binary();
        let (repo, git) = (env.repo("repo"), git_of(&env));
        Self { env, repo, git }
    }

    pub(crate) fn here(&self) -> Repository {
        Repository::discover(self.repo.path()).unwrap()
    }

    pub(crate) fn head(&self) -> CommitId {
        self.repo.head().parse().unwrap()
    }

    /// A linked worktree at HEAD, on the branch `handoff/work`.
    pub(crate) fn linked(&self) -> Repository {
        let branch = "handoff/work".parse().unwrap();
        let path = self.env.root().join("linked");
        self.git
            .add_worktree(&self.here(), &path, &branch, &self.head())
            .unwrap()
    }

    /// Commits these paths as `safe-commit` does, in the tree at `root`.
    pub(crate) fn safe_commit_in(
        &self,
        root: &Path,
        paths: &[&[u8]],
        version: Version,
    ) -> Result<Made, SafeCommitError> {
        let at = Repository::open(root).unwrap();
        let lock = CommitLock::take(&at, "test", Timestamp::UNIX_EPOCH).unwrap();
        self.git.repair_commits(&lock, &at).unwrap();
        let paths: Vec<_> = paths.iter().map(|path| located(root, path)).collect();
        let request = CommitRequest {
            paths: &paths,
            message: "message",
            version,
            peers: Some(&[]),
            at: Timestamp::UNIX_EPOCH,
        };
        let landed = self.git.prepare(&lock, &at, &request, None)?.land()?;
        drop(lock);
        let (made, synced) = landed.settle();
        synced.unwrap();
        self.git.run_post_commit(&at, &made);
        Ok(made)
    }

    /// The same in the main tree, where no path has two versions.
    pub(crate) fn safe_commit(&self, paths: &[&str]) -> Result<Made, SafeCommitError> {
        let paths: Vec<_> = paths.iter().map(|path| path.as_bytes()).collect();
        self.safe_commit_in(self.repo.path(), &paths, Version::Only)
    }

    /// A hook of the repository.
    pub(crate) fn hook(&self, name: &str, body: &str) -> PathBuf {
        let path = self.repo.path().join(".git/hooks").join(name);
        write_script(&path, body);
        path
    }

    /// That nothing of ours is left behind: no booth, no lock.
    #[track_caller]
    pub(crate) fn assert_clean(&self) {
        let git_dir = self.repo.path().join(".git");
        let booths = git_dir.join("handoff/commits");
        let left = fs::read_dir(booths).map_or(0, Iterator::count);
        assert_eq!(left, 0, "a booth is left");
        let locks = locks_in(&git_dir);
        assert_eq!(locks, Vec::<PathBuf>::new());
        self.repo.fsck();
    }

    /// An executable script outside of the repository.
    pub(crate) fn script(&self, name: &str, body: &str) -> PathBuf {
        let path = self.env.work().join(name);
        write_script(&path, body);
        path
    }
}

pub(crate) fn git_of(env: &TestEnv) -> Git {
    let command = env.command("git");
    let variables = command
        .get_envs()
        .filter_map(|(name, value)| Some((name, value?)));
    Git::new(variables.map(|(name, value)| (name.to_owned(), value.to_owned())))
}

pub(crate) fn write_script(path: &Path, body: &str) {
    fs::write(path, format!("#!/bin/sh\n{body}\n")).unwrap();
    fs::set_permissions(path, fs::Permissions::from_mode(0o755)).unwrap();
}

pub(crate) fn paths<const N: usize>(texts: [&str; N]) -> [RepoPath; N] {
    texts.map(|text| text.parse().unwrap())
}

fn located(root: &Path, path: &[u8]) -> TreePath {
    use std::os::unix::ffi::OsStrExt as _;
    TreePath::locate(root, root, std::ffi::OsStr::from_bytes(path)).unwrap()
}

/// Git's own locks; ours are never removed.
fn locks_in(directory: &Path) -> Vec<PathBuf> {
    let mut found = vec![];
    for entry in fs::read_dir(directory).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() && !path.ends_with("handoff") {
            found.extend(locks_in(&path));
        } else if path.extension().is_some_and(|it| it == "lock") {
            found.push(path);
        }
    }
    found
}
