//! Becoming another program: for a door that decides and then steps aside.

use std::os::unix::process::CommandExt as _;
use std::process::Stdio;

use crate::launch::{StartError, bare, stdin};
use crate::program::{Program, Stdin};

/// What the program reads.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Input {
    /// What we would have read.
    Ours,
    /// What its description says.
    Described,
}

/// Becomes `program`, with our standard output and error. Returns only if that cannot be done.
#[must_use]
pub fn replace(program: &Program, input: Input) -> StartError {
    let mut command = match bare(program) {
        Ok(command) => command,
        Err(error) => return error,
    };
    match (input, &program.stdin) {
        (Input::Ours, Stdin::Empty | Stdin::Bytes(_) | Stdin::File(_)) => {
            command.stdin(Stdio::inherit());
        }
        (Input::Described, described) => match stdin(described) {
            Ok(file) => drop(command.stdin(file)),
            Err(error) => return StartError::Input(program.name.clone(), error),
        },
    }
    StartError::of(program, command.exec())
}
