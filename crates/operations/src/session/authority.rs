//! Whether one who asks for something may have it done to a session.

use handoff_core::{Action, Caller, Relation};
use handoff_process::{Identity, ancestry};
use handoff_session::side::Side;
use handoff_session::{Client, Known, Standing, catalogue, sender};

use super::address::places;
use crate::failure::Failure;
use crate::project::caller;
use crate::workplace::Workplace;

/// So much of what was tried is told.
const LONGEST: usize = 100;
/// A chain of starters that is longer is not followed.
const MOST_STARTERS: usize = 32;

/// What is done to a session.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Act {
    Supervise,
    Answer,
}

/// Refuses a caller that may not do this to the session, and tells the session's holder of it. The holder decides as well: it
/// does not know which program asks.
pub fn require(act: Act, known: &Known, here: &Workplace) -> Result<(), Failure> {
    let caller = caller(&here.ambient)?;
    let (relation, is_granted) = relation(&caller, known, here)?;
    let action = match act {
        Act::Supervise => Action::Supervise(relation),
        Act::Answer => Action::Answer {
            relation,
            is_granted,
        },
    };
    let decided = caller.may(action);
    if decided.is_err() && known.standing == Standing::Live {
        // It is refused, whether or not somebody hears of it.
        Client::new(&known.record.socket)
            .report_refused(act.word())
            .ok();
    }
    Ok(decided?)
}

impl Act {
    const fn word(self) -> &'static str {
        match self {
            Self::Supervise => "interrupt, signal, force or stop",
            Self::Answer => "answer",
        }
    }
}

/// Tells the holder of our own session that something was refused here.
pub fn report_refused(act: &str, here: &Workplace) {
    let Side::Session(member) = here.ambient.side() else {
        return;
    };
    let known = places(here)
        .ok()
        .map(|it| catalogue::by_id(&it, member.session));
    if let Some(Ok(Some(known))) = known {
        let act = &act[..act.floor_char_boundary(LONGEST.min(act.len()))];
        // It is refused, whether or not somebody hears of it.
        Client::new(&known.record.socket).report_refused(act).ok();
    }
}

/// What the session is to the caller, and whether the caller may answer for those that it started.
fn relation(caller: &Caller, known: &Known, here: &Workplace) -> Result<(Relation, bool), Failure> {
    let holder: Identity = known.record.holder.into();
    let chain = ancestry(holder.pid).into_iter();
    let mut chain: Vec<_> = chain.map(|it| it.identity).collect();
    if chain.first() != Some(&holder) {
        // It has ended: nothing is above it any more.
        chain = vec![holder];
    }
    let places = places(here)?;
    if let Side::Session(member) = sender::own_side(Some(&chain), Some(&places)) {
        return Ok((member.relation, member.may_answer));
    }
    let Caller::Session { session, .. } = caller else {
        return Ok((Relation::Beside, false));
    };
    if *session == known.record.id {
        return Ok((Relation::Itself, false));
    }
    let mut starter = known.record.started_by;
    for _ in 0..MOST_STARTERS {
        match starter {
            Some(id) if id == *session => return Ok((Relation::Started, false)),
            Some(id) => {
                let above = catalogue::by_id(&places, id).ok().flatten();
                starter = above.and_then(|it| it.record.started_by);
            }
            None => break,
        }
    }
    Ok((Relation::Beside, false))
}
