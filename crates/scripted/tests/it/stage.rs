//! A place to play scripts in: a directory of its own, a fixed environment, and streams.

use std::ffi::OsString;
use std::fs::{self, File};
use std::io::{Read, Seek, Write};
use std::os::fd::OwnedFd;
use std::path::{Path, PathBuf};

use handoff_agents::scripted::Script;
use handoff_scripted::{Environment, Outcome, World, play};
use tempfile::{TempDir, tempdir, tempfile};

/// Where the programs of a system are; the developer's own `PATH` stays out of the tests.
pub(crate) const PATH: &str = "/usr/bin:/bin";

pub(crate) struct Stage {
    directory: TempDir,
    scripts: TempDir,
    pub(crate) environment: Environment,
}

/// What playing a script led to.
pub(crate) struct Played {
    outcome: Outcome,
    pub(crate) output: Vec<u8>,
}

impl Stage {
    pub(crate) fn new() -> Self {
        Self {
            directory: tempdir().unwrap(),
            scripts: tempdir().unwrap(),
            environment: [("PATH".into(), PATH.into())].into(),
        }
    }

    pub(crate) fn with_variable(mut self, name: &str, value: impl Into<OsString>) -> Self {
        self.environment.insert(name.into(), value.into());
        self
    }

    pub(crate) fn path(&self) -> &Path {
        self.directory.path()
    }

    pub(crate) fn read(&self, path: &str) -> String {
        fs::read_to_string(self.path().join(path)).unwrap()
    }

    /// Stores a script, not in the directory it will be played in.
    pub(crate) fn script(&self, text: &str) -> PathBuf {
        let path = self.scripts.path().join("script.toml");
        fs::write(&path, text).unwrap();
        path
    }

    /// Plays a script with `input` as its whole input.
    pub(crate) fn play_with(&self, input: &str, script: &str) -> Played {
        let mut stdin = tempfile().unwrap();
        stdin.write_all(input.as_bytes()).unwrap();
        stdin.rewind().unwrap();
        self.play_on(stdin.into(), script)
    }

    pub(crate) fn play(&self, script: &str) -> Played {
        self.play_with("", script)
    }

    pub(crate) fn play_on(&self, stdin: OwnedFd, script: &str) -> Played {
        let mut output = tempfile().unwrap();
        let world = self.world(stdin, output.try_clone().unwrap());
        let outcome = play(&parse(script), world);
        let mut bytes = Vec::new();
        output.rewind().unwrap();
        output.read_to_end(&mut bytes).unwrap();
        Played {
            outcome,
            output: bytes,
        }
    }

    pub(crate) fn world(&self, stdin: OwnedFd, output: File) -> World {
        World {
            environment: self.environment.clone(),
            cwd: self.path().to_owned(),
            stdin,
            stderr: output.try_clone().unwrap().into(),
            stdout: output.into(),
        }
    }
}

pub(crate) fn parse(script: &str) -> Script {
    Script::parse(script).unwrap_or_else(|error| panic!("{error}\n{script}"))
}

impl Played {
    /// Exit code and complaint in one text.
    pub(crate) fn ending(&self) -> String {
        let code = self.outcome.exit_code();
        match &self.outcome {
            Outcome::Finished => "finished".to_owned(),
            Outcome::Exited(_) => format!("exited with {code}"),
            Outcome::Failed(failure) => format!("failed with {code}: {failure}"),
        }
    }

    pub(crate) fn text(&self) -> String {
        String::from_utf8(self.output.clone()).unwrap()
    }
}
