//! How playing a script ends.

use std::fmt;
use std::io;
use std::path::PathBuf;
use std::process::ExitStatus;

use handoff_agents::scripted::{InnerPath, Period, Signal, Step, StepName};

/// How a script ended. A script that dies by a signal or hangs has no outcome.
#[derive(Debug)]
pub enum Outcome {
    /// All steps were played.
    Finished,
    /// `exit` ended it, or Ctrl-C where the agent reads keys.
    Exited(u8),
    Failed(StepFailure),
}

/// A step that could not be played.
#[derive(Debug)]
pub struct StepFailure {
    pub step: StepName,
    pub line: usize,
    /// The key of the step's action.
    pub action: &'static str,
    pub failure: Failure,
}

#[derive(Debug, thiserror::Error)]
pub enum Failure {
    #[error("the prompt ({length} bytes from {origin}) does not contain `{part}`")]
    PromptLacks {
        part: String,
        length: usize,
        origin: String,
    },
    #[error("cannot read the prompt from {origin}")]
    Prompt { origin: String, source: io::Error },
    #[error("waited {after} for {awaited} in vain")]
    TimedOut { awaited: String, after: Period },
    #[error("the input ended while waiting for {awaited}")]
    InputEnded { awaited: String },
    #[error("cannot read the input")]
    Input(#[source] io::Error),
    #[error("cannot set the mode of the terminal")]
    TerminalMode(#[source] io::Error),
    /// Nobody reads what the agent shows; it ends without a word about it.
    #[error("the output is closed")]
    OutputClosed,
    #[error("cannot write the output")]
    Output(#[source] io::Error),
    #[error("cannot write the file `{path}`")]
    WriteFile { path: InnerPath, source: io::Error },
    #[error("cannot delete the file `{path}`")]
    DeleteFile { path: InnerPath, source: io::Error },
    #[error("cannot look for the file `{}`", path.display())]
    LookForFile { path: PathBuf, source: io::Error },
    #[error("cannot start `{program}`")]
    StartCommand { program: String, source: io::Error },
    #[error("`{command}` failed with {status}")]
    CommandFailed { command: String, status: ExitStatus },
    #[error("cannot leave a process behind")]
    Spawn(#[source] io::Error),
    #[error("cannot ignore {signal}")]
    Ignore { signal: Signal, source: io::Error },
    #[error("cannot die by {signal}")]
    Die { signal: Signal, source: io::Error },
}

/// Why no further step is played.
#[derive(Debug)]
pub(crate) enum Stop {
    Exit(u8),
    Failure(Failure),
}

impl From<Failure> for Stop {
    fn from(failure: Failure) -> Self {
        Self::Failure(failure)
    }
}

impl Outcome {
    /// The exit code of a process that ends like this; the table is at [`run`](crate::run).
    pub fn exit_code(&self) -> u8 {
        match self {
            Self::Finished => 0,
            Self::Exited(code) => *code,
            Self::Failed(failure) => failure.failure.exit_code(),
        }
    }
}

impl Failure {
    fn exit_code(&self) -> u8 {
        match self {
            Self::PromptLacks { .. } => 3,
            Self::TimedOut { .. } | Self::InputEnded { .. } => 4,
            Self::Prompt { .. }
            | Self::Input(_)
            | Self::TerminalMode(_)
            | Self::OutputClosed
            | Self::Output(_)
            | Self::WriteFile { .. }
            | Self::DeleteFile { .. }
            | Self::LookForFile { .. }
            | Self::StartCommand { .. }
            | Self::CommandFailed { .. }
            | Self::Spawn(_)
            | Self::Ignore { .. }
            | Self::Die { .. } => 1,
        }
    }
}

impl StepFailure {
    pub(crate) fn new(step: &Step, failure: Failure) -> Self {
        Self {
            step: step.name.clone(),
            line: step.line,
            action: step.action.key(),
            failure,
        }
    }
}

impl fmt::Display for StepFailure {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self {
            step,
            line,
            action,
            failure,
        } = self;
        write!(formatter, "{step} (`{action}`, line {line}): {failure}")
    }
}

impl std::error::Error for StepFailure {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        self.failure.source()
    }
}
