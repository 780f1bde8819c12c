//! Who is at the other end of a connection over the loopback: the kernel's table has the number of the socket, and processes have
//! sockets open. Only those that a filter of system calls holds are looked at, because only who is in a sandbox is to be told apart.

use std::collections::BTreeSet;
use std::fs;
use std::net::SocketAddr;

use crate::ancestry::filters;
use crate::listening::sockets;

/// Who is at the other end.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Connector {
    /// One of these processes, each of which a filter holds.
    Held(Vec<u32>),
    /// One whom no filter holds.
    Free,
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
    let held: Vec<u32> = processes()
        .filter(|pid| filters(*pid).is_some_and(|it| it > 0) && may_have(*pid, &wanted))
        .collect();
    match held.is_empty() {
        true => Connector::Free,
        false => Connector::Held(held),
    }
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

/// One who does not let us see what it has open may have it.
fn may_have(pid: u32, wanted: &BTreeSet<String>) -> bool {
    sockets(pid).is_none_or(|open| open.iter().any(|it| wanted.contains(it)))
}

#[cfg(test)]
mod tests {
    use std::net::{Ipv4Addr, TcpListener, TcpStream};

    use super::*;

    #[test]
    fn one_who_has_closed_is_gone_and_one_without_a_filter_is_free() {
        let Ok(listener) = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)) else {
            // A namespace without a loopback has no ports.
            return;
        };
        let own = listener.local_addr().unwrap();
        let guest = TcpStream::connect(own).unwrap();
        let peer = guest.local_addr().unwrap();
        // Where the tests themselves run behind a filter, we are one of the held.
        let is_held = filters(std::process::id()).is_some_and(|it| it > 0);
        let found = connector(peer, own.port());
        match found {
            Connector::Held(pids) => assert!(is_held && pids.contains(&std::process::id())),
            Connector::Free => assert!(!is_held),
            Connector::Gone => panic!("it is still there"),
        }
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
