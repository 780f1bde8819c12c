//! The ports of this machine that processes listen on.

use std::collections::BTreeSet;

/// A socket that waits for connections, in the kernel's table.
const LISTENS: &str = "0A";
/// 127.0.0.1, as the table writes it on a little-endian machine; on others nothing is found.
const LOOPBACK: &str = "0100007F";

/// The ports of the loopback on which one of these processes waits for connections.
#[must_use]
pub fn listening_ports(pids: &[u32]) -> Vec<u16> {
    let open = pids.iter().filter_map(|pid| sockets(*pid));
    let sockets: BTreeSet<String> = open.flatten().collect();
    if sockets.is_empty() {
        return vec![];
    }
    let table = std::fs::read_to_string("/proc/self/net/tcp").unwrap_or_default();
    table
        .lines()
        .filter_map(|row| port(row, &sockets))
        .collect()
}

/// The numbers of the sockets that a process has open; none if it does not let us see.
pub(crate) fn sockets(pid: u32) -> Option<Vec<String>> {
    let entries = std::fs::read_dir(format!("/proc/{pid}/fd")).ok()?;
    let links = entries.filter_map(|entry| std::fs::read_link(entry.ok()?.path()).ok());
    let numbers = links.filter_map(|link| {
        let number = link.to_str()?.strip_prefix("socket:[")?.strip_suffix(']')?;
        Some(number.to_owned())
    });
    Some(numbers.collect())
}

/// A row has its number, the local address, the other one, the state, and further on the socket.
fn port(row: &str, sockets: &BTreeSet<String>) -> Option<u16> {
    let words: Vec<&str> = row.split_whitespace().collect();
    let [_, local, _, state, ..] = words.as_slice() else {
        return None;
    };
    let (address, port) = local.split_once(':')?;
    let is_ours = words.get(9).is_some_and(|socket| sockets.contains(*socket));
    let is_open = *state == LISTENS && address == LOOPBACK;
    (is_ours && is_open).then(|| u16::from_str_radix(port, 16).ok())?
}

#[cfg(test)]
mod tests {
    use std::net::{Ipv4Addr, TcpListener};

    use super::*;

    #[test]
    fn a_port_is_found_by_the_process_that_listens() {
        let Ok(listener) = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)) else {
            // A namespace without a loopback has no ports.
            return;
        };
        let port = listener.local_addr().unwrap().port();
        assert!(listening_ports(&[std::process::id()]).contains(&port));
        drop(listener);
        assert!(!listening_ports(&[std::process::id()]).contains(&port));
        assert_eq!(listening_ports(&[u32::MAX]), [0; 0]);
    }
}
