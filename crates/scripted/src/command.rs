//! The one place where the agent starts processes.

use std::io;
use std::path::Path;
use std::process::{Command, Stdio};

use crate::outcome::Failure;
use crate::output::Output;
use crate::world::Environment;

/// Where and with what the agent's commands run.
pub(crate) struct Surroundings<'a> {
    pub(crate) environment: &'a Environment,
    pub(crate) cwd: &'a Path,
    pub(crate) stdout: &'a Output,
    pub(crate) stderr: &'a Output,
}

impl Surroundings<'_> {
    /// A command in these surroundings that inherits the agent's error output and nothing else.
    #[expect(
        clippy::disallowed_methods,
        reason = "an agent starts processes of its own, as any third party's does"
    )]
    pub(crate) fn command(&self, program: &str) -> io::Result<Command> {
        let mut command = Command::new(program);
        command
            .env_clear()
            .envs(self.environment)
            .current_dir(self.cwd)
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(self.stderr.share()?);
        Ok(command)
    }

    /// Runs a command to its end, with the agent's output as its own.
    pub(crate) fn run(&self, words: &[String], may_fail: bool) -> Result<(), Failure> {
        let (program, arguments) = words.split_first().expect("a command line is never empty");
        let start = || {
            let mut command = self.command(program)?;
            command.args(arguments).stdout(self.stdout.share()?);
            command.status()
        };
        let status = start().map_err(|source| Failure::StartCommand {
            program: program.clone(),
            source,
        })?;
        if status.success() || may_fail {
            return Ok(());
        }
        let command = words.join(" ");
        Err(Failure::CommandFailed { command, status })
    }
}
