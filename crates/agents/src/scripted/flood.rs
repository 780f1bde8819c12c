//! A flood of output that whoever reads it can check byte by byte.

use std::num::NonZeroU64;

use serde::Deserialize;

/// `flood = 1_000_000` bytes that follow from `seed`; `pattern` is `lines` unless it says `bytes`,
/// and `bytes_per_second` slows it down.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Flood {
    #[serde(rename = "flood")]
    pub length: u64,
    #[serde(default)]
    pub seed: u64,
    #[serde(default)]
    pub pattern: Pattern,
    pub bytes_per_second: Option<NonZeroU64>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Pattern {
    /// Lines of 63 printable characters and a newline. A terminal turns each `\n` into `\r\n`.
    #[default]
    Lines,
    /// Every byte there is, control characters and invalid UTF-8 among them.
    Bytes,
}

const LINE: u64 = 64;
const LETTERS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+-";

impl Flood {
    /// Fills `buffer` with the bytes of the flood from `offset` on.
    pub fn fill(&self, offset: u64, buffer: &mut [u8]) {
        let mut word = random_word(self.seed, offset / 8);
        for (position, byte) in (offset..).zip(buffer) {
            if position % 8 == 0 {
                word = random_word(self.seed, position / 8);
            }
            let random = word.to_le_bytes()[(position % 8) as usize];
            *byte = match self.pattern {
                Pattern::Bytes => random,
                Pattern::Lines if position % LINE == LINE - 1 => b'\n',
                Pattern::Lines => LETTERS[usize::from(random % 64)],
            };
        }
    }
}

/// The `index`th output of SplitMix64 from `seed`: any part of a flood can be computed alone.
fn random_word(seed: u64, index: u64) -> u64 {
    let mut word = seed.wrapping_add((index.wrapping_add(1)).wrapping_mul(0x9e37_79b9_7f4a_7c15));
    word = (word ^ (word >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    word = (word ^ (word >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    word ^ (word >> 31)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn flood(seed: u64, pattern: Pattern) -> Flood {
        Flood {
            length: 1000,
            seed,
            pattern,
            bytes_per_second: None,
        }
    }

    fn bytes(flood: &Flood, offset: u64, length: usize) -> Vec<u8> {
        let mut buffer = vec![0; length];
        flood.fill(offset, &mut buffer);
        buffer
    }

    #[test]
    fn a_part_is_the_same_computed_alone() {
        for pattern in [Pattern::Lines, Pattern::Bytes] {
            let flood = flood(7, pattern);
            let whole = bytes(&flood, 0, 1000);
            assert_eq!(bytes(&flood, 613, 200), whole[613..813]);
        }
    }

    #[test]
    fn the_seed_decides_the_bytes() {
        assert_ne!(
            bytes(&flood(1, Pattern::Lines), 0, 64),
            bytes(&flood(2, Pattern::Lines), 0, 64)
        );
    }

    #[test]
    fn lines_are_printable_and_64_bytes_long() {
        let text = String::from_utf8(bytes(&flood(3, Pattern::Lines), 0, 640)).unwrap();
        assert_eq!(text.lines().count(), 10);
        assert!(text.lines().all(|line| line.len() == 63));
        assert!(
            text.bytes()
                .all(|byte| byte == b'\n' || byte.is_ascii_graphic())
        );
    }
}
