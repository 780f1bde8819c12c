//! A real git repository in a test environment.

use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use crate::ambient;
use crate::environment::Variables;

/// A fixed moment for the fixture's own commits, so that their hashes are the same in every run.
const COMMIT_DATE: &str = "2026-01-01T00:00:00Z";

/// A working tree with its repository. Paths are relative to the tree; commits are full hashes.
#[derive(Clone, Debug)]
pub struct GitRepo {
    path: PathBuf,
    variables: Variables,
}

impl GitRepo {
    pub(crate) fn create(path: PathBuf, variables: Variables) -> Self {
        fs::create_dir(&path).expect("no other fixture has this name");
        let repo = Self { path, variables };
        repo.git(["init", "--quiet"]);
        repo.write("README.md", "# Fixture\n");
        repo.commit("first");
        repo
    }

    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Writes a file of the tree and the directories on its way.
    ///
    /// # Panics
    /// When it cannot.
    #[track_caller]
    pub fn write(&self, path: impl AsRef<Path>, content: impl AsRef<[u8]>) -> &Self {
        let path = self.path.join(path);
        if let Some(parent) = path.parent() {
            fs::create_dir_all(parent).expect("the parent can be created");
        }
        fs::write(path, content).expect("the file can be written");
        self
    }

    /// Reads a file of the tree, or nothing when it does not exist.
    #[must_use]
    pub fn read(&self, path: impl AsRef<Path>) -> Option<String> {
        fs::read_to_string(self.path.join(path)).ok()
    }

    /// Commits everything in the tree and returns the new commit.
    #[track_caller]
    pub fn commit(&self, message: &str) -> String {
        self.git(["add", "--all"]);
        self.git(["commit", "--quiet", "--allow-empty", "--message", message]);
        self.head()
    }

    #[track_caller]
    #[must_use]
    pub fn head(&self) -> String {
        self.git(["rev-parse", "HEAD"])
    }

    /// What a name points to, or nothing when it is no name.
    #[must_use]
    pub fn resolve(&self, name: &str) -> Option<String> {
        let mut command = self.command(["rev-parse", "--verify", "--quiet", name]);
        ambient::run(&mut command)
            .ok()
            .map(|hash| hash.trim_end().to_owned())
    }

    /// All references with what they point to.
    #[track_caller]
    #[must_use]
    pub fn refs(&self) -> BTreeMap<String, String> {
        self.git(["for-each-ref", "--format=%(refname) %(objectname)"])
            .lines()
            .filter_map(|line| line.split_once(' '))
            .map(|(name, hash)| (name.to_owned(), hash.to_owned()))
            .collect()
    }

    /// Every path in the tree of a commit, sorted.
    #[track_caller]
    #[must_use]
    pub fn files_of(&self, commit: &str) -> Vec<String> {
        split_zero(&self.git(["ls-tree", "-r", "-z", "--name-only", "--full-tree", commit]))
    }

    /// The paths in which a commit differs from its first parent, sorted.
    #[track_caller]
    #[must_use]
    pub fn changes_of(&self, commit: &str) -> Vec<String> {
        let options = [
            "diff-tree",
            "-r",
            "-z",
            "--root",
            "--no-commit-id",
            "--name-only",
        ];
        split_zero(&self.git(options.into_iter().chain([commit])))
    }

    /// A file as it was committed.
    #[track_caller]
    #[must_use]
    pub fn file_of(&self, commit: &str, path: &str) -> String {
        self.run(self.command(["cat-file", "blob", &format!("{commit}:{path}")]))
    }

    /// What differs between HEAD, index and tree, as `git status --porcelain` has it.
    #[track_caller]
    #[must_use]
    pub fn status(&self) -> Vec<String> {
        let status =
            self.run(self.command(["status", "--porcelain", "-z", "--untracked-files=all"]));
        split_zero(&status)
    }

    /// Checks every object and reference.
    #[track_caller]
    pub fn fsck(&self) {
        self.git(["fsck", "--full", "--strict", "--no-dangling"]);
    }

    /// Runs git in the tree and returns what it printed, without the last line break.
    ///
    /// # Panics
    /// When git fails. To look at a failure, run [`command`](Self::command).
    #[track_caller]
    pub fn git<A: AsRef<OsStr>>(&self, args: impl IntoIterator<Item = A>) -> String {
        let printed = self.run(self.command(args));
        printed
            .strip_suffix('\n')
            .map_or(printed.clone(), str::to_owned)
    }

    /// A git command in the tree, with the environment of the test.
    pub fn command<A: AsRef<OsStr>>(&self, args: impl IntoIterator<Item = A>) -> Command {
        let mut command = ambient::program("git");
        self.variables.apply(&mut command);
        command
            .env("GIT_AUTHOR_DATE", COMMIT_DATE)
            .env("GIT_COMMITTER_DATE", COMMIT_DATE);
        command
            .current_dir(&self.path)
            .stdin(Stdio::null())
            .args(args);
        command
    }

    #[track_caller]
    fn run(&self, mut command: Command) -> String {
        match ambient::run(&mut command) {
            Ok(stdout) => stdout,
            Err(error) => panic!("in {}: {error}", self.path.display()),
        }
    }
}

fn split_zero(text: &str) -> Vec<String> {
    text.split_terminator('\0').map(str::to_owned).collect()
}
