//! How often a line editor has stopped reading: it switches bracketed paste off each time.
//!
//! The emulator knows only whether it is on now, and a quick command switches it off and on within one look.

const OFF: &[u8] = b"\x1b[?2004l";

/// Counts in bytes that come in pieces.
#[derive(Debug, Default)]
pub(super) struct Readings {
    ended: u64,
    /// How much of [`OFF`] the last bytes are.
    matched: usize,
}

impl Readings {
    pub(super) const fn ended(&self) -> u64 {
        self.ended
    }

    pub(super) fn hear(&mut self, bytes: &[u8]) {
        let mut rest = bytes;
        while !rest.is_empty() {
            if self.matched == 0 {
                // Most output has no escapes at all.
                match memchr::memchr(OFF[0], rest) {
                    Some(at) => rest = &rest[at..],
                    None => return,
                }
            }
            self.step(rest[0]);
            rest = &rest[1..];
        }
    }

    fn step(&mut self, byte: u8) {
        self.matched = match byte {
            _ if byte == OFF[self.matched] => self.matched + 1,
            _ if byte == OFF[0] => 1,
            _ => 0,
        };
        if self.matched == OFF.len() {
            self.matched = 0;
            self.ended += 1;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_end_counts_once_however_the_bytes_come() {
        let text = b"a\x1b[?2004l\x1b[?2004h\x1b[?200\x1b[?2004lx\x1b[?2004\x1b";
        for size in 1..text.len() {
            let mut readings = Readings::default();
            text.chunks(size).for_each(|piece| readings.hear(piece));
            assert_eq!(readings.ended(), 2, "in pieces of {size}");
        }
    }
}
