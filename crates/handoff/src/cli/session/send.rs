//! `handoff send`: says something to a session.

mod arrival;
mod goal;
mod text;

use std::time::Duration;

use handoff_agents::Block;
use handoff_api::ExitCode;
use handoff_core::{Action, IdempotencyKey, MessageId};
use handoff_session::control::Sent;
use handoff_session::message::{Finish, Order, Urgency};
use handoff_session::{Client, ClientError, Known, Phase, journal};

use self::arrival::{arrived, over, show, timed_out};
use self::goal::{Goal, Meanwhile};
pub(super) use self::text::Text;
use super::address::{Address, unreachable};
use super::authority::{Act, require};
use super::letter::letter;
use super::patience::Patience;
use super::vigil::{Kept, keep};
use crate::cli::errand::Reading;
use crate::context::{Context, fresh_key};
use crate::desk::caller;
use crate::failure::Failure;

/// How long it may take until the agent reads, when nobody says otherwise. A turn may take as long as it likes.
const TAKING_TAKES: Duration = Duration::from_secs(120);
/// How often a holder that has no room for another connection is asked again.
const TRIES: usize = 20;

#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    #[command(flatten)]
    address: Address,
    #[command(flatten)]
    text: Text,
    #[command(flatten)]
    waiting: Waiting,
    /// Type it now, before all that waits, whatever the agent does; but never into a dialog.
    #[arg(long)]
    force: bool,
    /// Type it, and leave Enter to a person.
    #[arg(long)]
    no_submit: bool,
    /// Give the message up if it has waited this long to be typed.
    #[arg(long, value_name = "SEC")]
    expire: Option<Patience>,
    /// The same key is the same message: repeat the command after an unknown outcome.
    #[arg(long, value_name = "KEY")]
    key: Option<IdempotencyKey>,
}

/// How long a sender stays.
#[derive(Debug, clap::Args)]
struct Waiting {
    /// Return when the agent has taken it, when its turn is over, or with its answer.
    #[arg(long, value_name = "WHAT", default_value = "submitted")]
    wait_for: Goal,
    /// The same as `--wait-for idle`.
    #[arg(long, conflicts_with = "wait_for")]
    wait_for_idle: bool,
    /// Return as soon as the message is safe.
    #[arg(long, conflicts_with_all = ["wait_for", "wait_for_idle"])]
    no_wait: bool,
    /// How long to wait at most, in seconds or as `10m`; the message goes on without you.
    #[arg(long, value_name = "SEC")]
    timeout: Option<Patience>,
}

impl Args {
    pub(super) fn reading(&self) -> Reading {
        self.text.reading()
    }
}

impl Waiting {
    fn goal(&self) -> Goal {
        if self.wait_for_idle {
            Goal::Idle
        } else {
            self.wait_for
        }
    }

    fn patience(&self) -> Option<Duration> {
        match (self.timeout, self.goal()) {
            (Some(patience), _) => Some(patience.0),
            (None, Goal::Submitted) => Some(TAKING_TAKES),
            (None, Goal::Idle | Goal::Answer) => None,
        }
    }
}

pub(super) fn run(args: &Args, ctx: &mut Context) -> Result<ExitCode, Failure> {
    caller(&ctx.ambient)?.may(Action::Tell)?;
    let known = args.address.find_live(ctx)?;
    if args.force {
        require(Act::Supervise, &known, ctx)?;
    }
    let order = order(args)?;
    let sent = hand_over(&known, &order, args, ctx)?;
    if args.waiting.no_wait {
        return show(&letter(&known, sent.message)?, &known, ctx);
    }
    await_arrival(&known, sent.message, args, ctx)
}

fn order(args: &Args) -> Result<Order, Failure> {
    Ok(Order {
        text: args.text.read()?,
        key: args.key.clone().unwrap_or_else(fresh_key),
        finish: if args.no_submit {
            Finish::Leave
        } else {
            Finish::Submit
        },
        urgency: if args.force {
            Urgency::Force
        } else {
            Urgency::Wait
        },
        expires_after: args.expire.map(|patience| patience.0),
    })
}

/// Gives the message to the holder. Asking again is safe: the key makes it one message.
fn hand_over(known: &Known, order: &Order, args: &Args, ctx: &Context) -> Result<Sent, Failure> {
    let client = Client::new(&known.record.socket);
    let mut tried = 0;
    loop {
        tried += 1;
        match client.send_message(order) {
            Ok(sent) => return Ok(sent),
            // One who says nothing for so long does not get better by being asked again.
            Err(error @ (ClientError::Talk(_) | ClientError::Http(_)))
                if tried < TRIES && !error.is_silence() => {}
            Err(ClientError::Refused { status, message }) => {
                return Err(refused(known, status, &message));
            }
            Err(error) => return Err(ended_or_unreachable(known, &error, order, args, ctx)),
        }
    }
}

fn refused(known: &Known, status: u16, message: &str) -> Failure {
    let name = &known.record.name;
    let code = match status {
        400 | 413 => ExitCode::Usage,
        403 => ExitCode::Forbidden,
        409 => ExitCode::Conflict,
        507 => ExitCode::NoSpace,
        _ => ExitCode::Unavailable,
    };
    Failure::new(
        code,
        format!("`{name}` does not take the message: {message}"),
    )
}

/// It may have ended in this very moment. A message that was asked for and not confirmed may be on record.
fn ended_or_unreachable(
    known: &Known,
    error: &ClientError,
    order: &Order,
    args: &Args,
    ctx: &Context,
) -> Failure {
    if let Err(failure) = args.address.find_live(ctx) {
        return failure;
    }
    let failure = unreachable(known, error);
    match error {
        ClientError::Talk(_) => Failure {
            code: ExitCode::OutcomeUnknown,
            ..failure
        }
        .hint(format!(
            "repeat it with `--key {}`: it is sent only once",
            order.key
        )),
        ClientError::Directory(_)
        | ClientError::Connect(..)
        | ClientError::Stranger(_)
        | ClientError::Ask(_)
        | ClientError::Http(_)
        | ClientError::Answer(_)
        | ClientError::Refused { .. } => failure,
    }
}

fn await_arrival(
    known: &Known,
    id: MessageId,
    args: &Args,
    ctx: &mut Context,
) -> Result<ExitCode, Failure> {
    let goal = args.waiting.goal();
    let look = || {
        let letter = letter(known, id)?;
        let meanwhile = if args.force {
            // It does not wait for the dialog: it is refused by the holder.
            Meanwhile::Going
        } else {
            meanwhile(known)
        };
        let arrival = goal.reached(letter.progress(), meanwhile);
        Ok(arrival.map(|arrival| (letter, arrival)))
    };
    match keep(known, args.waiting.patience(), ctx, look)? {
        Kept::Found((letter, arrival)) => arrived(known, &letter, (goal, arrival), ctx),
        Kept::Over => Err(over(known, id, args, ctx)?),
        Kept::TimedOut => Err(timed_out(known, &letter(known, id)?)),
    }
}

fn meanwhile(known: &Known) -> Meanwhile {
    match journal::last_state(&known.directory) {
        Ok(Some((Phase::Blocked, kind))) if kind != Some(Block::Error) => Meanwhile::Blocked,
        Ok(_) | Err(_) => Meanwhile::Going,
    }
}
