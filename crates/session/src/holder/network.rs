//! A port for those who cannot reach the socket: only on request, only on the loopback, only with a token.

use std::io;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr, TcpListener, TcpStream};
use std::os::fd::{AsFd, BorrowedFd};
use std::str::FromStr;

use handoff_files::{Dir, Mode, WriteError, atomic};

use crate::place;
use crate::token::Token;

/// Where a holder listens besides its socket.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Address {
    pub host: Loopback,
    /// Zero takes any that is free.
    pub port: u16,
}

/// This machine, as it is called by itself. There is no other: what leaves the machine would need encryption.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Loopback {
    #[default]
    V4,
    V6,
}

/// A host that other machines can reach, or none at all.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("a session listens on this machine only: `localhost`, `127.0.0.1` or `::1`")]
pub struct LoopbackError;

/// A port could not be opened.
#[derive(Debug, thiserror::Error)]
pub enum NetworkError {
    #[error("cannot listen on {0}")]
    Listen(SocketAddr, #[source] io::Error),
    #[error("cannot write the token of the port")]
    Token(#[source] WriteError),
}

/// A port that is listened on.
pub(super) struct Network {
    listener: TcpListener,
    address: SocketAddr,
}

impl Loopback {
    pub const fn name(self) -> &'static str {
        match self {
            Self::V4 => "127.0.0.1",
            Self::V6 => "::1",
        }
    }

    const fn ip(self) -> IpAddr {
        match self {
            Self::V4 => IpAddr::V4(Ipv4Addr::LOCALHOST),
            Self::V6 => IpAddr::V6(Ipv6Addr::LOCALHOST),
        }
    }
}

impl FromStr for Loopback {
    type Err = LoopbackError;

    fn from_str(text: &str) -> Result<Self, LoopbackError> {
        match text {
            "localhost" | "127.0.0.1" => Ok(Self::V4),
            "::1" | "[::1]" => Ok(Self::V6),
            _ => Err(LoopbackError),
        }
    }
}

impl Network {
    pub(super) fn open(wanted: Address) -> Result<Self, NetworkError> {
        let address = SocketAddr::new(wanted.host.ip(), wanted.port);
        let failed = |error| NetworkError::Listen(address, error);
        let listener = TcpListener::bind(address).map_err(failed)?;
        listener.set_nonblocking(true).map_err(failed)?;
        let address = listener.local_addr().map_err(failed)?;
        Ok(Self { listener, address })
    }

    pub(super) const fn port(&self) -> u16 {
        self.address.port()
    }

    /// The next one who waits. A page of a browser that came here is told apart by what it says, not by where it is.
    pub(super) fn accept(&self) -> Option<TcpStream> {
        while let Ok((stream, _)) = self.listener.accept() {
            // Small answers are not to wait for more to say.
            if stream
                .set_nonblocking(true)
                .and(stream.set_nodelay(true))
                .is_ok()
            {
                return Some(stream);
            }
        }
        None
    }
}

impl AsFd for Network {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.listener.as_fd()
    }
}

/// Writes the token down for those who may read what is ours.
pub(super) fn publish(token: &Token, directory: &Dir) -> Result<(), NetworkError> {
    let text = format!("{}\n", token.reveal());
    atomic::replace(
        directory,
        place::NETWORK_TOKEN,
        text.as_bytes(),
        Mode::Private,
    )
    .map_err(NetworkError::Token)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_this_machine_is_listened_on() {
        let table = [
            ("localhost", Ok(Loopback::V4)),
            ("127.0.0.1", Ok(Loopback::V4)),
            ("::1", Ok(Loopback::V6)),
            ("0.0.0.0", Err(LoopbackError)),
            ("::", Err(LoopbackError)),
            ("192.168.1.7", Err(LoopbackError)),
            ("localhost.evil.example", Err(LoopbackError)),
            ("", Err(LoopbackError)),
        ];
        for (text, expected) in table {
            assert_eq!(text.parse(), expected, "{text}");
        }
    }
}
