//! Which session a message comes from: found by where its sender's process comes from, and not by what it says.
//!
//! Everything that an agent starts is below the holder of its session, also what left for a session of its own, because the
//! holder adopts it. So whoever asks from within a session is known, whatever it did to its environment. That is looked at when
//! somebody connects: one who has ended by the time that the question is read would come from nowhere. The process itself is
//! held meanwhile, so that nobody else's number is followed.

use handoff_core::SessionId;
use handoff_process::{Ancestor, Peer};

use crate::catalogue;
use crate::message::Sender;
use crate::place::Places;

/// Where somebody comes from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Origin {
    /// From outside of all sessions: a person, or a program of one.
    Outside,
    Session(Sender),
    /// It cannot be told. That is never taken for a person.
    Unknown,
}

/// The innermost session that the one who connected belongs to.
pub fn of_peer(peer: &Peer, places: &Places) -> Origin {
    let Some(above) = peer.whole_ancestry() else {
        return Origin::Unknown;
    };
    let mut sessions = above.iter().filter_map(|it| held_by(it, places));
    sessions.next().map_or(Origin::Outside, Origin::Session)
}

/// Many processes may name a session in their arguments; its holder is the one in its record.
fn held_by(ancestor: &Ancestor, places: &Places) -> Option<Sender> {
    let words = ancestor.arguments().into_iter();
    let mut named = words.filter_map(|word| word.to_str()?.parse::<SessionId>().ok());
    named.find_map(|id| {
        let record = catalogue::by_id(places, id).ok()??.record;
        (record.holder == ancestor.identity.into()).then_some(Sender {
            session: record.id,
            name: record.name,
        })
    })
}
