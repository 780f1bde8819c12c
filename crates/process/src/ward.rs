//! Standing behind a program that stands behind others: when it ends, by whatever means, nothing that it started is left.
//!
//! A process that is killed cannot end its own descendants. Its warden can: it is the adopter of all of them, does nothing but
//! wait, and so is hard to get wrong.

use std::fs::File;
use std::io;
use std::process::{Command, Stdio};
use std::time::Duration;

use crate::identity::Identity;
use crate::launch::{StartError, bare};
use crate::program::Program;
use crate::tree;

/// A program could not be warded.
#[derive(Debug, thiserror::Error)]
pub enum WardError {
    /// It did not start.
    #[error(transparent)]
    Start(#[from] StartError),
    /// It could not be waited for, or its descendants not be found.
    #[error("cannot look after the program")]
    Wait(#[source] io::Error),
}

/// Runs a program to its end and then ends what it left behind, but for those that `spared` names at that time. Says what could
/// not be ended. The program gets our standard output, which we let go of.
///
/// For a process that does nothing else: all its descendants count as the program's.
pub fn ward(
    program: &Program,
    spared: impl FnOnce() -> Vec<u32>,
    timeout: Duration,
) -> Result<Vec<Identity>, WardError> {
    tree::adopt().map_err(WardError::Wait)?;
    let failed = |source| StartError::Start {
        name: program.name.clone(),
        cwd: program.cwd.clone(),
        source,
    };
    let mut process = command(program)?.spawn().map_err(failed)?;
    let waited = let_go_of_stdout().and_then(|()| process.wait());
    waited.map_err(WardError::Wait)?;
    tree::end(&spared(), timeout).map_err(WardError::Wait)
}

fn let_go_of_stdout() -> io::Result<()> {
    let nothing = File::options().write(true).open("/dev/null")?;
    Ok(rustix::stdio::dup2_stdout(nothing)?)
}

fn command(program: &Program) -> Result<Command, StartError> {
    let mut command = bare(program)?;
    command
        .stdin(Stdio::null())
        .stdout(Stdio::inherit())
        .stderr(Stdio::null());
    Ok(command)
}
