//! The digest of some content: SHA-256 in hexadecimal.

use serde::{Deserialize, Serialize};
use sha2::Digest as _;

use crate::checked_text::checked_text;

/// SHA-256 of some bytes, as 64 lower-case hexadecimal digits.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct Digest(String);

/// A text that is no digest.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("a digest has 64 lower-case hexadecimal digits")]
pub struct DigestError;

checked_text!(Digest, DigestError, |text| {
    let is_lower_hex = |b: u8| b.is_ascii_digit() || (b'a'..=b'f').contains(&b);
    let is_digest = text.len() == 64 && text.bytes().all(is_lower_hex);
    is_digest.then_some(()).ok_or(DigestError)
});

impl Digest {
    /// The digest of some bytes.
    pub fn of(bytes: &[u8]) -> Self {
        Self::from_bytes(sha2::Sha256::digest(bytes).into())
    }

    /// The digest that a hash function gave as bytes.
    pub fn from_bytes(bytes: [u8; 32]) -> Self {
        const DIGITS: &[u8; 16] = b"0123456789abcdef";
        let digit = |nibble: u8| char::from(DIGITS[usize::from(nibble)]);
        let digits = bytes
            .iter()
            .flat_map(|byte| [digit(byte >> 4), digit(byte & 15)]);
        Self(digits.collect())
    }

    /// Enough of it for a person to tell two apart.
    pub fn short(&self) -> &str {
        &self.0[..12]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_become_digits_in_order() {
        let mut bytes = [0; 32];
        (bytes[0], bytes[31]) = (0x0f, 0xa0);
        let digest = Digest::from_bytes(bytes);
        assert_eq!(digest.as_str().parse(), Ok(digest.clone()));
        assert!(digest.as_str().starts_with("0f00") && digest.as_str().ends_with("00a0"));
    }
}
