//! What the kernel says of a process in `/proc/<pid>/stat`.

use std::fs::File;
use std::io::{self, Read as _};

/// Some fifty numbers and a name of at most 64 bytes.
const LONGEST: usize = 2048;

/// The fields that matter here.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Stat {
    pub(crate) life: Life,
    pub(crate) parent: u32,
    /// In the kernel's ticks since boot.
    pub(crate) started: u64,
    /// The time that it and its reaped children have used, in ticks.
    pub(crate) used: u64,
}

/// Whether a process can still do anything.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Life {
    Alive,
    /// Somebody has stopped it.
    Stopped,
    /// It has ended and waits to be reaped.
    Ended,
}

impl Stat {
    pub(crate) fn read(pid: u32) -> io::Result<Self> {
        // The kernel hands out all of it at once, and some look at hundreds of processes.
        let mut text = [0; LONGEST];
        let length = File::open(format!("/proc/{pid}/stat"))?.read(&mut text)?;
        Self::parse(&text[..length]).ok_or_else(|| {
            io::Error::new(
                io::ErrorKind::InvalidData,
                "`stat` has not the expected form",
            )
        })
    }

    /// The second field is the program's name, which may hold blanks and parentheses, so fields
    /// are counted from the last parenthesis on.
    fn parse(text: &[u8]) -> Option<Self> {
        let name_end = text.iter().rposition(|&byte| byte == b')')?;
        let rest = str::from_utf8(&text[name_end + 1..]).ok()?;
        let mut fields = rest.split_ascii_whitespace();
        let life = match fields.next()? {
            "Z" | "X" | "x" => Life::Ended,
            "T" => Life::Stopped,
            _ => Life::Alive,
        };
        let parent = fields.next()?.parse().ok()?;
        let mut fields = fields.skip(14 - 5);
        let mut used = 0u64;
        for _ in 14..=17 {
            used = used.saturating_add(fields.next()?.parse().ok()?);
        }
        let started = fields.nth(22 - 18)?.parse().ok()?;
        Some(Self {
            life,
            parent,
            started,
            used,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_with_parentheses_does_not_shift_the_fields() {
        let rest = (5..=21)
            .map(|field| format!("{field} "))
            .collect::<String>();
        let line = |state: char| format!("17 (a) R 9 (b) {state} 7 {rest}4711 23 24\n");
        let stat = |life| Stat {
            life,
            parent: 7,
            started: 4711,
            used: 14 + 15 + 16 + 17,
        };
        assert_eq!(Stat::parse(line('S').as_bytes()), Some(stat(Life::Alive)));
        assert_eq!(Stat::parse(line('T').as_bytes()), Some(stat(Life::Stopped)));
        assert_eq!(Stat::parse(line('Z').as_bytes()), Some(stat(Life::Ended)));
        assert_eq!(Stat::parse(b"17 (a) S 4"), None);
    }
}
