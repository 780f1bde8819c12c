//! A call of git: being built, then running.

use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};

use handoff_core::CommitId;
use handoff_process::{Child, Exit, Output, Program, Sandbox, Stdin, output, start};

use super::{ANSWER, COMPLAINT, GitError, TIMEOUT, commit_id, complaint};
use crate::index::PrivateIndex;

/// A call that is being built. After the command's own options come `--end-of-options` or `--`
/// and then only values of types that cannot be options.
#[derive(Debug)]
pub(crate) struct Call {
    name: &'static str,
    dir: PathBuf,
    program: Program,
}

impl Call {
    pub(super) fn new(
        name: &'static str,
        dir: &Path,
        environment: BTreeMap<OsString, OsString>,
        settings: &[&str],
    ) -> Self {
        let mut program = Program::new("git", "/");
        program.environment = environment;
        program.stdout = ANSWER;
        program.stderr = COMPLAINT;
        program.arguments = ["--no-pager".into(), "-C".into(), dir.into()].to_vec();
        let call = Self {
            name,
            dir: dir.to_owned(),
            program,
        };
        settings
            .iter()
            .fold(call, |call, setting| call.setting(setting))
            .arguments([name])
    }

    /// In a git directory that is not the one of the tree.
    pub(crate) fn git_dir(self, git_dir: &Path, root: &Path) -> Self {
        self.variable("GIT_DIR", git_dir)
            .variable("GIT_WORK_TREE", root)
    }

    /// With the hooks of this directory, whatever the configuration says. Must come before the
    /// command's own arguments, which is where settings go.
    pub(crate) fn hooks_path(self, directory: &Path) -> Self {
        let mut setting = OsString::from("core.hooksPath=");
        setting.push(directory);
        self.also_set(setting)
    }

    /// Does not wait for the disk: whoever calls this syncs what it made, all at once, before anything names it.
    pub(crate) fn unsynced(self) -> Self {
        self.also_set("core.fsync=none".into())
    }

    /// In the name of a user whom the configuration names, or not at all.
    pub(crate) fn named_user(self) -> Self {
        self.also_set("user.useConfigOnly=true".into())
    }

    fn also_set(mut self, setting: OsString) -> Self {
        // Before the name of the command, which is the last argument so far.
        let name = self.program.arguments.pop();
        self.arguments([OsString::from("-c"), setting])
            .arguments(name)
    }

    pub(crate) fn arguments<A: AsRef<OsStr>>(
        mut self,
        arguments: impl IntoIterator<Item = A>,
    ) -> Self {
        self.program = self.program.with_arguments(arguments);
        self
    }

    pub(crate) fn input(mut self, bytes: Vec<u8>) -> Self {
        self.program.stdin = Stdin::Bytes(bytes);
        self
    }

    /// Works on a private index instead of the worktree's own.
    pub(crate) fn index(self, index: &PrivateIndex) -> Self {
        self.variable("GIT_INDEX_FILE", index.path())
    }

    /// Held to what this sandbox lets it change, with everything that it runs.
    pub(crate) fn sandbox(mut self, sandbox: Sandbox) -> Self {
        self.program.sandbox = Some(sandbox);
        self
    }

    pub(crate) fn variable(mut self, name: &str, value: impl Into<OsString>) -> Self {
        self.program.environment.insert(name.into(), value.into());
        self
    }

    fn setting(self, setting: &str) -> Self {
        self.arguments(["-c", setting])
    }

    /// Runs it and returns what it printed.
    pub(crate) fn run(self) -> Result<Vec<u8>, GitError> {
        self.begin()?.finish()
    }

    /// The same for a question: exit code 1 means no.
    pub(crate) fn ask(self) -> Result<Option<Vec<u8>>, GitError> {
        match self.answer()? {
            Ok(answer) => Ok(Some(answer)),
            Err(failure) if failure.exit() == Some(Exit::Code(1)) => Ok(None),
            Err(failure) => Err(*failure),
        }
    }

    /// The same for a call that prints the id of a commit.
    pub(crate) fn run_for_commit(self) -> Result<CommitId, GitError> {
        let unknown = self.unknown_answer();
        commit_id(&self.run()?).ok_or(unknown)
    }

    pub(crate) fn unknown_answer(&self) -> GitError {
        GitError::Answer {
            call: self.name,
            dir: self.dir.clone(),
        }
    }

    /// Runs it, and returns how it ended and all that it said: what hooks say is part of the answer.
    pub(crate) fn run_aloud(self) -> Result<(Exit, Vec<u8>), GitError> {
        self.begin()?.finish_aloud()
    }

    /// Runs it, and returns how it ended and what it printed: exit code 1 is an answer too.
    pub(crate) fn run_judged(self) -> Result<(Exit, Vec<u8>), GitError> {
        let Self {
            name: call,
            dir,
            program,
        } = self;
        let source = |source| GitError::Run {
            call,
            dir: dir.clone(),
            source,
        };
        let output = output(&program, Some(TIMEOUT)).map_err(source)?;
        if matches!(output.exit, Exit::Code(0 | 1)) {
            return Ok((output.exit, output.stdout.into()));
        }
        Err(GitError::Failed {
            call,
            dir,
            exit: output.exit,
            complaint: complaint(&Vec::from(output.stderr)),
        })
    }

    fn answer(self) -> Result<Result<Vec<u8>, Box<GitError>>, GitError> {
        self.begin()?.answer()
    }

    /// Starts it, for whoever has something else to do meanwhile.
    pub(crate) fn begin(self) -> Result<Begun, GitError> {
        let Self {
            name: call,
            dir,
            program,
        } = self;
        match start(&program) {
            Ok(child) => Ok(Begun { call, dir, child }),
            Err(error) => Err(GitError::Run {
                call,
                dir,
                source: error.into(),
            }),
        }
    }
}

/// A call that is running. Nobody reads what it prints until it is asked for its answer; it can print a pipe's worth
/// meanwhile.
#[derive(Debug)]
pub(crate) struct Begun {
    call: &'static str,
    dir: PathBuf,
    child: Child,
}

impl Begun {
    /// Waits for its end and returns what it printed.
    pub(crate) fn finish(self) -> Result<Vec<u8>, GitError> {
        self.answer()
            .and_then(|answer| answer.map_err(|failure| *failure))
    }

    /// The same, and returns how it ended and all that it said.
    pub(crate) fn finish_aloud(self) -> Result<(Exit, Vec<u8>), GitError> {
        let (output, ..) = self.end()?;
        let said = [Vec::from(output.stdout), output.stderr.into()].concat();
        Ok((output.exit, said))
    }

    fn answer(self) -> Result<Result<Vec<u8>, Box<GitError>>, GitError> {
        let (output, call, dir) = self.end()?;
        if output.exit.is_success() {
            return Ok(Ok(output.stdout.into()));
        }
        let complaint = complaint(&Vec::from(output.stderr));
        Ok(Err(Box::new(GitError::Failed {
            call,
            dir,
            exit: output.exit,
            complaint,
        })))
    }

    /// Waits for its end, and returns what it was besides.
    fn end(self) -> Result<(Output, &'static str, PathBuf), GitError> {
        let Self { call, dir, child } = self;
        match child.output(Some(TIMEOUT)) {
            Ok(output) => Ok((output, call, dir)),
            Err(error) => Err(GitError::Run {
                call,
                dir,
                source: error.into(),
            }),
        }
    }
}
