//! A repository, and our git to be tried on it.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};

use handoff_core::CommitId;
use handoff_core::ownership::RepoPath;
use handoff_git::{Git, Repository};
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
