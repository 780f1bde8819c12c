//! `handoff wait`: waits until a session has ended, or until its agent does something.

mod until;

use handoff_api::{ExitCode, SessionEndDocument, SessionWaitDocument};
use handoff_operations::Failure;
use handoff_operations::session::document::signal;
use handoff_operations::session::lost;
use handoff_operations::session::lost_turn;
use handoff_operations::session::vigil::{Kept, keep};
use handoff_operations::session::way_out::way_out;
use handoff_session::journal::{self, Entry};
use handoff_session::outcome::Outcome;
use handoff_session::{Known, inbox};

use self::until::{Seen, Until};
use super::address::Address;
use super::patience::Patience;
use crate::context::Context;
use crate::output::plain;

#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    #[command(flatten)]
    address: Address,
    /// What to wait for: the end of the session, an agent that waits for a message, the same with nothing left to be said, one
    /// that waits for a person, the end of a turn, or something that the session replies.
    #[arg(long, value_name = "STATE", default_value = "exited")]
    until: Until,
    /// Count only turns and replies after this event; without it turns from now on, and the first reply.
    #[arg(long, value_name = "SEQ")]
    after: Option<u64>,
    /// How long to wait at most, in seconds or as `10m`; without it for ever.
    #[arg(long, value_name = "SEC")]
    timeout: Option<Patience>,
}

pub(super) fn run(args: &Args, ctx: &mut Context) -> Result<u8, Failure> {
    let known = args.address.find(ctx)?;
    let after = match args.after {
        Some(after) => after,
        // A reply is not lost on one who comes late.
        None if args.until == Until::Reply => 0,
        None => entries(&known)?.last().map_or(0, |entry| entry.seq),
    };
    let look = || {
        let waiting = inbox::read(&known.directory).unwrap_or_default();
        let seen = Seen::of(&entries(&known)?, &waiting, after);
        Ok(args.until.is_met(&seen).map(|met| (met, seen)))
    };
    let patience = args.timeout.map(|patience| patience.0);
    match keep(&known, patience, ctx, look)? {
        Kept::Found((until::Met::Yes, seen)) => show(&known, args.until, &seen, ctx),
        Kept::Found((until::Met::Lost(turn, outcome), _)) => {
            Err(lost_turn::failure(&known, turn, &outcome))
        }
        Kept::Found((until::Met::Never, seen)) => Err(blocked(&known, args.until, &seen)),
        Kept::Over => over(&known, args, ctx),
        Kept::TimedOut => Err(timed_out(&known, args.until)),
    }
}

fn entries(known: &Known) -> Result<Vec<Entry>, Failure> {
    journal::read(&known.directory)
        .map_err(|error| Failure::failed("cannot read the journal").because(&error))
}

fn show(known: &Known, until: Until, seen: &Seen, ctx: &mut Context) -> Result<u8, Failure> {
    let reply = seen.reply.as_ref().filter(|_| until == Until::Reply);
    let turn = seen.ended_turn.as_ref();
    if let Some((turn, outcome)) = turn.filter(|_| until == Until::Turn)
        && *outcome != Outcome::Answered
        && !ctx.out.is_json()
    {
        return Err(lost_turn::failure(known, *turn, outcome));
    }
    if ctx.out.is_json() {
        let document = SessionWaitDocument {
            session: known.record.id.to_string(),
            name: known.record.name.to_string(),
            until: until.word().to_owned(),
            state: seen.state.word().to_owned(),
            kind: seen.kind.map(|kind| kind.word().to_owned()),
            turn: turn.map(|(turn, _)| *turn),
            outcome: turn.map(|(_, outcome)| outcome.word().to_owned()),
            seq: reply.map_or(seen.seq, |(seq, _)| *seq),
            reply: reply.map(|(_, text)| text.clone()),
        };
        ctx.out.document(SessionWaitDocument::SCHEMA, document)?;
    } else if let Some((_, text)) = reply {
        ctx.out.line(plain(text))?;
    }
    let outcome = turn.filter(|_| until == Until::Turn);
    let code = outcome.map_or(ExitCode::Done, |(_, outcome)| lost_turn::code(outcome));
    Ok(code.number())
}

fn blocked(known: &Known, until: Until, seen: &Seen) -> Failure {
    let name = &known.record.name;
    let kind = seen.kind.map_or("other", |kind| kind.word());
    let text = format!(
        "`{name}` waits for a person ({kind}), so {} does not come by itself",
        until.meaning()
    );
    Failure::new(ExitCode::Blocked, text).hint(way_out(name.as_str(), seen.kind))
}

/// The session lives no longer: what was waited for, or never to come.
fn over(known: &Known, args: &Args, ctx: &mut Context) -> Result<u8, Failure> {
    let now = handoff_session::catalogue::by_id(
        &handoff_operations::session::places(ctx)?,
        known.record.id,
    )
    .map_err(|error| handoff_operations::session::unreadable(&error))?;
    let now = now.unwrap_or_else(|| known.clone());
    let ended = now.record.ended.as_ref().ok_or_else(|| lost(&now))?;
    if args.until != Until::Exited {
        let name = &now.record.name;
        let text = format!(
            "the session `{name}` has ended before {}",
            args.until.meaning()
        );
        return Err(
            Failure::failed(text).hint(format!("see what it printed: `handoff logs --id {name}`"))
        );
    }
    let code = ended.exit.exit_code();
    if ctx.out.is_json() {
        let document = SessionEndDocument {
            session: now.record.id.to_string(),
            name: now.record.name.to_string(),
            exit_code: code,
            signal: signal(ended.exit),
            by: None,
            left: ended.left.clone(),
        };
        ctx.out.document(SessionEndDocument::SCHEMA, document)?;
    }
    Ok(code)
}

fn timed_out(known: &Known, until: Until) -> Failure {
    let name = &known.record.name;
    let text = match until {
        Until::Exited => format!("the session `{name}` has not ended in time"),
        Until::Prompt | Until::Idle | Until::Blocked | Until::Turn | Until::Reply => {
            format!("`{name}` has not come to {} in time", until.meaning())
        }
    };
    Failure::new(ExitCode::TimedOut, text)
}
