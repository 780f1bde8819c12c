//! Starting the process that renews the lease of a session in the ledger of a team.

use std::time::Duration;

use handoff_core::SessionId;
use handoff_process::{Program, Report, detach};
use handoff_session::environment::Work;

use crate::failure::Failure;
use crate::program::own_program;
use crate::workplace::Workplace;

/// How long the lease lasts when nobody renews it: that long a task waits for a machine that is gone.
pub const TTL: Duration = Duration::from_mins(10);
/// A keeper that comes up says so within this time.
const START_TAKES: Duration = Duration::from_secs(30);

/// Starts one for a session that has got its task.
pub fn start(session: SessionId, work: &Work, here: &Workplace) -> Result<(), Failure> {
    let cannot = || Failure::failed("cannot keep the lease of the task alive");
    let words = [
        "lease-keeper".to_owned(),
        format!("--session={session}"),
        format!("--task={}", work.id),
        format!("--fence={}", work.fence),
    ];
    let mut program = Program::new(own_program(here)?, here.home()?).with_arguments(words);
    program.environment = here.ambient.environment.clone();
    let mut keeper = detach(&program).map_err(|error| cannot().because(&error))?;
    let report = keeper.report(START_TAKES);
    match report.map_err(|error| cannot().because(&error))? {
        Report::Said(said) if !said.is_empty() => Ok(()),
        Report::Said(_) | Report::TimedOut => Err(cannot()),
    }
}
