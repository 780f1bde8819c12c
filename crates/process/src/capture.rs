//! What a program printed, within a bound: however much it is, our memory does not grow with it.
//!
//! Bytes are kept as they came; nothing here decodes, escapes or shows them.

use std::collections::VecDeque;
use std::fmt;

/// How much is kept of what a program prints, in bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Bound {
    /// The last so many; what came before is dropped and counted.
    Last(usize),
    /// All of it; a program that prints more is ended.
    Whole(usize),
}

/// One of the two things a program prints to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Stream {
    /// Standard output.
    Stdout,
    /// Standard error.
    Stderr,
}

/// What is kept of one stream.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Captured {
    bytes: VecDeque<u8>,
    dropped: u64,
    bound: Bound,
}

/// A program printed more than the whole that was allowed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Overflow {
    pub(crate) limit: usize,
}

impl Captured {
    pub(crate) const fn new(bound: Bound) -> Self {
        Self {
            bytes: VecDeque::new(),
            dropped: 0,
            bound,
        }
    }

    pub(crate) fn push(&mut self, more: &[u8]) -> Result<(), Overflow> {
        let limit = match self.bound {
            Bound::Whole(limit) if self.bytes.len() + more.len() > limit => {
                return Err(Overflow { limit });
            }
            Bound::Last(limit) | Bound::Whole(limit) => limit,
        };
        let kept = &more[more.len().saturating_sub(limit)..];
        let excess = (self.bytes.len() + kept.len()).saturating_sub(limit);
        self.bytes.drain(..excess);
        self.bytes.extend(kept);
        self.dropped += (excess + more.len() - kept.len()) as u64;
        Ok(())
    }

    /// What was kept: the end of what was printed.
    #[must_use]
    pub fn to_bytes(&self) -> Vec<u8> {
        self.bytes.iter().copied().collect()
    }

    /// How many bytes came before what was kept.
    #[must_use]
    pub const fn dropped(&self) -> u64 {
        self.dropped
    }
}

impl From<Captured> for Vec<u8> {
    fn from(captured: Captured) -> Self {
        captured.bytes.into()
    }
}

impl fmt::Display for Stream {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Stdout => "standard output",
            Self::Stderr => "standard error",
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn captured(bound: Bound, pieces: &[&str]) -> Result<(String, u64), Overflow> {
        let mut captured = Captured::new(bound);
        pieces
            .iter()
            .try_for_each(|piece| captured.push(piece.as_bytes()))?;
        let kept = String::from_utf8(captured.to_bytes()).unwrap();
        Ok((kept, captured.dropped()))
    }

    #[test]
    fn the_last_bytes_are_kept_and_the_others_counted() {
        let table: [(&[&str], &str, u64); 5] = [
            (&[], "", 0),
            (&["abcd"], "abcd", 0),
            (&["ab", "cd", "e"], "bcde", 1),
            (&["ab", "cdefghi"], "fghi", 5),
            (&["abcdef", "g"], "defg", 3),
        ];
        for (pieces, kept, dropped) in table {
            assert_eq!(
                captured(Bound::Last(4), pieces),
                Ok((kept.to_owned(), dropped))
            );
        }
    }

    #[test]
    fn a_whole_is_never_cut() {
        assert_eq!(
            captured(Bound::Whole(4), &["ab", "cd"]),
            Ok(("abcd".to_owned(), 0))
        );
        assert_eq!(
            captured(Bound::Whole(4), &["ab", "cde"]),
            Err(Overflow { limit: 4 })
        );
    }
}
