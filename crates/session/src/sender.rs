//! Which session a message comes from: found by where its sender's process comes from, and not by what it says.
//!
//! Everything that an agent starts is below the holder of its session, also what left for a session of its own, because the
//! holder adopts it. So whoever asks from within a session is known, whatever it did to its environment. The process
//! itself is held from when it connects, so that nobody else's number is followed, and followed upwards only if it sends something:
//! that reads a dozen files, and most only ask how things are. One who has ended by then comes from nowhere.

use std::net::SocketAddr;

use handoff_core::SessionId;
use handoff_process::{Connector, Identity, Peer, connector, whole_ancestry};

use crate::catalogue;
use crate::message::Sender;
use crate::place::Places;
use crate::side::{self, Link, Side, Target};

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

/// Where somebody comes from who connected. `own` are the holder and the processes above it, the nearest first.
pub fn side_of(peer: &Peer, own: &[Identity], places: &Places) -> Side {
    // One in the middle may end while we look, and then the chain is another one.
    let links = (0..LOOKS).find_map(|_| side::links(&peer.whole_ancestry()?));
    match links {
        // One who ended while we looked may have been somebody else.
        Some(links) if peer.lives() => judge(&links, own, places),
        Some(_) | None => Side::Unknown,
    }
}

/// The same for one who came by a port of ours, from this address of the loopback.
pub fn side_of_port(peer: SocketAddr, port: u16, own: &[Identity], places: &Places) -> Side {
    let pids = match connector(peer, port) {
        Connector::Held(pids) => pids,
        Connector::Gone => return Side::Unknown,
    };
    let side = |pid: &u32| {
        let links = whole_ancestry(*pid).and_then(|chain| side::links(&chain));
        links.map_or(Side::Unknown, |links| judge(&links, own, places))
    };
    side::strictest(pids.iter().map(side))
}

/// Where this process comes from, and what the session of `target` is to it. `target` are its holder and the processes above that.
pub fn own_side(target: Option<&[Identity]>, places: Option<&Places>) -> Side {
    let links = (0..LOOKS).find_map(|_| side::links(&whole_ancestry(std::process::id())?));
    let Some(links) = links else {
        return Side::Unknown;
    };
    let target = target.and_then(as_target);
    side::judge(&links, target, |holder, session| {
        places.is_some_and(|places| is_holder(holder, session, places))
    })
}

/// Where the one comes from who started the holder that this process is. The holder and its warden are no session of their own.
pub fn starter_side(places: &Places) -> Side {
    let links = (0..LOOKS).find_map(|_| side::links(&whole_ancestry(std::process::id())?));
    let Some(links) = links else {
        return Side::Unknown;
    };
    let is_own = |link: &&Link| link.names_same(&links[0]);
    let own = links.iter().take_while(is_own).count();
    side::judge(&links[own..], None, |holder, session| {
        is_holder(holder, session, places)
    })
}

fn judge(links: &[Link], own: &[Identity], places: &Places) -> Side {
    match as_target(own) {
        Some(target) => side::judge(links, Some(target), |holder, session| {
            is_holder(holder, session, places)
        }),
        None => Side::Unknown,
    }
}

fn as_target(chain: &[Identity]) -> Option<Target<'_>> {
    let (holder, above) = chain.split_first()?;
    let holder = *holder;
    Some(Target { holder, above })
}

/// Whether this process is the holder in the record of the session, or stands behind it.
fn is_holder(process: Identity, session: SessionId, places: &Places) -> bool {
    let Ok(Some(known)) = catalogue::by_id(places, session) else {
        return false;
    };
    known.record.holder == process.into() || known.record.warden == Some(process.pid)
}

/// Which session one is a sender of who comes from this side.
pub fn origin_of(side: Side, places: &Places) -> Origin {
    match side {
        Side::Outside => Origin::Outside,
        Side::Check | Side::Unknown => Origin::Unknown,
        Side::Session(member) => match catalogue::by_id(places, member.session) {
            Ok(Some(known)) => Origin::Session(Sender {
                session: member.session,
                name: known.record.name,
            }),
            Ok(None) | Err(_) => Origin::Unknown,
        },
    }
}
