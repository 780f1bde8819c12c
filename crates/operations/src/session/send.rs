//! Saying something to a session.

mod arrival;
mod goal;

use std::time::Duration;

use handoff_agents::Block;
use handoff_api::{ExitCode, MessageDocument};
use handoff_core::{Action, IdempotencyKey, MessageId};
use handoff_session::control::Sent;
use handoff_session::message::{self, Finish, Order, TextSense, Urgency};
use handoff_session::{Client, ClientError, Known, Phase, journal};
use schemars::JsonSchema;
use serde::Deserialize;

pub use self::goal::Goal;

use self::arrival::{arrived, over, timed_out};
use self::goal::Meanwhile;
use super::address::{SessionRef, unreachable};
use super::authority::{Act, require};
use super::letter::{document, letter};
use super::vigil::{Kept, keep};
use crate::failure::Failure;
use crate::operation::{Effect, Forwarded, Needs, Operation, Takes};
use crate::span::Span;
use crate::workplace::{Workplace, fresh_key};

/// How long it may take until the agent reads, when nobody says otherwise. A turn may take as long as it likes.
const TAKING_TAKES: Duration = Duration::from_secs(120);
/// How often a holder that has no room for another connection is asked again.
const TRIES: usize = 20;

/// Say something to a session: it is kept, typed when the agent reads, and delivered when that was seen.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct SendMessage {
    /// The session.
    pub session: SessionRef,
    /// What to say.
    pub text: String,
    /// Return when it is safe (`accepted`), when the agent has taken it, when its turn is over, or with its answer.
    #[serde(default)]
    pub wait_for: Goal,
    /// Type it now, before all that waits, whatever the agent does; but never into a dialog.
    #[serde(default)]
    pub force: bool,
    /// Type it, and leave Enter to a person.
    #[serde(default)]
    pub no_submit: bool,
    /// It is a command of the agent's own, as `/compact` is. Without this a message is words, whatever it begins with.
    #[serde(default)]
    pub as_command: bool,
    /// Give the message up if it has waited this long to be typed, such as `10m`.
    #[serde(default)]
    pub expire: Option<Span>,
    /// The same key is the same message.
    #[serde(default)]
    pub key: Option<IdempotencyKey>,
    /// How long to wait at most, such as `2m`; the message goes on without whoever waits.
    #[serde(default)]
    pub timeout: Option<Span>,
}

impl Operation for SendMessage {
    type Response = MessageDocument;

    const NAME: &'static str = "send_message";
    const EFFECT: Effect = Effect::Changes;
    const NEEDS: Needs = Needs::Action(Action::Tell);
    const TAKES: Takes = Takes::Waits;
    const FORWARDED: Forwarded = Forwarded::FromSandbox;

    fn perform(self, here: &Workplace) -> Result<MessageDocument, Failure> {
        let known = self.session.find_live(here)?;
        if self.force {
            require(Act::Supervise, &known, here)?;
        }
        let order = self.order()?;
        let sent = self.hand_over(&known, &order, here)?;
        match self.wait_for {
            Goal::Accepted => Ok(document(&letter(&known, sent.message)?, &known)),
            Goal::Submitted | Goal::Idle | Goal::Answer => {
                self.await_arrival(&known, sent.message, here)
            }
        }
    }
}

/// Refuses a text that is none, or too long to be typed.
pub fn check_text(text: &str) -> Result<(), Failure> {
    if text.trim().is_empty() {
        return Err(Failure::usage("there is nothing to say")
            .hint("say it: `handoff send --id NAME --message TEXT`"));
    }
    if text.len() > message::LONGEST {
        let longest = message::LONGEST / 1024;
        let text = format!("a message has at most {longest} KiB of text");
        return Err(Failure::usage(text).hint("put it into a file, and say where that is"));
    }
    Ok(())
}

impl SendMessage {
    fn order(&self) -> Result<Order, Failure> {
        check_text(&self.text)?;
        Ok(Order {
            text: self.text.clone(),
            key: self.key.clone().unwrap_or_else(fresh_key),
            finish: if self.no_submit {
                Finish::Leave
            } else {
                Finish::Submit
            },
            urgency: if self.force {
                Urgency::Force
            } else {
                Urgency::Wait
            },
            sense: if self.as_command {
                TextSense::Command
            } else {
                TextSense::Words
            },
            expires_after: self.expire.map(Span::duration),
        })
    }

    fn patience(&self) -> Option<Duration> {
        match (self.timeout, self.wait_for) {
            (Some(timeout), _) => Some(timeout.duration()),
            (None, Goal::Accepted | Goal::Submitted) => Some(TAKING_TAKES),
            (None, Goal::Idle | Goal::Answer) => None,
        }
    }

    /// Gives the message to the holder. Asking again is safe: the key makes it one message.
    fn hand_over(&self, known: &Known, order: &Order, here: &Workplace) -> Result<Sent, Failure> {
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
                Err(error) => return Err(self.ended_or_unreachable(known, &error, order, here)),
            }
        }
    }

    /// It may have ended in this very moment. A message that was asked for and not confirmed may be on record.
    fn ended_or_unreachable(
        &self,
        known: &Known,
        error: &ClientError,
        order: &Order,
        here: &Workplace,
    ) -> Failure {
        if let Err(failure) = self.session.find_live(here) {
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
        &self,
        known: &Known,
        id: MessageId,
        here: &Workplace,
    ) -> Result<MessageDocument, Failure> {
        let goal = self.wait_for;
        let look = || {
            let letter = letter(known, id)?;
            let meanwhile = if self.force {
                // It does not wait for the dialog: it is refused by the holder.
                Meanwhile::Going
            } else {
                meanwhile(known)
            };
            let arrival = goal.reached(letter.progress(), meanwhile);
            Ok(arrival.map(|arrival| (letter, arrival)))
        };
        match keep(known, self.patience(), here, look)? {
            Kept::Found((letter, arrival)) => arrived(known, &letter, arrival),
            Kept::Over => Err(over(known, id, &self.session, here)?),
            Kept::TimedOut => Err(timed_out(known, &letter(known, id)?)),
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

fn meanwhile(known: &Known) -> Meanwhile {
    match journal::last_state(&known.directory) {
        Ok(Some((Phase::Blocked, Some(Block::Error)))) => Meanwhile::Going,
        Ok(Some((Phase::Blocked, Some(Block::Limit)))) => Meanwhile::Limited,
        Ok(Some((Phase::Blocked, _))) => Meanwhile::Blocked,
        Ok(_) | Err(_) => Meanwhile::Going,
    }
}
