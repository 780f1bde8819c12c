//! Which session a message comes from: found by where its sender's process comes from, and not by what it says.
//!
//! Everything that an agent starts is below the holder of its session, also what left for a session of its own, because the
//! holder adopts it. So whoever asks from within a session is known, whatever it did to its environment. The process
//! itself is held from when it connects, so that nobody else's number is followed, and followed upwards only if it sends something:
//! that reads a dozen files, and most only ask how things are. One who has ended by then comes from nowhere.

use std::net::SocketAddr;

use handoff_core::SessionId;
use handoff_process::{Ancestor, Connector, Identity, Peer, connector, whole_ancestry};

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

/// The side of the sandbox that somebody is on who connected. `own` are the holder and the processes above it, the nearest
/// first. One whom no filter holds is in no sandbox, and then nobody above it has to be looked at.
pub fn side_of(peer: &Peer, own: &[Identity]) -> Side {
    let Some((holder, above)) = own.split_first() else {
        return Side::Unknown;
    };
    if peer.filters() == Some(0) {
        return Side::Free;
    }
    // One in the middle may end while we look, and then the chain is another one.
    let links = (0..LOOKS).find_map(|_| side::links(&peer.whole_ancestry()?));
    match links {
        // One who ended while we looked may have been somebody else.
        Some(links) if peer.lives() => side::judge(&links, *holder, above),
        Some(_) | None => Side::Unknown,
    }
}

/// The same for one who came by a port of ours, from this address of the loopback.
pub fn side_of_port(peer: SocketAddr, port: u16, own: &[Identity]) -> Side {
    let Some((holder, above)) = own.split_first() else {
        return Side::Unknown;
    };
    let held = match connector(peer, port) {
        Connector::Free => return Side::Free,
        Connector::Gone => return Side::Unknown,
        Connector::Held(pids) => pids,
    };
    let side = |pid: &u32| {
        let links = whole_ancestry(*pid).and_then(|chain| side::links(&chain));
        links.map_or(Side::Unknown, |links| side::judge(&links, *holder, above))
    };
    side::strictest(held.iter().map(side))
}

/// The innermost session that somebody belongs to who connected.
pub fn origin_of(peer: &Peer, places: &Places) -> Origin {
    let Some(chain) = peer.whole_ancestry() else {
        return Origin::Unknown;
    };
    let mut sessions = chain.iter().filter_map(|it| held_by(it, places));
    let origin = sessions.next().map_or(Origin::Outside, Origin::Session);
    if peer.lives() {
        origin
    } else {
        Origin::Unknown
    }
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
