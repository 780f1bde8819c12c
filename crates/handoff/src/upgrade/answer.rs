//! Asking a program what version it is: the smallest proof that it runs here.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::time::Duration;

use handoff_process::{Bound, Exit, Program, RunError};
use serde::Deserialize;

use super::version::Version;

/// More than a version document ever is.
const LONGEST: usize = 64 * 1024;

/// How a program is asked.
#[derive(Debug, Clone)]
pub(crate) struct Question {
    pub(crate) expected: Version,
    pub(crate) environment: BTreeMap<OsString, OsString>,
    pub(crate) timeout: Duration,
}

/// A program did not answer as it should.
#[derive(Debug, thiserror::Error)]
pub(crate) enum AnswerError {
    #[error("`{0}` cannot be run")]
    Run(PathBuf, #[source] RunError),
    #[error("`{0} version --json` does not end in time")]
    Slow(PathBuf),
    #[error("`{program} version --json` ends with {exit}")]
    Ended { program: PathBuf, exit: Exit },
    #[error("`{0} version --json` does not tell its version")]
    NoVersion(PathBuf, #[source] serde_json::Error),
    #[error("`{program}` says that it is version {said:?}, not {expected}")]
    OtherVersion {
        program: PathBuf,
        said: String,
        expected: Version,
    },
}

#[derive(Debug, Deserialize)]
struct Answer {
    version: String,
}

impl Question {
    /// Asks the program at this path.
    pub(crate) fn ask(&self, program: &Path) -> Result<(), AnswerError> {
        let cwd = program.parent().unwrap_or(Path::new("/"));
        let described = Program {
            environment: self.environment.clone(),
            stdout: Bound::Whole(LONGEST),
            ..Program::new(program, cwd).with_arguments(["version", "--json"])
        };
        let program = program.to_owned();
        let output = match handoff_process::output(&described, Some(self.timeout)) {
            Ok(output) => output,
            Err(error) => return Err(AnswerError::Run(program, error)),
        };
        match output.exit {
            Exit::Code(0) => self.compare(program, &output.stdout.to_bytes()),
            Exit::TimedOut => Err(AnswerError::Slow(program)),
            exit @ (Exit::Code(_) | Exit::Signal(_)) => Err(AnswerError::Ended { program, exit }),
        }
    }

    fn compare(&self, program: PathBuf, said: &[u8]) -> Result<(), AnswerError> {
        let said: Answer = match serde_json::from_slice(said) {
            Ok(said) => said,
            Err(error) => return Err(AnswerError::NoVersion(program, error)),
        };
        match said.version.parse::<Version>() {
            Ok(version) if version.precedence(&self.expected).is_eq() => Ok(()),
            Ok(_) | Err(_) => Err(AnswerError::OtherVersion {
                program,
                said: said.version,
                expected: self.expected.clone(),
            }),
        }
    }
}
