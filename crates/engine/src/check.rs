//! Running a check: a command whose success proves something about the code, with what was seen.
//!
//! A check proves something of the code it ran on. The tree is looked at before and after: if it changed meanwhile,
//! by the check itself or by somebody else, the run is told but proves nothing.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::path::Path;

use handoff_core::feature::{CheckName, CheckRun};
use handoff_core::task::VerifyCommand;
use handoff_core::time::Clock;
use handoff_git::{Git, Repository};
use handoff_process::Program;

use crate::enclosure::{CheckPolicy, Contained, without_ours};
use crate::error::EngineError;

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
    /// How they are held. They run in a tree that a person works in, and so are bounded, but not enclosed: git's own directory lies
    /// in that tree, and the kernel cannot leave it out.
    pub policy: CheckPolicy,
}

impl Checker<'_> {
    /// Runs a command at the root of the tree. Whether it may run at all was decided before.
    pub fn run(&self, check: CheckName, command: VerifyCommand) -> Result<CheckRun, EngineError> {
        let before = self.git.status(self.at).map_err(EngineError::Status)?.tree;
        let root = self.at.worktree_root().unwrap_or(Path::new("."));
        let started = self.clock.now().moment.awake;
        let environment = without_ours(self.environment.clone());
        let mut running = self.policy.start(Contained {
            program: shell(&command, root, environment),
            places: None,
            mark: check.as_str(),
        })?;
        let (child, patience) = running.waited_for();
        let exit = child.wait(Some(patience))?;
        let (outcome, output) = (running.outcome(exit)?, running.printed());
        // Nothing of it may change the tree after this.
        drop(running);
        let took = self.clock.now().moment.awake.since(started);
        let after = self.git.status(self.at).map_err(EngineError::Status)?.tree;
        Ok(CheckRun {
            check,
            command,
            outcome,
            took,
            output,
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
