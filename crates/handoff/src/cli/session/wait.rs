//! `handoff wait`: waits until a session has ended.

use std::time::Duration;

use handoff_api::{ExitCode, SessionEndDocument};
use handoff_files::Watch;
use handoff_session::{Known, Standing, place};

use super::address::{Address, lost};
use super::document::signal;
use super::patience::Patience;
use crate::context::Context;
use crate::failure::Failure;

/// A waiter is told; this is for a holder that died in the moment of looking.
const LOOK_AGAIN: Duration = Duration::from_secs(1);

#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    #[command(flatten)]
    address: Address,
    /// What to wait for.
    #[arg(long, value_name = "STATE", default_value = "exited")]
    until: Until,
    /// How long to wait at most, in seconds or as `10m`; without it for ever.
    #[arg(long, value_name = "SEC")]
    timeout: Option<Patience>,
}

#[derive(Debug, Clone, Copy, clap::ValueEnum)]
enum Until {
    Exited,
}

pub(super) fn run(args: &Args, ctx: &mut Context) -> Result<u8, Failure> {
    let known = match args.until {
        Until::Exited => until_ended(args, ctx)?,
    };
    let ended = known.record.ended.as_ref().ok_or_else(|| lost(&known))?;
    let code = ended.exit.exit_code();
    if ctx.out.is_json() {
        let document = SessionEndDocument {
            session: known.record.id.to_string(),
            name: known.record.name.to_string(),
            exit_code: code,
            signal: signal(ended.exit),
            by: None,
            left: ended.left.clone(),
        };
        ctx.out.document(SessionEndDocument::SCHEMA, document)?;
    }
    Ok(code)
}

fn until_ended(args: &Args, ctx: &Context) -> Result<Known, Failure> {
    let clock = ctx.clock()?;
    let now = || clock.now().moment.awake;
    let deadline = args.timeout.map(|patience| now().after(patience.0));
    let mut watch = None;
    loop {
        // A session is told apart by its id from now on: its name may be used again.
        let known = args.address.find(ctx)?;
        if known.standing != Standing::Live {
            return Ok(known);
        }
        let left = deadline.map_or(LOOK_AGAIN, |deadline| deadline.since(now()).min(LOOK_AGAIN));
        if left.is_zero() {
            let text = format!("the session `{}` has not ended in time", known.record.name);
            return Err(Failure::new(ExitCode::TimedOut, text));
        }
        match &mut watch {
            // Looks once more after the watch is set up, or what happens in between would be missed.
            None => watch = Some(watch_life(&known)?),
            Some(watch) => drop(watch.wait(Some(left))),
        }
    }
}

fn watch_life(known: &Known) -> Result<Watch, Failure> {
    Watch::on(&place::holder_lock(&known.directory))
        .map_err(|error| Failure::failed("cannot watch the session").because(&error))
}
