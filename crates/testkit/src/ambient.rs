//! The kit's only door to what is ambient: the environment of the test run, and programs.

#![expect(
    clippy::disallowed_methods,
    reason = "fixtures start real programs, and a test run talks to its tests through variables"
)]

use std::ffi::{OsStr, OsString};
use std::hash::{BuildHasher, RandomState};
use std::io;
use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant, SystemTime};

use handoff_core::Timestamp;

pub(crate) fn program(name: impl AsRef<OsStr>) -> Command {
    Command::new(name)
}

pub(crate) fn variable(name: &str) -> Option<OsString> {
    std::env::var_os(name).filter(|value| !value.is_empty())
}

/// Looks where a shell would, and in the directories of administration that a user's PATH lacks.
pub(crate) fn find_program(name: &str) -> Option<PathBuf> {
    let path = variable("PATH").unwrap_or_default();
    std::env::split_paths(&path)
        .chain(["/usr/sbin", "/sbin"].map(PathBuf::from))
        .map(|directory| directory.join(name))
        .find(|candidate| candidate.is_file())
}

pub(crate) fn is_root() -> bool {
    rustix::process::geteuid().is_root()
}

/// What time it is, for logs that are compared with those of others.
pub(crate) fn now() -> Timestamp {
    Timestamp::try_from(SystemTime::now()).expect("the year has at most four digits")
}

/// Waits until something is so of which nobody tells, and says whether it came to be.
pub(crate) fn wait_until(patience: Duration, is_so: impl Fn() -> bool) -> bool {
    let deadline = Instant::now() + patience;
    while !is_so() {
        if Instant::now() > deadline {
            return false;
        }
        std::thread::sleep(Duration::from_millis(2));
    }
    true
}

/// Random enough for names that must not collide between tests that run at the same time.
pub(crate) fn random_number() -> u64 {
    RandomState::new().hash_one(std::process::id())
}

/// Runs to the end without input; anything but success is an error that carries the output.
pub(crate) fn run(command: &mut Command) -> io::Result<String> {
    let output = command.stdin(Stdio::null()).output().map_err(|error| {
        io::Error::new(error.kind(), format!("cannot start {command:?}: {error}"))
    })?;
    let stdout = String::from_utf8_lossy(&output.stdout).into_owned();
    if output.status.success() {
        return Ok(stdout);
    }
    let stderr = String::from_utf8_lossy(&output.stderr);
    Err(io::Error::other(format!(
        "{command:?} ended with {}\n{stdout}{stderr}",
        output.status
    )))
}

/// Prints what a fixture cannot return, as its caller is being dropped or is about to be skipped.
#[expect(
    clippy::print_stderr,
    reason = "the test harness captures it and shows it with the test"
)]
pub(crate) fn say(message: &str) {
    eprintln!("{message}");
}
