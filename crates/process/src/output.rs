//! Running a program to its end.

use std::time::Duration;

use crate::capture::Captured;
use crate::child::{Child, WaitError};
use crate::exit::Exit;
use crate::launch::{StartError, start};
use crate::program::Program;

/// How a program ended and what it printed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Output {
    /// How it ended; on [`Exit::TimedOut`] we ended it.
    pub exit: Exit,
    /// What is kept of its standard output.
    pub stdout: Captured,
    /// What is kept of its standard error.
    pub stderr: Captured,
}

/// A program could not be run to its end.
#[derive(Debug, thiserror::Error)]
pub enum RunError {
    /// It did not start.
    #[error("the program did not start")]
    Start(#[from] StartError),
    /// It started and was ended, or its end is unknown.
    #[error("the program did not come to its end")]
    Wait(#[from] WaitError),
}

/// Runs a program to its end, or ends it after `timeout` of waking time.
pub fn output(program: &Program, timeout: Option<Duration>) -> Result<Output, RunError> {
    Ok(start(program)?.output(timeout)?)
}

impl Child {
    /// Waits for its end, or ends it after `timeout` of waking time, and says what it printed.
    pub fn output(mut self, timeout: Option<Duration>) -> Result<Output, WaitError> {
        let exit = self.wait(timeout)?;
        if exit == Exit::TimedOut {
            self.end()?;
        }
        Ok(Output {
            exit,
            stdout: self.stdout().clone(),
            stderr: self.stderr().clone(),
        })
    }
}
