//! `handoff lease-keeper`: renews the lease of a session whose task is in the ledger of a team, for as long as the session's
//! holder lives, and gives the task back after that. People never start it; `run --task` does.
//!
//! The holder cannot do it: it never opens the ledger, whose address and password are not for agents. The command that started
//! the session cannot either: it may be gone at once. On this machine's own ledger nobody has to, because the holder's lock
//! is the lease. A keeper that is killed is missed by whoever lists sessions next: [`handoff_operations::session::relief`].

use std::path::Path;
use std::time::Duration;

use handoff_api::ExitCode;
use handoff_core::backoff::Backoff;
use handoff_core::task::Command;
use handoff_core::{Caller, Fence, SessionId, TaskId};
use handoff_files::{Dir, Lock, Wake, Watch};
use handoff_operations::session::{lease_keeper, places, relief, unreadable};
use handoff_operations::{Failure, fresh_key};
use handoff_session::{catalogue, place};
use handoff_store::StoreError;
use handoff_store::queue::{Change, Request, TaskRef, submit};

use crate::cli::worker::come_up;
use crate::context::Context;

/// Three of them fit into a lease, so that a server may be away for a while.
const BEAT_INTERVAL: Duration = Duration::from_mins(3);
/// The kernel says that a holder goes before its lock is free.
const LOOK_AGAIN: Duration = Duration::from_millis(200);

#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    #[arg(long)]
    session: SessionId,
    #[arg(long)]
    task: TaskId,
    #[arg(long)]
    fence: u64,
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
    let mut renewed = clock.now().moment.elapsed;
    match args.tell(&args.renewal(), ctx) {
        Heard::Taken => come_up()?,
        Heard::Refused => return Ok(lose(&directory)),
        Heard::Nothing => return Err(Failure::failed("the lease cannot be renewed")),
    }
    let (mut woken, mut tried, mut unheard) = (Wake::TimedOut, renewed, 0);
    loop {
        let now = clock.now().moment.elapsed;
        let retry = args.retry_after(unheard);
        match next(life(&directory)?, now.since(tried), woken, retry) {
            Act::Beat => match args.tell(&args.renewal(), ctx) {
                Heard::Refused => return Ok(lose(&directory)),
                Heard::Taken => (renewed, tried, unheard) = (now, now, 0),
                Heard::Nothing => (tried, unheard) = (now, unheard + 1),
            },
            Act::GiveBack => match args.tell(&args.release(), ctx) {
                Heard::Taken | Heard::Refused => return Ok(ExitCode::Done),
                // By now it has run out by itself.
                Heard::Nothing if now.since(renewed) > lease_keeper::TTL => {
                    return Ok(ExitCode::Done);
                }
                Heard::Nothing => (tried, unheard) = (now, unheard + 1),
            },
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

/// What to do so long after the last try; `retry` is when to try again if the ledger did not hear that.
fn next(life: Life, since_try: Duration, woken: Wake, retry: Option<Duration>) -> Act {
    let left = retry.unwrap_or(match life {
        Life::Over => Duration::ZERO,
        Life::Held => BEAT_INTERVAL,
    });
    let left = left.saturating_sub(since_try);
    match life {
        Life::Over if left.is_zero() => Act::GiveBack,
        Life::Held if left.is_zero() => Act::Beat,
        Life::Held if woken == Wake::Changed => Act::Wait(LOOK_AGAIN.min(left)),
        Life::Held | Life::Over => Act::Wait(left),
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

    /// When to try again what the ledger did not hear so many times in a row. Several of them fit into a lease.
    fn retry_after(&self, unheard: u32) -> Option<Duration> {
        const RETRY: Backoff = Backoff {
            first: Duration::from_secs(2),
            longest: Duration::from_secs(30),
            patience: lease_keeper::TTL,
        };
        let (_, seed) = self.session.as_uuid().as_u64_pair();
        let dice = seed
            .wrapping_add(u64::from(unheard))
            .wrapping_mul(0x9e37_79b9_7f4a_7c15);
        let dice = u32::try_from(dice >> 32).unwrap_or_default();
        (unheard > 0)
            .then(|| RETRY.wait(unheard, Duration::ZERO, dice))
            .flatten()
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
        let (minutes, seconds) = (Duration::from_mins, Duration::from_secs);
        let soon = Some(seconds(8));
        for (life, since_try, woken, retry, act) in [
            (
                Held,
                minutes(1),
                Wake::TimedOut,
                None,
                Act::Wait(minutes(2)),
            ),
            (Held, minutes(1), Wake::Changed, None, Act::Wait(LOOK_AGAIN)),
            (Held, minutes(3), Wake::Changed, None, Act::Beat),
            (Over, minutes(0), Wake::TimedOut, None, Act::GiveBack),
            (Over, minutes(9), Wake::Changed, None, Act::GiveBack),
            // The ledger did not hear the last one.
            (
                Held,
                seconds(3),
                Wake::TimedOut,
                soon,
                Act::Wait(seconds(5)),
            ),
            (Held, seconds(8), Wake::TimedOut, soon, Act::Beat),
            (Over, seconds(3), Wake::Changed, soon, Act::Wait(seconds(5))),
            (Over, seconds(9), Wake::TimedOut, soon, Act::GiveBack),
        ] {
            assert_eq!(next(life, since_try, woken, retry), act);
        }
        assert!(lease_keeper::TTL >= BEAT_INTERVAL * 3);
    }
}
