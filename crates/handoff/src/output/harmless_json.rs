//! JSON that is also harmless on a terminal: what [`super::plain()`] would escape goes out as `\\uXXXX`, which means the same to a
//! program.

use std::io::{self, Write};

use handoff_core::visible::is_hidden;
use serde::Serialize;
use serde_json::Serializer;
use serde_json::ser::Formatter;

/// One document on one line.
pub(crate) fn harmless_json(value: &impl Serialize) -> io::Result<Vec<u8>> {
    let mut bytes = vec![];
    value.serialize(&mut Serializer::with_formatter(&mut bytes, Harmless))?;
    Ok(bytes)
}

struct Harmless;

impl Formatter for Harmless {
    fn write_string_fragment<W: ?Sized + Write>(
        &mut self,
        writer: &mut W,
        fragment: &str,
    ) -> io::Result<()> {
        let mut rest = fragment;
        while let Some((place, character)) = rest.char_indices().find(|(_, it)| is_hidden(*it)) {
            writer.write_all(&rest.as_bytes()[..place])?;
            for unit in character.encode_utf16(&mut [0; 2]) {
                write!(writer, "\\u{unit:04x}")?;
            }
            rest = &rest[place + character.len_utf8()..];
        }
        writer.write_all(rest.as_bytes())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_dangerous_goes_out_and_nothing_is_lost() {
        let text = "a\u{9b}2J\u{7f}\u{202e}b\u{e0041}c\u{1b}d";
        let json = String::from_utf8(harmless_json(&text).unwrap()).unwrap();
        assert!(
            json.chars().all(|character| !is_hidden(character)),
            "{json}"
        );
        assert_eq!(serde_json::from_str::<String>(&json).unwrap(), text);
    }
}
