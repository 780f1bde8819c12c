//! Keys: who sealed a package. Ed25519, in hexadecimal wherever they are text.

use std::fmt;
use std::str::FromStr;

use handoff_core::Digest;
use handoff_core::package::KeyId;
use ring::signature::{ED25519, Ed25519KeyPair, KeyPair as _, UnparsedPublicKey};

/// What a signature is checked with.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct PublicKey([u8; 32]);

/// A text that is no public key.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("a public key has 64 lower-case hexadecimal digits, as `handoff keys export` prints it")]
pub struct PublicKeyError;

impl PublicKey {
    /// As people compare it.
    #[must_use]
    pub fn id(&self) -> KeyId {
        let digest = Digest::of(&self.0);
        let id = format!("key_{}", &digest.as_str()[..16]);
        id.parse().expect("a prefix and hexadecimal digits")
    }

    pub(crate) fn has_signed(&self, message: &[u8], signature: &[u8]) -> bool {
        UnparsedPublicKey::new(&ED25519, self.0)
            .verify(message, signature)
            .is_ok()
    }
}

impl fmt::Display for PublicKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&to_hex(&self.0))
    }
}

impl fmt::Debug for PublicKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl FromStr for PublicKey {
    type Err = PublicKeyError;

    fn from_str(text: &str) -> Result<Self, PublicKeyError> {
        from_hex(text.as_bytes()).map(Self).ok_or(PublicKeyError)
    }
}

/// What a package is sealed with.
pub struct KeyPair(Ed25519KeyPair);

impl KeyPair {
    /// The key that a secret stands for.
    #[must_use]
    pub fn from_secret(secret: &[u8; 32]) -> Self {
        let pair = Ed25519KeyPair::from_seed_unchecked(secret);
        Self(pair.expect("every 32 bytes are the secret of a key"))
    }

    /// What others check its signatures with.
    #[must_use]
    pub fn public(&self) -> PublicKey {
        let bytes = self.0.public_key().as_ref();
        PublicKey(bytes.try_into().expect("a public key has 32 bytes"))
    }

    pub(crate) fn sign(&self, message: &[u8]) -> String {
        to_hex(self.0.sign(message).as_ref())
    }
}

impl fmt::Debug for KeyPair {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "KeyPair({})", self.public())
    }
}

pub(crate) fn to_hex(bytes: &[u8]) -> String {
    const DIGITS: &[u8; 16] = b"0123456789abcdef";
    let digit = |nibble: u8| char::from(DIGITS[usize::from(nibble)]);
    let digits = bytes
        .iter()
        .flat_map(|byte| [digit(byte >> 4), digit(byte & 15)]);
    digits.collect()
}

/// Lower case only: there is one spelling.
pub(crate) fn from_hex<const LENGTH: usize>(text: &[u8]) -> Option<[u8; LENGTH]> {
    let nibble = |byte: u8| match byte {
        b'0'..=b'9' => Some(byte - b'0'),
        b'a'..=b'f' => Some(byte - b'a' + 10),
        _ => None,
    };
    let mut bytes = [0; LENGTH];
    if text.len() != LENGTH * 2 {
        return None;
    }
    for (byte, pair) in bytes.iter_mut().zip(text.chunks_exact(2)) {
        *byte = nibble(pair[0])? << 4 | nibble(pair[1])?;
    }
    Some(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_signature_is_of_one_key_and_one_message() {
        let (ours, other) = (
            KeyPair::from_secret(&[1; 32]),
            KeyPair::from_secret(&[2; 32]),
        );
        let signature: [u8; 64] = from_hex(ours.sign(b"a").as_bytes()).unwrap();
        assert!(ours.public().has_signed(b"a", &signature));
        assert!(!ours.public().has_signed(b"b", &signature));
        assert!(!other.public().has_signed(b"a", &signature));
        assert!(!ours.public().has_signed(b"", &[]));
    }

    #[test]
    fn a_key_has_one_spelling() {
        let key = KeyPair::from_secret(&[1; 32]).public();
        assert_eq!(key.to_string().parse(), Ok(key));
        let upper = key.to_string().to_uppercase();
        for text in ["", "ab", &upper, &format!("{key} ")] {
            assert_eq!(text.parse::<PublicKey>(), Err(PublicKeyError));
        }
    }
}
