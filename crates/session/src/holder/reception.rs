//! Who is connected: those who came by the socket and those who came by the port, each within a bound.

use std::net::TcpStream;

use handoff_process::Peer;

use super::Holder;
use super::guest::Guest;
use super::stream::Stream;
use crate::control::Entrance;
use crate::sender::{self, Origin};

/// How many may be connected at a time by each way: whoever fills the port keeps nobody from the socket.
const MOST_GUESTS: usize = 64;

impl Holder<'_> {
    /// Lets in all who knock.
    pub(super) fn welcome(&mut self) {
        while let Some(stream) = self.socket.accept() {
            self.seat(Stream::Local(stream), Entrance::Socket);
        }
        while let Some((stream, port)) = self.knocking() {
            self.seat(Stream::Network(stream), Entrance::Network { port });
        }
    }

    fn knocking(&self) -> Option<(TcpStream, u16)> {
        let network = self.network.as_ref()?;
        Some((network.accept()?, network.port()))
    }

    /// Whoever came by the network is known by a token only.
    fn origin(&self, stream: &Stream) -> Origin {
        match stream {
            Stream::Network(_) => Origin::Outside,
            Stream::Local(stream) => {
                let peer = Peer::of(stream);
                peer.map_or(Origin::Unknown, |peer| sender::of_peer(&peer, &self.places))
            }
        }
    }

    /// Where there is no room, the one who has not asked for longest leaves.
    fn seat(&mut self, stream: Stream, entrance: Entrance) {
        let is_rival = |it: &Guest| it.came_by(entrance);
        if self.guests.iter().filter(|it| is_rival(it)).count() >= MOST_GUESTS {
            let slowest = |it: &Guest| is_rival(it) && it.is_asking();
            match self.guests.iter().position(slowest) {
                Some(slowest) => drop(self.guests.remove(slowest)),
                None => return,
            }
        }
        let origin = self.origin(&stream);
        self.guests.push(Guest::new(stream, entrance, origin));
    }
}
