//! Bytes that a TOML string cannot hold.

use serde::Deserialize;

/// Bytes written as `'caf\xc3\e[31m'`: text with `\xHH`, `\e`, `\a`, `\b`, `\0`, `\n`, `\r`, `\t`
/// and `\\`.
///
/// TOML's own escapes name characters, so `"\xff"` would give the two bytes of `ÿ`; a literal
/// string in single quotes reaches us as written.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(try_from = "String")]
pub struct RawBytes(Vec<u8>);

impl RawBytes {
    pub fn as_slice(&self) -> &[u8] {
        &self.0
    }
}

impl TryFrom<String> for RawBytes {
    type Error = String;

    fn try_from(text: String) -> Result<Self, String> {
        let mut bytes = Vec::with_capacity(text.len());
        let mut rest = text.as_str();
        while let Some(backslash) = rest.find('\\') {
            bytes.extend_from_slice(&rest.as_bytes()[..backslash]);
            rest = &rest[backslash + 1..];
            let (byte, taken) = escape(rest).ok_or_else(|| {
                let shown: String = rest.chars().take(3).collect();
                format!(
                    "`\\{shown}` is no escape; use \\xHH, \\e, \\a, \\b, \\0, \\n, \\r, \\t or \\\\"
                )
            })?;
            bytes.push(byte);
            rest = &rest[taken..];
        }
        bytes.extend_from_slice(rest.as_bytes());
        Ok(Self(bytes))
    }
}

/// The byte that the escape at the start of `text` stands for, and its length.
fn escape(text: &str) -> Option<(u8, usize)> {
    let byte = match text.bytes().next()? {
        b'x' => return Some((hex(text.get(1..3)?)?, 3)),
        b'e' => 0x1b,
        b'a' => 0x07,
        b'b' => 0x08,
        b'0' => 0x00,
        b'n' => b'\n',
        b'r' => b'\r',
        b't' => b'\t',
        b'\\' => b'\\',
        _ => return None,
    };
    Some((byte, 1))
}

fn hex(digits: &str) -> Option<u8> {
    // `from_str_radix` alone would take a sign.
    let all_digits = digits.bytes().all(|byte| byte.is_ascii_hexdigit());
    all_digits.then(|| u8::from_str_radix(digits, 16).ok())?
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Result<Vec<u8>, String> {
        RawBytes::try_from(text.to_owned()).map(|RawBytes(bytes)| bytes)
    }

    #[test]
    fn escapes_become_bytes() {
        assert_eq!(
            read(r"caf\xc3\e[0m\\\0é"),
            Ok(b"caf\xc3\x1b[0m\\\0\xc3\xa9".to_vec())
        );
    }

    #[test]
    fn anything_else_after_a_backslash_is_refused() {
        for text in [r"\q", r"\x1", r"\x+1", r"\xgg", "\\", r"\é"] {
            assert!(read(text).is_err(), "{text}");
        }
    }
}
