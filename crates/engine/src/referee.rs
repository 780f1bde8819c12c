//! The referee: runs what proves the work, itself, and records what it saw. What an agent says about
//! its work counts for nothing here.

use std::path::Path;

use handoff_core::Task;
use handoff_core::feature::CheckOutcome;
use handoff_core::task::{Evidence, VerifyCommand};

use crate::check::{LIMIT, outcome, printed, shell};
use crate::error::EngineError;
use crate::workshop::Workshop;

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
    let program = shell(command, worktree, workshop.environment.clone());
    let mut child = handoff_process::start(&program)?;
    let outcome = outcome(workshop.wait(&mut child, task, Some(LIMIT))?);
    let exit_code = match outcome {
        CheckOutcome::Passed => Some(0),
        CheckOutcome::Failed { code } => Some(code),
        CheckOutcome::Killed { .. } | CheckOutcome::TimedOut => None,
    };
    let said = || printed(&child).as_str().lines().last().map(str::to_owned);
    Ok(Verdict {
        objection: objection(outcome).map(|what| format!("`{command}` {what}{}", after(said()))),
        evidence: Evidence::Verified {
            command: command.clone(),
            exit_code,
        },
    })
}

/// Why an outcome is not accepted.
pub(crate) fn objection(outcome: CheckOutcome) -> Option<String> {
    match outcome {
        CheckOutcome::Passed => None,
        CheckOutcome::Failed { code } => Some(format!("exited with {code}")),
        CheckOutcome::Killed { signal } => Some(format!("was ended by signal {signal}")),
        CheckOutcome::TimedOut => Some(format!("took over {} minutes", LIMIT.as_secs() / 60)),
    }
}

fn after(line: Option<String>) -> String {
    line.map_or_else(String::new, |line| format!(": {line}"))
}
