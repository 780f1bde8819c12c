//! Who is at the other end of a connection over the loopback: the kernel's table has the number of the socket, and processes have
//! sockets open.

use std::collections::BTreeSet;
use std::fs;
use std::net::SocketAddr;

use crate::listening::sockets;

/// Who is at the other end.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Connector {
    /// One of these processes.
    Held(Vec<u32>),
    /// Nobody any more: who has ended cannot be asked where they stood.
    Gone,
}

/// Who is at `peer`, connected to our port `own`.
#[must_use]
pub fn connector(peer: SocketAddr, own: u16) -> Connector {
    let table = match peer {
        SocketAddr::V4(_) => "/proc/self/net/tcp",
        SocketAddr::V6(_) => "/proc/self/net/tcp6",
    };
    let table = fs::read_to_string(table).unwrap_or_default();
    let wanted: BTreeSet<String> = table
        .lines()
        .filter_map(|row| socket(row, peer.port(), own))
        .collect();
    if wanted.is_empty() {
        return Connector::Gone;
    }
    let mut hidden = vec![];
    let mut held = vec![];
    for pid in processes() {
        match sockets(pid) {
            Some(open) if open.iter().any(|it| wanted.contains(it)) => held.push(pid),
            Some(_) => {}
            // It does not let us see what it has open, and counts where nobody else has it.
            None => hidden.push(pid),
        }
    }
    Connector::Held(if held.is_empty() { hidden } else { held })
}

/// The socket of a row between these ports; none for one that nobody has open any more.
fn socket(row: &str, local: u16, remote: u16) -> Option<String> {
    let words: Vec<&str> = row.split_whitespace().collect();
    let port = |word: &str| u16::from_str_radix(word.rsplit_once(':')?.1, 16).ok();
    let is_it = port(words.get(1)?) == Some(local) && port(words.get(2)?) == Some(remote);
    let number = *words.get(9)?;
    (is_it && number != "0").then(|| number.to_owned())
}

fn processes() -> impl Iterator<Item = u32> {
    let entries = fs::read_dir("/proc").into_iter().flatten();
    entries.filter_map(|entry| entry.ok()?.file_name().to_str()?.parse().ok())
}

#[cfg(test)]
mod tests {
    use std::net::{Ipv4Addr, TcpListener, TcpStream};

    use super::*;

    #[test]
    fn one_who_has_closed_is_gone_and_the_others_are_found() {
        let Ok(listener) = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)) else {
            // A namespace without a loopback has no ports.
            return;
        };
        let own = listener.local_addr().unwrap();
        let guest = TcpStream::connect(own).unwrap();
        let peer = guest.local_addr().unwrap();
        let found = connector(peer, own.port());
        assert_eq!(found, Connector::Held(vec![std::process::id()]));
        drop(guest);
        assert_eq!(connector(peer, own.port()), Connector::Gone);
    }

    #[test]
    fn a_row_is_read_by_its_ports() {
        let row = "   1: 0100007F:B1D2 0100007F:10D6 01 00000000:00000000 00:00000000 00000000     0        0 81234 1";
        assert_eq!(socket(row, 0xb1d2, 0x10d6), Some("81234".to_owned()));
        assert_eq!(socket(row, 0x10d6, 0xb1d2), None);
        assert_eq!(socket(&row.replace("81234", "0"), 0xb1d2, 0x10d6), None);
        assert_eq!(socket("sl local_address", 1, 2), None);
    }
}
