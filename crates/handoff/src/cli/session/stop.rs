//! `handoff stop`: ends a session.

use std::time::Duration;

use handoff_api::{ExitCode, SessionEndDocument};
use handoff_core::SessionId;
use handoff_operations::Failure;
use handoff_operations::session::authority::{Act, require};
use handoff_operations::session::document::signal;
use handoff_operations::session::vigil::{Kept, keep};
use handoff_operations::session::{SessionRef, lost, places, unreachable};
use handoff_process::tree::{self, Force};
use handoff_session::control::Stopped;
use handoff_session::{Client, ClientError, Known, Standing, catalogue};

use super::address::Address;
use super::patience::Patience;
use crate::context::Context;

/// What was killed is gone within this time.
const DEATH_TAKES: Duration = Duration::from_secs(10);
/// What an agent gets to leave by itself.
const GRACE: Duration = Duration::from_secs(5);

#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    #[command(flatten)]
    address: Address,
    /// How long it may take to leave by itself before it is made to, in seconds or as `1m`.
    #[arg(long, value_name = "SEC")]
    timeout: Option<Patience>,
}

pub(super) fn run(args: &Args, ctx: &mut Context) -> Result<ExitCode, Failure> {
    let known = args.address.find(ctx)?;
    require(Act::Supervise, &known, ctx)?;
    let grace = args.timeout.map_or(GRACE, |patience| patience.0);
    let stopped = match known.standing {
        Standing::Lost => return Err(clear_away(&known, ctx)?),
        Standing::Ended => as_recorded(&known)?,
        Standing::Live => match ask(&known, grace) {
            Ok(stopped) => stopped,
            Err(error) if error.is_silence() => return Err(end_holder(&known, ctx)?),
            // It may have ended in this very moment; then its record says how.
            Err(error) => as_recorded(&args.address.find(ctx)?)
                .map_err(|_still_open| unreachable(&known, &error))?,
        },
    };
    show(&known, stopped, ctx)
}

/// Ends a session whose work is paused. One that has ended, or that no holder keeps, is left as it is.
pub(crate) fn stop_session(session: SessionId, ctx: &Context) -> Result<(), Failure> {
    let address = SessionRef::new(session.to_string(), None);
    let known = match address.find(ctx) {
        Err(failure) if failure.code == ExitCode::NotFound => return Ok(()),
        found => found?,
    };
    match known.standing {
        Standing::Ended | Standing::Lost => Ok(()),
        Standing::Live => match ask(&known, GRACE) {
            Ok(_) => Ok(()),
            Err(error) => Err(unreachable(&known, &error)),
        },
    }
}

/// Nobody holds a lost session, but something of it may still run.
fn clear_away(known: &Known, ctx: &Context) -> Result<Failure, Failure> {
    let left = catalogue::clear_away(known, &places(ctx)?, DEATH_TAKES);
    let left = left.map_err(|error| {
        Failure::failed("cannot look for what the session has left").because(&error)
    })?;
    if left.is_empty() {
        Ok(lost(known))
    } else {
        Err(unending(known, &left))
    }
}

fn unending(known: &Known, left: &[u32]) -> Failure {
    let name = &known.record.name;
    Failure::failed(format!(
        "of the session `{name}` these processes cannot be ended: {left:?}"
    ))
}

/// Asks the holder. One that somebody stopped by a signal would not hear it.
fn ask(known: &Known, grace: Duration) -> Result<Stopped, ClientError> {
    tree::signal(&[known.record.holder.into()], Force::Wake);
    Client::new(&known.record.socket).stop(grace)
}

/// Ends a holder that does not answer. Its warden ends what it leaves behind, so that nobody knows how the agent ended.
fn end_holder(known: &Known, ctx: &Context) -> Result<Failure, Failure> {
    let name = &known.record.name;
    tree::signal(&[known.record.holder.into()], Force::Kill);
    let never = || Ok(None::<()>);
    let text = match keep(known, Some(DEATH_TAKES), ctx, never)? {
        Kept::Over | Kept::Found(()) => {
            format!("the holder of `{name}` did not answer and was killed, with all of the session")
        }
        Kept::TimedOut => format!("the holder of `{name}` does not answer and cannot be killed"),
    };
    Ok(Failure::new(ExitCode::Unavailable, text).hint("see what is left: `handoff ps --all`"))
}

fn as_recorded(known: &Known) -> Result<Stopped, Failure> {
    let ended = known.record.ended.as_ref().ok_or_else(|| lost(known))?;
    Ok(Stopped {
        exit: ended.exit,
        by: None,
        left: ended.left.clone(),
    })
}

fn show(known: &Known, stopped: Stopped, ctx: &mut Context) -> Result<ExitCode, Failure> {
    let name = &known.record.name;
    if !stopped.left.is_empty() {
        return Err(unending(known, &stopped.left));
    }
    if ctx.out.is_json() {
        let document = SessionEndDocument {
            session: known.record.id.to_string(),
            name: name.to_string(),
            exit_code: stopped.exit.exit_code(),
            signal: signal(stopped.exit),
            by: stopped.by,
            left: stopped.left,
        };
        ctx.out.document(SessionEndDocument::SCHEMA, document)?;
        return Ok(ExitCode::Done);
    }
    let how = match stopped.by.as_deref() {
        None => "had ended before",
        Some("exit_keys") => "has left by itself",
        Some("term") => "has ended when it was asked to",
        Some(_) => "was killed",
    };
    ctx.out
        .line(format!("{name} {how}; nothing of it is left"))?;
    Ok(ExitCode::Done)
}
