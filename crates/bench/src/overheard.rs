//! The calls of git that a command makes, overheard by a `git` of ours that stands first in its PATH.

use std::ffi::{OsStr, OsString};
use std::fs;
use std::os::unix::ffi::OsStringExt as _;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context as _, Result, bail};

use handoff_chores::program::program;

/// A call of git: its arguments and its variables.
pub(crate) struct Call {
    git: PathBuf,
    arguments: Vec<OsString>,
    variables: Vec<(OsString, OsString)>,
}

impl Call {
    /// The same call, not started yet.
    pub(crate) fn command(&self) -> Command {
        let mut command = program(&self.git);
        command.args(&self.arguments).env_clear();
        command.envs(self.variables.iter().map(|(name, value)| (name, value)));
        command.current_dir("/");
        command
    }

    /// The call as one would type it.
    pub(crate) fn shown(&self) -> String {
        let arguments = self.arguments.iter().map(|it| it.to_string_lossy());
        let words: Vec<_> = std::iter::once("git".into()).chain(arguments).collect();
        words.join(" ")
    }
}

/// Runs a command that calls git exactly once, and returns that call. `scratch` is a directory of ours.
pub(crate) fn only_call(mut command: Command, scratch: &Path) -> Result<Call> {
    let path = variable(&command, "PATH").context("the command has no PATH")?;
    let git = real_git(&path)?;
    let (ear, heard) = (scratch.join("ear"), scratch.join("heard"));
    fs::create_dir_all(&ear)?;
    fs::create_dir_all(&heard)?;
    let script = format!(
        "#!/bin/sh\nprintf '%s\\0' \"$@\" > '{heard}/'$$.arguments\nenv -0 > '{heard}/'$$.variables\nexec '{git}' \"$@\"\n",
        heard = heard.display(),
        git = git.display(),
    );
    fs::write(ear.join("git"), script)?;
    fs::set_permissions(ear.join("git"), fs::Permissions::from_mode(0o755))?;
    let dirs = std::iter::once(ear).chain(std::env::split_paths(&path));
    command.env("PATH", std::env::join_paths(dirs)?);
    command.output()?;
    let read = |extension| only_file(&heard, extension);
    let pair = |line: &OsString| {
        let (name, value) = line.to_str()?.split_once('=')?;
        Some((name.into(), value.into()))
    };
    let told = read("variables")?;
    let variables = told.iter().filter_map(pair);
    let variables = variables.filter(|(name, _): &(OsString, OsString)| name != "PATH");
    Ok(Call {
        git,
        arguments: read("arguments")?,
        variables: variables.chain([("PATH".into(), path)]).collect(),
    })
}

fn variable(command: &Command, name: &str) -> Option<OsString> {
    let mut set = command
        .get_envs()
        .filter(|(key, _)| *key == OsStr::new(name));
    set.next().and_then(|(_, value)| value).map(OsStr::to_owned)
}

fn real_git(path: &OsStr) -> Result<PathBuf> {
    let mut files = std::env::split_paths(path).map(|dir| dir.join("git"));
    files.find(|file| file.is_file()).context("there is no git")
}

/// What the one file of this kind says, cut at its zeros.
fn only_file(dir: &Path, extension: &str) -> Result<Vec<OsString>> {
    let mut files = vec![];
    for entry in fs::read_dir(dir)? {
        let path = entry?.path();
        if path.extension() == Some(OsStr::new(extension)) {
            files.push(path);
        }
    }
    let [file] = files.as_slice() else {
        bail!("git was called {} times, expected one", files.len());
    };
    let mut pieces: Vec<_> = fs::read(file)?
        .split(|byte| *byte == 0)
        .map(|piece| OsString::from_vec(piece.to_vec()))
        .collect();
    pieces.pop();
    Ok(pieces)
}
