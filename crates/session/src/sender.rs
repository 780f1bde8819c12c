//! Which session a message comes from: found by where its sender's process comes from, and not by what it says.
//!
//! Everything that an agent starts is below the holder of its session, also what left for a session of its own, because the
//! holder adopts it. So whoever asks from within a session is known, whatever it did to its environment. That is looked at when
//! somebody connects: one who has ended by the time that the question is read would come from nowhere. The process itself is
//! held meanwhile, so that nobody else's number is followed.

use handoff_core::SessionId;
use handoff_process::{Ancestor, Identity, Peer};

use crate::catalogue;
use crate::message::Sender;
use crate::place::Places;
use crate::side::{self, Side};

/// How often a chain that changes is looked at.
const LOOKS: usize = 3;

/// Where somebody comes from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Origin {
    /// From outside of all sessions: a person, or a program of one.
    Outside,
    Session(Sender),
    /// It cannot be told. That is never taken for a person.
    Unknown,
}

/// Who somebody is who connected: the innermost session that their process belongs to, and the side of the sandbox that it
/// is on. `own` are the holder and the processes above it, the nearest first.
pub fn of_peer(peer: &Peer, own: &[Identity], places: &Places) -> (Origin, Side) {
    let nobody = (Origin::Unknown, Side::Unknown);
    let Some((holder, above)) = own.split_first() else {
        return nobody;
    };
    // One in the middle may end while we look, and then the chain is another one.
    let seen = (0..LOOKS).find_map(|_| {
        let chain = peer.whole_ancestry()?;
        Some((side::links(&chain)?, chain))
    });
    let Some((links, chain)) = seen else {
        return nobody;
    };
    let mut sessions = chain.iter().filter_map(|it| held_by(it, places));
    let origin = sessions.next().map_or(Origin::Outside, Origin::Session);
    // One who ended while we looked may have been somebody else.
    if !peer.lives() {
        return nobody;
    }
    (origin, side::judge(&links, *holder, above))
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
