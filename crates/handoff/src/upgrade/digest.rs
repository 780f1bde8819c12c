//! SHA-256 digests, and the lists of them that lie beside a release.

use std::fmt;

use sha2::{Digest as _, Sha256};

/// What a file must hash to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Digest([u8; 32]);

/// A list of checksums that does not say what a file must hash to.
#[derive(Debug, thiserror::Error, PartialEq, Eq)]
pub(crate) enum ChecksumError {
    #[error("the list of checksums is not text")]
    NotText(#[source] std::str::Utf8Error),
    #[error("the list of checksums does not name `{0}`")]
    Missing(String),
    #[error("the list of checksums has more than one for `{0}`")]
    Several(String),
    #[error("the checksum of `{0}` is not 64 hexadecimal digits")]
    NotADigest(String),
}

impl Digest {
    pub(crate) fn of(bytes: &[u8]) -> Self {
        Self(Sha256::digest(bytes).into())
    }

    /// What a list as `sha256sum` writes it says of `file`. A single digest without a name is meant for it too.
    pub(crate) fn listed(list: &[u8], file: &str) -> Result<Self, ChecksumError> {
        let list = str::from_utf8(list).map_err(ChecksumError::NotText)?;
        let lines: Vec<&str> = list.lines().filter(|it| !it.trim().is_empty()).collect();
        let entries: Vec<&str> = match &lines[..] {
            [only] if !only.trim().contains(char::is_whitespace) => vec![only.trim()],
            lines => lines.iter().filter_map(|it| entry(it, file)).collect(),
        };
        match &entries[..] {
            [] => Err(ChecksumError::Missing(file.to_owned())),
            [text] => Self::parse(text).ok_or_else(|| ChecksumError::NotADigest(file.to_owned())),
            [_, _, ..] => Err(ChecksumError::Several(file.to_owned())),
        }
    }

    fn parse(text: &str) -> Option<Self> {
        let mut bytes = [0; 32];
        if text.len() != 64 || !text.bytes().all(|byte| byte.is_ascii_hexdigit()) {
            return None;
        }
        for (index, byte) in bytes.iter_mut().enumerate() {
            *byte = u8::from_str_radix(&text[2 * index..2 * index + 2], 16).ok()?;
        }
        Some(Self(bytes))
    }
}

/// The digest on a line `digest  name` or `digest *name`, if the name is that of `file`.
fn entry<'a>(line: &'a str, file: &str) -> Option<&'a str> {
    let (digest, name) = line.trim().split_once(char::is_whitespace)?;
    let name = name.trim_start();
    let name = name.strip_prefix('*').unwrap_or(name);
    let name = name.strip_prefix("./").unwrap_or(name);
    (name == file).then_some(digest)
}

impl fmt::Display for Digest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.iter().try_for_each(|byte| write!(f, "{byte:02x}"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const EMPTY: &str = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855";

    fn listed(list: &str) -> Result<Digest, ChecksumError> {
        Digest::listed(list.as_bytes(), "handoff-x")
    }

    #[test]
    fn every_common_form_of_a_list_is_read() {
        let other = "0".repeat(64);
        for list in [
            EMPTY.to_owned(),
            format!("{EMPTY}\n"),
            EMPTY.to_uppercase(),
            format!("{EMPTY}  handoff-x\n"),
            format!("{EMPTY} *handoff-x\r\n"),
            format!("{EMPTY}  ./handoff-x\n"),
            format!("{other}  handoff-y\n\n{EMPTY}  handoff-x\n{other}  handoff-x.sha256\n"),
        ] {
            assert_eq!(listed(&list), Ok(Digest::of(b"")), "{list:?}");
        }
    }

    #[test]
    fn a_list_that_leaves_doubt_is_refused() {
        let file = || "handoff-x".to_owned();
        let table = [
            (String::new(), ChecksumError::Missing(file())),
            (
                format!("{EMPTY}  handoff-y\n"),
                ChecksumError::Missing(file()),
            ),
            (
                format!("{EMPTY}\n{EMPTY}\n"),
                ChecksumError::Missing(file()),
            ),
            (
                format!("{EMPTY}  handoff-x\n{EMPTY}  handoff-x\n"),
                ChecksumError::Several(file()),
            ),
            ("<html>".to_owned(), ChecksumError::NotADigest(file())),
            (
                format!("{}  handoff-x\n", &EMPTY[1..]),
                ChecksumError::NotADigest(file()),
            ),
            (
                format!("é{}", &EMPTY[2..]),
                ChecksumError::NotADigest(file()),
            ),
        ];
        for (list, expected) in table {
            assert_eq!(listed(&list), Err(expected), "{list:?}");
        }
        let binary = Digest::listed(b"\xff", "x");
        assert!(matches!(binary, Err(ChecksumError::NotText(_))));
    }

    #[test]
    fn a_digest_is_written_as_it_is_read() {
        assert_eq!(Digest::of(b"").to_string(), EMPTY);
    }
}
