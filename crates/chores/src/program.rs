//! The only place of xtask that starts programs and reads what is ambient.

#![expect(
    clippy::disallowed_methods,
    reason = "xtask is a conductor of programs; no product code runs here"
)]

use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitStatus, Stdio};
use std::time::{Duration, Instant};

use anyhow::{Context as _, Result, bail};

use crate::output;

/// The directory of the workspace, in which all programs run.
pub fn workspace_root() -> &'static Path {
    let crates = Path::new(env!("CARGO_MANIFEST_DIR")).parent();
    crates
        .and_then(Path::parent)
        .expect("xtask is in `crates/xtask`")
}

/// A program to run in the workspace, without input.
pub fn program(name: impl AsRef<OsStr>) -> Command {
    let mut command = Command::new(name);
    command.current_dir(workspace_root()).stdin(Stdio::null());
    command
}

/// This very program, by a name that also holds after a build has put another file in its place, for as long as
/// it runs.
pub fn own() -> Result<PathBuf> {
    let running = Path::new("/proc")
        .join(std::process::id().to_string())
        .join("exe");
    running.metadata().context("cannot find this program")?;
    Ok(running)
}

/// The cargo that started us.
pub fn cargo<A: AsRef<OsStr>>(args: impl IntoIterator<Item = A>) -> Command {
    let mut command = program(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    command.args(args);
    command
}

pub fn find_program(name: &str) -> Option<PathBuf> {
    let path = std::env::var_os("PATH").unwrap_or_default();
    std::env::split_paths(&path)
        .chain(["/usr/sbin", "/sbin"].map(PathBuf::from))
        .map(|directory| directory.join(name))
        .find(|candidate| candidate.is_file())
}

/// Shows a command, runs it with its output on the terminal, and fails when it fails.
pub fn run(command: &mut Command) -> Result<()> {
    let status = status(command)?;
    if !status.success() {
        bail!("`{}` ended with {status}", shown(command));
    }
    Ok(())
}

/// The same, when how it ended is for the caller to judge.
pub fn status(command: &mut Command) -> Result<ExitStatus> {
    let line = shown(command);
    output::say(&format!("$ {line}"));
    command
        .status()
        .with_context(|| format!("cannot start `{line}`"))
}

fn shown(command: &Command) -> String {
    let program = Path::new(command.get_program())
        .file_name()
        .unwrap_or(command.get_program());
    let words = std::iter::once(program).chain(command.get_args());
    words
        .map(OsStr::to_string_lossy)
        .collect::<Vec<_>>()
        .join(" ")
}

/// Runs `work` and says how long it took.
pub fn timed<T>(work: impl FnOnce() -> T) -> (T, Duration) {
    let started_at = Instant::now();
    let result = work();
    (result, started_at.elapsed())
}
