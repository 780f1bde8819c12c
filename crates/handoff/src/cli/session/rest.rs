//! Bringing an agent to rest from outside, and noticing whether it stays there.

use std::time::Duration;

use handoff_operations::Failure;
use handoff_operations::session::vigil::{Kept, keep};
use handoff_session::journal::{self, Event};
use handoff_session::state::Phase;
use handoff_session::{Client, ClientError, Known};

use super::interrupt::{refused, still_working, turn_end};
use crate::context::Context;

/// How an agent that works is brought to rest.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Manner {
    /// It is told to stop.
    Interrupt,
    /// Its turn comes to its own end.
    Drain,
}

/// An agent that does nothing.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Rest {
    /// The last event before it did nothing.
    since: u64,
}

impl Rest {
    /// Brings an agent to rest, or says why it cannot be.
    pub(crate) fn bring(
        known: &Known,
        manner: Manner,
        patience: Duration,
        ctx: &Context,
    ) -> Result<Self, Failure> {
        let over = match manner {
            Manner::Interrupt => interrupted(known, patience, ctx)?,
            Manner::Drain => keep(known, Some(patience), ctx, || idle(known))?,
        };
        match over {
            Kept::Found(()) | Kept::Over => Ok(Self {
                since: last_event(known)?,
            }),
            Kept::TimedOut => Err(still_working(known)),
        }
    }

    /// Whether it has done nothing since.
    pub(crate) fn holds(self, known: &Known) -> Result<bool, Failure> {
        let mut since = entries(known)?.into_iter().filter(|it| it.seq > self.since);
        Ok(!since.any(|entry| matches!(entry.event, Event::TurnStarted { .. })))
    }
}

fn interrupted(known: &Known, patience: Duration, ctx: &Context) -> Result<Kept<()>, Failure> {
    let pressed = match Client::new(&known.record.socket).interrupt() {
        Ok(pressed) => pressed,
        // It does nothing that could be interrupted.
        Err(ClientError::Refused { status: 409, .. }) => return Ok(Kept::Found(())),
        Err(error) => return Err(refused(known, &error)),
    };
    keep(known, Some(patience), ctx, || {
        Ok(turn_end(known, &pressed)?.map(drop))
    })
}

/// Whether it has come to the end of its turn, or waits for somebody.
fn idle(known: &Known) -> Result<Option<()>, Failure> {
    let last = journal::last_state(&known.directory);
    let last = last.map_err(|error| unreadable(&error))?;
    let is_busy = matches!(last, Some((Phase::Busy | Phase::Starting, _)));
    Ok((!is_busy).then_some(()))
}

/// The number of the last thing that happened to a session.
pub(crate) fn last_event(known: &Known) -> Result<u64, Failure> {
    Ok(entries(known)?.last().map_or(0, |entry| entry.seq))
}

fn entries(known: &Known) -> Result<Vec<journal::Entry>, Failure> {
    journal::read(&known.directory).map_err(|error| unreadable(&error))
}

fn unreadable(error: &std::io::Error) -> Failure {
    Failure::failed("cannot read the journal").because(error)
}
