//! Who is connected: those who came by the socket and those who came by the port, each within a bound.

use std::net::TcpStream;
use std::rc::Rc;

use handoff_core::time::Nanos;
use handoff_process::Peer;
use rustix::event::PollFlags;

use super::Holder;
use super::guest::Guest;
use super::stream::Stream;
use crate::control::Entrance;
use crate::sender;
use crate::side::Side;

/// How many may be connected at a time by each way: whoever fills the port keeps nobody from the socket.
const MOST_GUESTS: usize = 64;

impl Holder<'_> {
    /// Lets in all who knock, and hears them: most have asked by then, and are spared another turn.
    pub(super) fn welcome(&mut self, now: Nanos) {
        let before = self.guests.len();
        while let Some(stream) = self.socket.accept() {
            let peer = Peer::of(&stream);
            let side = match &peer {
                // Nothing holds it: it is looked at when it wants more than to look.
                Some(peer) if peer.filters() == Some(0) => None,
                Some(peer) => Some(sender::side_of(peer, &self.own, &self.places)),
                None => Some(Side::Unknown),
            };
            self.seat(Stream::Local(stream), Entrance::Socket { side }, peer);
        }
        // Whoever came by the network is known by a token, and looked at when it has shown one.
        while let Some((stream, port)) = self.knocking() {
            self.seat(Stream::Network(stream), Entrance::Network { port }, None);
        }
        // Somebody may have left for them; to hear one who has said nothing does no harm.
        let mut ready = vec![PollFlags::empty(); before.min(self.guests.len())];
        ready.resize(self.guests.len(), PollFlags::IN);
        self.serve(&ready, now);
    }

    fn knocking(&self) -> Option<(TcpStream, u16)> {
        let network = self.network.as_ref()?;
        Some((network.accept()?, network.port()))
    }

    /// Where there is no room, the one who has not asked for longest leaves.
    fn seat(&mut self, stream: Stream, entrance: Entrance, peer: Option<Peer>) {
        let is_rival = |it: &Guest| it.came_by(entrance);
        if self.guests.iter().filter(|it| is_rival(it)).count() >= MOST_GUESTS {
            let slowest = |it: &Guest| is_rival(it) && it.is_asking();
            match self.guests.iter().position(slowest) {
                Some(slowest) => drop(self.guests.remove(slowest)),
                None => return,
            }
        }
        let own = Rc::clone(&self.own);
        self.guests.push(Guest::new(stream, entrance, peer, own));
    }
}
