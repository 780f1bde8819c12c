//! A JSON value as the text it was written in.
//!
//! Numbers are the reason: a parser that turns them into floating point changes every integer beyond 2^53. What is kept here is
//! the text, checked once; nobody needs to write it anew.

use std::collections::HashSet;
use std::fmt;

use serde::de::{DeserializeSeed, Deserializer, Error as _, MapAccess, SeqAccess, Visitor};
use serde::{Deserialize, Serialize};

use crate::checked_text::checked_text;

/// A JSON value in its own spelling, without white space around it.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct JsonText(String);

/// A text that is no JSON value, or one that two readers could understand differently.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum JsonTextError {
    /// Over the limit.
    #[error("the value has {length} bytes; the limit is {}", JsonText::LIMIT)]
    TooLong {
        /// Its length.
        length: usize,
    },
    /// Space before or behind it.
    #[error("there is white space around the value")]
    Padded,
    /// Not one JSON value, nested too deeply, or an object with a key twice.
    #[error("it is not one JSON value: {0}")]
    Invalid(String),
}

impl JsonText {
    /// The longest one, in bytes.
    pub const LIMIT: usize = 4 * 1024 * 1024;
    /// How deep lists and objects may nest.
    pub const DEPTH: usize = 100;

    /// The value that a text spells, with white space around it or without.
    pub fn parse(text: &str) -> Result<Self, JsonTextError> {
        text.trim_matches([' ', '\t', '\n', '\r']).parse()
    }

    /// A text as a JSON string.
    pub fn of_text(text: &str) -> Result<Self, JsonTextError> {
        serde_json::Value::from(text).to_string().parse()
    }
}

checked_text!(JsonText, JsonTextError, check);

fn check(text: &str) -> Result<(), JsonTextError> {
    if text.len() > JsonText::LIMIT {
        let length = text.len();
        return Err(JsonTextError::TooLong { length });
    }
    if text.trim() != text {
        return Err(JsonTextError::Padded);
    }
    strictly(text).map_err(|error| JsonTextError::Invalid(error.to_string()))
}

/// Whether a text is one JSON value that all readers understand alike.
pub(crate) fn strictly(text: &str) -> Result<(), serde_json::Error> {
    let mut parser = serde_json::Deserializer::from_str(text);
    Strict { depth: 0 }
        .deserialize(&mut parser)
        .and_then(|()| parser.end())
}

/// Walks a value, keeps nothing, and minds what JSON itself leaves open.
#[derive(Clone, Copy)]
struct Strict {
    depth: usize,
}

impl Strict {
    fn deeper<E: serde::de::Error>(self) -> Result<Self, E> {
        let depth = self.depth + 1;
        if depth > JsonText::DEPTH {
            let limit = JsonText::DEPTH;
            return Err(E::custom(format_args!(
                "it nests more than {limit} levels deep"
            )));
        }
        Ok(Self { depth })
    }
}

impl<'de> DeserializeSeed<'de> for Strict {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for Strict {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a JSON value")
    }

    fn visit_bool<E>(self, _: bool) -> Result<(), E> {
        Ok(())
    }

    fn visit_i64<E>(self, _: i64) -> Result<(), E> {
        Ok(())
    }

    fn visit_u64<E>(self, _: u64) -> Result<(), E> {
        Ok(())
    }

    fn visit_f64<E>(self, _: f64) -> Result<(), E> {
        Ok(())
    }

    fn visit_str<E>(self, _: &str) -> Result<(), E> {
        Ok(())
    }

    fn visit_unit<E>(self) -> Result<(), E> {
        Ok(())
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<(), A::Error> {
        let inner = self.deeper()?;
        while list.next_element_seed(inner)?.is_some() {}
        Ok(())
    }

    fn visit_map<A: MapAccess<'de>>(self, mut object: A) -> Result<(), A::Error> {
        let inner = self.deeper()?;
        let mut seen = HashSet::new();
        while let Some(key) = object.next_key::<String>()? {
            object.next_value_seed(inner)?;
            if let Some(twice) = seen.replace(key) {
                return Err(A::Error::custom(format_args!(
                    "the key {twice:?} is there twice"
                )));
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_stay_as_they_were_written() {
        for text in [
            "9007199254740993",
            "123456789012345678901234567890",
            "-0",
            "1.0",
            "1e2",
            "[18446744073709551615]",
        ] {
            assert_eq!(JsonText::parse(text).unwrap().as_str(), text);
        }
    }

    #[test]
    fn what_two_readers_could_read_differently_is_refused() {
        let deep = format!("{}{}", "[".repeat(101), "]".repeat(101));
        let bottomless = "[".repeat(100_000);
        for text in [
            "",
            "{",
            "nul",
            "NaN",
            "undefined",
            "'a'",
            "{\"a\":1,\"a\":2}",
            "{\"a\":1,\"\\u0061\":2}",
            "1 2",
            "\u{feff}1",
            "1e999",
            "01",
            &deep,
            &bottomless,
        ] {
            assert!(JsonText::parse(text).is_err(), "{text:.40}");
        }
        assert_eq!(" 1".parse::<JsonText>(), Err(JsonTextError::Padded));
        assert!(JsonText::parse(" 1\n").is_ok());
        let allowed = format!("{}{}", "[".repeat(100), "]".repeat(100));
        assert!(JsonText::parse(&allowed).is_ok());
    }
}
