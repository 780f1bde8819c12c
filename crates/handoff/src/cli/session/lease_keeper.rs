//! `handoff lease-keeper`: renews the lease of a session whose task is in the ledger of a team, for as long as the session's
//! holder lives, and gives the task back after that. People never start it; `run --task` does.
//!
//! The holder cannot do it: it never opens the ledger, whose address and password are not for agents. The command that started
//! the session cannot either: it may be gone at once. On this machine's own ledger nobody has to, because the holder's lock
//! is the lease. A keeper that is killed is missed by whoever lists sessions next: [`super::relief`].

use std::path::Path;
use std::time::Duration;

use handoff_api::ExitCode;
use handoff_core::task::Command;
use handoff_core::{Caller, Fence, SessionId, TaskId};
use handoff_files::{Dir, Lock, Wake, Watch};
use handoff_process::{Program, Report, detach};
use handoff_session::environment::Work;
use handoff_session::{catalogue, place};
use handoff_store::StoreError;
use handoff_store::queue::{Change, Request, TaskRef, submit};

use super::address::{places, unreadable};
use super::launch::own_program;
use super::relief;
use crate::cli::worker::come_up;
use crate::context::{Context, fresh_key};
use crate::failure::Failure;

/// How long the lease lasts when nobody renews it: that long a task waits for a machine that is gone.
pub(super) const TTL: Duration = Duration::from_mins(10);
/// Three of them fit into a lease, so that a server may be away for a while.
const BEAT_INTERVAL: Duration = Duration::from_mins(3);
/// The kernel says that a holder goes before its lock is free.
const LOOK_AGAIN: Duration = Duration::from_millis(200);
/// A keeper that comes up says so within this time.
const START_TAKES: Duration = Duration::from_secs(30);

#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    #[arg(long)]
    session: SessionId,
    #[arg(long)]
    task: TaskId,
    #[arg(long)]
    fence: u64,
}

/// Starts one for a session that has got its task.
pub(super) fn start(session: SessionId, work: &Work, ctx: &Context) -> Result<(), Failure> {
    let cannot = || Failure::failed("cannot keep the lease of the task alive");
    let words = [
        "lease-keeper".to_owned(),
        format!("--session={session}"),
        format!("--task={}", work.id),
        format!("--fence={}", work.fence),
    ];
    let mut program = Program::new(own_program(ctx)?, ctx.home()?).with_arguments(words);
    program.environment = ctx.ambient.environment.clone();
    let mut keeper = detach(&program).map_err(|error| cannot().because(&error))?;
    let report = keeper.report(START_TAKES);
    match report.map_err(|error| cannot().because(&error))? {
        Report::Said(said) if !said.is_empty() => Ok(()),
        Report::Said(_) | Report::TimedOut => Err(cannot()),
    }
}

pub(super) fn run(args: &Args, ctx: &Context) -> Result<ExitCode, Failure> {
    let directory = places(ctx)?.session(args.session);
    let clock = ctx.clock()?;
    let cannot = || Failure::failed("cannot watch the session");
    let keeping = Lock::try_acquire(&place::keeper_lock(&directory), "lease keeper")
        .map_err(|error| cannot().because(&error))?;
    if keeping.is_none() {
        // There is one already.
        come_up()?;
        return Ok(ExitCode::Done);
    }
    let mut watch =
        Watch::on(&place::holder_lock(&directory)).map_err(|error| cannot().because(&error))?;
    // Whoever cannot renew it once must not pretend to keep it.
    let mut beaten = clock.now().moment.elapsed;
    match args.tell(&args.renewal(), ctx) {
        Heard::Taken => come_up()?,
        Heard::Refused => return Ok(lose(&directory)),
        Heard::Nothing => return Err(Failure::failed("the lease cannot be renewed")),
    }
    let mut woken = Wake::TimedOut;
    loop {
        let now = clock.now().moment.elapsed;
        match next(life(&directory)?, now.since(beaten), woken) {
            Act::Beat => match args.tell(&args.renewal(), ctx) {
                Heard::Refused => return Ok(lose(&directory)),
                Heard::Taken | Heard::Nothing => beaten = now,
            },
            Act::GiveBack => {
                args.tell(&args.release(), ctx);
                return Ok(ExitCode::Done);
            }
            // Whatever wakes us, we look.
            Act::Wait(span) => woken = watch.wait(Some(span)).unwrap_or(Wake::Changed),
        }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Life {
    Held,
    Over,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Act {
    Beat,
    GiveBack,
    Wait(Duration),
}

/// What the ledger said.
enum Heard {
    Taken,
    /// The lease is somebody else's, or nobody's.
    Refused,
    /// It cannot be reached, or nobody knows what it did.
    Nothing,
}

fn life(directory: &Path) -> Result<Life, Failure> {
    let is_held = catalogue::is_held(directory).map_err(|error| unreadable(&error))?;
    Ok(if is_held { Life::Held } else { Life::Over })
}

/// The lease is somebody else's, or nobody's: that is all that is left to say.
fn lose(directory: &Path) -> ExitCode {
    // A directory that is gone has no session that anybody could be told of.
    if let Ok(directory) = Dir::open(directory) {
        relief::give_up(&directory).ok();
    }
    ExitCode::Done
}

fn next(life: Life, since_beat: Duration, woken: Wake) -> Act {
    match life {
        Life::Over => Act::GiveBack,
        Life::Held if since_beat >= BEAT_INTERVAL => Act::Beat,
        Life::Held if woken == Wake::Changed => Act::Wait(LOOK_AGAIN),
        Life::Held => Act::Wait(BEAT_INTERVAL.saturating_sub(since_beat)),
    }
}

impl Args {
    fn renewal(&self) -> Command {
        let fence = Fence::new(self.fence);
        Command::Renew { fence }
    }

    fn release(&self) -> Command {
        Command::Release {
            fence: Fence::new(self.fence),
            reason: "its session has ended".parse().ok(),
        }
    }

    /// A connection each time: hours pass between a few words, and a hundred keepers must not fill a server.
    fn tell(&self, command: &Command, ctx: &Context) -> Heard {
        let request = Request {
            by: Caller::Reconciler,
            key: fresh_key(),
            change: Change::Tell {
                task: TaskRef::Id(self.task),
                command: command.clone(),
            },
        };
        let Ok(mut store) = ctx.open_store() else {
            return Heard::Nothing;
        };
        match submit(&mut *store, &request) {
            Ok(_) => Heard::Taken,
            Err(StoreError::Refused { .. }) => Heard::Refused,
            Err(_) => Heard::Nothing,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_beats_three_times_in_a_lease_until_the_holder_is_gone() {
        use Life::{Held, Over};
        let minutes = Duration::from_mins;
        for (life, since_beat, woken, act) in [
            (
                Held,
                minutes(1),
                Wake::TimedOut,
                Act::Wait(Duration::from_mins(2)),
            ),
            (Held, minutes(1), Wake::Changed, Act::Wait(LOOK_AGAIN)),
            (Held, minutes(3), Wake::Changed, Act::Beat),
            (Over, minutes(0), Wake::TimedOut, Act::GiveBack),
            (Over, minutes(9), Wake::Changed, Act::GiveBack),
        ] {
            assert_eq!(next(life, since_beat, woken), act);
        }
        assert!(TTL >= BEAT_INTERVAL * 3);
    }
}
