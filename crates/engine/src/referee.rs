//! The referee: runs what proves the work, itself, and records what it saw. What an agent says about
//! its work counts for nothing here.

use std::path::Path;
use std::time::Duration;

use handoff_core::Task;
use handoff_core::task::{Evidence, VerifyCommand};
use handoff_process::{Exit, Program};

use crate::error::EngineError;
use crate::workshop::Workshop;

/// A check that takes longer hangs.
const LIMIT: Duration = Duration::from_secs(3600);

/// What the referee saw.
pub(crate) struct Verdict {
    pub(crate) evidence: Evidence,
    /// Why the work is not accepted, if it is not.
    pub(crate) objection: Option<String>,
}

/// Runs the command of a task in its worktree.
///
/// The command came with the task, from whoever added it; nothing that lies in the repository is run
/// by itself.
pub(crate) fn verify(
    workshop: &mut Workshop<'_>,
    task: &Task,
    command: &VerifyCommand,
    worktree: &Path,
) -> Result<Verdict, EngineError> {
    let program = Program {
        environment: workshop.environment.clone(),
        ..Program::new("/bin/sh", worktree).with_arguments(["-c", command.as_str()])
    };
    let mut child = handoff_process::start(&program)?;
    let exit = workshop.wait(&mut child, task, Some(LIMIT))?;
    let objection = match exit {
        Exit::Code(0) => None,
        Exit::Code(code) => Some(format!("`{command}` exited with {code}{}", tail(&child))),
        Exit::Signal(signal) => Some(format!("`{command}` was ended by signal {signal}")),
        Exit::TimedOut => Some(format!(
            "`{command}` took over {} minutes",
            LIMIT.as_secs() / 60
        )),
    };
    let exit_code = match exit {
        Exit::Code(code) => Some(code),
        Exit::Signal(_) | Exit::TimedOut => None,
    };
    Ok(Verdict {
        evidence: Evidence::Verified {
            command: command.clone(),
            exit_code,
        },
        objection,
    })
}

/// The last line that a program printed, where it said what is wrong.
pub(crate) fn tail(child: &handoff_process::Child) -> String {
    let text = |captured: &handoff_process::Captured| {
        let text = String::from_utf8_lossy(&captured.to_bytes())
            .trim_end()
            .to_owned();
        text.lines().last().map(str::to_owned)
    };
    let last = text(child.stderr()).or_else(|| text(child.stdout()));
    last.map_or_else(String::new, |line| format!(": {line}"))
}
