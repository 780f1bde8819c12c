//! Running a check: a command whose success proves something about the code, with what was seen.
//!
//! A check proves something of the code it ran on. The tree is looked at before and after: if it changed meanwhile,
//! by the check itself or by somebody else, the run is told but proves nothing.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::path::Path;
use std::time::Duration;

use handoff_core::feature::{CheckName, CheckOutcome, CheckRun, OutputTail};
use handoff_core::task::VerifyCommand;
use handoff_core::time::Clock;
use handoff_git::{Git, Repository};
use handoff_process::{Child, Exit, Program};

use crate::error::EngineError;

/// A check that takes longer hangs.
pub const LIMIT: Duration = Duration::from_secs(3600);

/// What checks are run with.
pub struct Checker<'a> {
    /// The tree they run in.
    pub at: &'a Repository,
    /// How it is looked at.
    pub git: &'a Git,
    /// The clocks.
    pub clock: &'a dyn Clock,
    /// What they see of the environment.
    pub environment: BTreeMap<OsString, OsString>,
    /// How long one may take.
    pub limit: Duration,
}

impl Checker<'_> {
    /// Runs a command at the root of the tree. Whether it may run at all was decided before.
    pub fn run(&self, check: CheckName, command: VerifyCommand) -> Result<CheckRun, EngineError> {
        let before = self.git.status(self.at).map_err(EngineError::Status)?.tree;
        let root = self.at.worktree_root().unwrap_or(Path::new("."));
        let started = self.clock.now().moment.awake;
        let mut child = handoff_process::start(&shell(&command, root, self.environment.clone()))?;
        let exit = child.wait(Some(self.limit))?;
        if exit == Exit::TimedOut {
            child.end()?;
        }
        let took = self.clock.now().moment.awake.since(started);
        let after = self.git.status(self.at).map_err(EngineError::Status)?.tree;
        Ok(CheckRun {
            check,
            command,
            outcome: outcome(exit),
            took,
            output: printed(&child),
            tree: (before == after).then_some(after),
        })
    }
}

/// The program that a command is: run by the shell, both outputs as one.
pub(crate) fn shell(
    command: &VerifyCommand,
    cwd: &Path,
    environment: BTreeMap<OsString, OsString>,
) -> Program {
    let script = format!("exec 2>&1\n{command}");
    Program {
        environment,
        ..Program::new("/bin/sh", cwd).with_arguments(["-c", script.as_str()])
    }
}

/// What the end of a process means for a check.
pub(crate) const fn outcome(exit: Exit) -> CheckOutcome {
    match exit {
        Exit::Code(0) => CheckOutcome::Passed,
        Exit::Code(code) => CheckOutcome::Failed { code },
        Exit::Signal(signal) => CheckOutcome::Killed { signal },
        Exit::TimedOut => CheckOutcome::TimedOut,
    }
}

/// The end of what it printed.
pub(crate) fn printed(child: &Child) -> OutputTail {
    OutputTail::of(&String::from_utf8_lossy(&child.stdout().to_bytes()))
}
