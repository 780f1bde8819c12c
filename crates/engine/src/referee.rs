//! The referee: runs what proves the work, itself, and records what it saw. What an agent says about
//! its work counts for nothing here.

use std::path::Path;

use handoff_core::Task;
use handoff_core::feature::CheckOutcome;
use handoff_core::task::{Evidence, VerifyCommand};

use crate::check_bench::{Bench, Order};
use crate::error::EngineError;
use crate::workshop::Workshop;

/// What the referee saw.
pub(crate) struct Verdict {
    pub(crate) evidence: Evidence,
    /// Why the work is not accepted, if it is not.
    pub(crate) objection: Option<String>,
}

/// Runs the command of a task in its worktree, held as the policy of checks says. What is to be committed was taken from there
/// before: what the command changes is judged by nobody and kept by nobody.
///
/// The command came with the task, from whoever added it; nothing that lies in the repository is run
/// by itself. But what it runs lies there, and the session wrote it.
pub(crate) fn verify(
    workshop: &mut Workshop<'_>,
    task: &Task,
    command: &VerifyCommand,
    worktree: &Path,
) -> Result<Verdict, EngineError> {
    let bench = Bench::of_attempt(workshop, task, worktree.to_owned())?;
    let mut running = bench.start(workshop, task, Order::of(command))?;
    let (child, patience) = running.waited_for();
    let exit = workshop.wait(child, task, Some(patience))?;
    let outcome = running.outcome(exit)?;
    let exit_code = match outcome {
        CheckOutcome::Passed => Some(0),
        CheckOutcome::Failed { code } => Some(code),
        CheckOutcome::Killed { .. } | CheckOutcome::TimedOut | CheckOutcome::OverLimit { .. } => {
            None
        }
    };
    let said = || running.printed().as_str().lines().last().map(str::to_owned);
    Ok(Verdict {
        objection: objection(outcome).map(|what| format!("`{command}` {what}{}", after(said()))),
        evidence: Evidence::Verified {
            command: command.clone(),
            exit_code,
            limit: outcome.limit(),
        },
    })
}

/// Why an outcome is not accepted.
pub(crate) fn objection(outcome: CheckOutcome) -> Option<String> {
    match outcome {
        CheckOutcome::Passed => None,
        CheckOutcome::Failed { code } => Some(format!("exited with {code}")),
        CheckOutcome::Killed { signal } => Some(format!("was ended by signal {signal}")),
        CheckOutcome::TimedOut => Some("took too long".to_owned()),
        CheckOutcome::OverLimit { limit } => Some(format!("was ended: {limit}")),
    }
}

fn after(line: Option<String>) -> String {
    line.map_or_else(String::new, |line| format!(": {line}"))
}
