//! Which process is meant. A number alone may belong to a stranger by the time it is used.

use std::fs;
use std::io;

/// A process of this boot: its number, and when it started, so that a later process with the same
/// number is another one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Identity {
    /// Its number, which is also the number of its group.
    pub pid: u32,
    /// When it started, in the kernel's ticks since boot.
    pub started: u64,
}

impl Identity {
    pub(crate) fn read(pid: u32) -> io::Result<Self> {
        let stat = fs::read(format!("/proc/{pid}/stat"))?;
        let started = start_time(&stat)
            .ok_or_else(|| io::Error::new(io::ErrorKind::InvalidData, "no start time in `stat`"))?;
        Ok(Self { pid, started })
    }
}

/// Field 22. The second is the program's name, which may hold blanks and parentheses, so fields
/// are counted from the last parenthesis on.
fn start_time(stat: &[u8]) -> Option<u64> {
    let name_end = stat.iter().rposition(|&byte| byte == b')')?;
    let rest = str::from_utf8(&stat[name_end + 1..]).ok()?;
    rest.split_ascii_whitespace().nth(22 - 3)?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_with_parentheses_does_not_shift_the_fields() {
        let rest = (4..=21)
            .map(|field| format!("{field} "))
            .collect::<String>();
        let stat = format!("17 (a) R 9 (b) S {rest}4711 23 24\n");
        assert_eq!(start_time(stat.as_bytes()), Some(4711));
        assert_eq!(start_time(b"17 (a) S 4"), None);
    }
}
