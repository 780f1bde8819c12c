//! What a session or a person shows to be let in: 32 random bytes, of which a holder keeps only the digest.
//!
//! A token is never an argument, never in a record, a journal or a log; its `Debug` form has nothing of it.

use std::fmt;
use std::str::FromStr;

use handoff_core::Digest;

const PREFIX: &str = "hst_";

/// A secret that says who asks.
#[derive(Clone, PartialEq, Eq)]
pub struct Token(String);

/// A text that is no token.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("a token is `hst_` and 64 hexadecimal digits")]
pub struct TokenError;

impl Token {
    /// The token of these bytes, which must be random.
    pub fn new(random: [u8; 32]) -> Self {
        // Only for its form: the digits of the bytes themselves.
        Self(format!("{PREFIX}{}", Digest::from_bytes(random).as_str()))
    }

    /// The secret itself, for the environment of an agent, a private file, or a header.
    pub fn reveal(&self) -> &str {
        &self.0
    }

    /// What is kept of it. Comparing digests tells nothing about the token by the time it takes.
    pub fn digest(&self) -> Digest {
        Digest::of(self.0.as_bytes())
    }
}

impl FromStr for Token {
    type Err = TokenError;

    fn from_str(text: &str) -> Result<Self, TokenError> {
        let digits = text.strip_prefix(PREFIX).ok_or(TokenError)?;
        match digits.parse::<Digest>() {
            Ok(_) => Ok(Self(text.to_owned())),
            Err(_) => Err(TokenError),
        }
    }
}

impl fmt::Debug for Token {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Token")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_token_is_read_back_and_shows_nothing_of_itself() {
        let token = Token::new([0xab; 32]);
        assert_eq!(token.reveal().parse(), Ok(token.clone()));
        assert_eq!(format!("{token:?}"), "Token");
        for wrong in ["", "hst_", "hst_zz", &token.reveal()[4..]] {
            assert_eq!(wrong.parse::<Token>(), Err(TokenError), "{wrong}");
        }
    }
}
