//! A repository, the program to be tried in it, and what to wait with.

use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::fs;
use std::io::{BufRead as _, BufReader};
use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::time::Duration;

use handoff_files::Lock;
use handoff_testkit::{GitRepo, Output, TestEnv};
use serde_json::Value;

/// Longer than anything takes on a machine that has ten times as much to do as it can; reaching it means that it never happens.
pub(crate) const PATIENCE: Duration = Duration::from_secs(25);

/// A repository without a project, and an empty state directory.
pub(crate) struct Stage {
    pub(crate) env: TestEnv,
    pub(crate) repo: GitRepo,
}

impl Stage {
    pub(crate) fn new() -> Self {
        let env = TestEnv::new(env!("CARGO_BIN_EXE_handoff"));
        let repo = env.repo("repo");
        Self { env, repo }
    }

    /// Runs the program in the repository.
    #[track_caller]
    pub(crate) fn run<A: AsRef<OsStr>>(&self, args: impl IntoIterator<Item = A>) -> Output {
        self.env.handoff_in(self.repo.path(), args)
    }

    /// The same in words, as one writes them in a shell without quotes.
    #[track_caller]
    pub(crate) fn say(&self, words: &str) -> Output {
        self.run(words.split(' '))
    }

    /// The document of a command that must succeed.
    #[track_caller]
    pub(crate) fn json(&self, words: &str) -> Value {
        let words = words.split(' ').chain(["--json"]);
        self.run(words).success().json()
    }

    /// Puts a task into the queue that says the same as its name.
    #[track_caller]
    pub(crate) fn add(&self, name: &str) {
        self.run(["queue", "add", name, "--brief", &format!("Do {name}.")])
            .success();
    }

    /// Makes a feature with these steps and makes it the current one.
    #[track_caller]
    pub(crate) fn feature(&self, name: &str, steps: &str) {
        self.run(["init", name, "--force"]).success();
        let plan = format!("# Current Step\n\nNone.\n\n# Execution Plan\n\n{steps}");
        self.repo
            .write(format!(".handoff/features/{name}/STATE.md"), plan);
    }

    /// Writes the user's configuration.
    pub(crate) fn configure(&self, text: &str) {
        let directory = self.env.config_home().join("handoff");
        fs::create_dir_all(&directory).unwrap();
        fs::write(directory.join("config.toml"), text).unwrap();
    }

    /// Lets what is in a sandbox write into the directory of the test, besides its tree: the test sees what it does there.
    pub(crate) fn declare_scratch(&self) {
        let place = self.env.work();
        let text = format!("[sandbox]\nwrite = [\"{}/\"]\n", place.display());
        self.configure(&text);
    }

    /// Names the checks of the repository, and trusts them.
    #[track_caller]
    pub(crate) fn checks(&self, checks: &str) {
        self.repo
            .write(".handoff/config.toml", format!("[checks]\n{checks}"));
        let digest = self.json("trust --show")["digest"].clone();
        let digest = digest.as_str().unwrap();
        self.run(["trust", "--digest", digest]).success();
    }

    /// Claims a named task and returns the fence.
    #[track_caller]
    pub(crate) fn claim(&self, name: &str) -> String {
        let claim = self.json(&format!("queue claim {name}"));
        claim["task"]["lease"]["fence"].to_string()
    }

    /// What a task is now.
    #[track_caller]
    pub(crate) fn state(&self, name: &str) -> String {
        let task = self.json(&format!("queue show {name}"));
        task["state"].as_str().unwrap().to_owned()
    }

    /// The program, ready to be started in the repository.
    pub(crate) fn command<A: AsRef<OsStr>>(&self, args: impl IntoIterator<Item = A>) -> Command {
        let mut command = self.env.command(self.env.binary());
        command.current_dir(self.repo.path()).args(args);
        command
    }

    /// The program in the background.
    pub(crate) fn start<A: AsRef<OsStr>>(&self, args: impl IntoIterator<Item = A>) -> Background {
        Background::start(self.command(args))
    }

    /// Waits until nobody holds this lock of any session.
    pub(crate) fn until_free(&self, lock: &str) {
        for session in fs::read_dir(self.env.handoff_home().join("sessions")).unwrap() {
            let lock = session.unwrap().path().join(lock);
            Lock::acquire(&lock, "test").unwrap().release();
        }
    }

    /// A git that does something else. Without the file that is returned there is only the usual one.
    pub(crate) fn git_that(&mut self, does: &str) -> PathBuf {
        let bin = self.env.work().join("deadly");
        fs::create_dir_all(&bin).unwrap();
        let program = bin.join("git");
        fs::write(&program, format!("#!/bin/sh\n{does}\n")).unwrap();
        fs::set_permissions(&program, fs::Permissions::from_mode(0o755)).unwrap();
        let places = [
            bin.as_path(),
            "/usr/local/bin".as_ref(),
            "/usr/bin".as_ref(),
        ];
        self.env.set("PATH", std::env::join_paths(places).unwrap());
        program
    }

    pub(crate) fn script(&self, name: &str, text: &str) -> PathBuf {
        let path = self.env.work().join(name);
        fs::write(&path, text).unwrap();
        path
    }
}

/// A program that runs while the test goes on. Dropping it kills it.
pub(crate) struct Background {
    child: Child,
    lines: Receiver<String>,
}

impl Background {
    pub(crate) fn start(mut command: Command) -> Self {
        command.stdin(Stdio::null()).stdout(Stdio::piped());
        let mut child = command.spawn().unwrap();
        let stdout = BufReader::new(child.stdout.take().unwrap());
        let (sender, lines) = channel();
        std::thread::spawn(move || {
            for line in stdout.lines() {
                let Ok(line) = line else { break };
                if sender.send(line).is_err() {
                    break;
                }
            }
        });
        Self { child, lines }
    }

    /// The next line that it prints.
    #[track_caller]
    pub(crate) fn line(&self) -> String {
        match self.lines.recv_timeout(PATIENCE) {
            Ok(line) => line,
            Err(error) => panic!("no line came: {error}"),
        }
    }

    /// The next line, if one comes within this time.
    pub(crate) fn try_line(&self, patience: Duration) -> Option<String> {
        self.lines.recv_timeout(patience).ok()
    }

    /// Ends it as `kill -9` does.
    pub(crate) fn kill(&mut self) {
        self.child.kill().unwrap();
        self.child.wait().unwrap();
    }

    pub(crate) fn is_running(&mut self) -> bool {
        self.child.try_wait().unwrap().is_none()
    }

    /// Waits for its own end.
    #[track_caller]
    pub(crate) fn code(&mut self) -> Option<i32> {
        while self.lines.recv_timeout(PATIENCE).is_ok() {}
        self.child.wait().unwrap().code()
    }
}

impl Drop for Background {
    fn drop(&mut self) {
        // It may have ended by itself.
        self.child.kill().ok();
        self.child.wait().ok();
    }
}

/// Everything below a directory: mode, owner and content of each file and directory.
pub(crate) fn tree(root: &Path) -> BTreeMap<PathBuf, (u32, u32, Vec<u8>)> {
    let mut found = BTreeMap::new();
    let mut left = vec![root.to_owned()];
    while let Some(path) = left.pop() {
        let Ok(metadata) = path.symlink_metadata() else {
            continue;
        };
        let mut content = vec![];
        if metadata.is_dir() {
            left.extend(fs::read_dir(&path).unwrap().map(|it| it.unwrap().path()));
        } else if metadata.is_file() {
            content = fs::read(&path).unwrap();
        }
        found.insert(path, (metadata.mode(), metadata.uid(), content));
    }
    found
}
