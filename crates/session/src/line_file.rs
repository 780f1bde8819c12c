//! Files of lines, one JSON value each, that are only added to. A reader never takes half a line for a whole one, and one that a
//! full disk cut short does not spoil the next.

use std::fs::{File, OpenOptions};
use std::io::{self, Write as _};
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::Path;

use serde::Serialize;

/// When a line is on the disk.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Durability {
    /// Before anybody hears of it.
    Now,
    /// When the kernel gets around to it.
    Later,
}

/// Adds a line, or nothing.
pub(crate) fn append(
    path: &Path,
    value: &impl Serialize,
    durability: Durability,
) -> io::Result<()> {
    let mut bytes = serde_json::to_vec(value)?;
    bytes.push(b'\n');
    let mut file = open(path)?;
    let before = file.metadata()?.len();
    let written = file.write_all(&bytes).and_then(|()| match durability {
        Durability::Now => file.sync_data(),
        Durability::Later => Ok(()),
    });
    if written.is_err() {
        file.set_len(before)?;
    }
    written
}

/// A private file, made if it is not there.
pub(crate) fn open(path: &Path) -> io::Result<File> {
    OpenOptions::new()
        .create(true)
        .append(true)
        .mode(0o600)
        .open(path)
}

/// What such a file has; nothing if it is not there yet.
pub(crate) fn read(path: &Path) -> io::Result<Vec<u8>> {
    match std::fs::read(path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(vec![]),
        read => read,
    }
}

/// The lines that are whole.
pub(crate) fn whole_lines(bytes: &[u8]) -> impl DoubleEndedIterator<Item = &[u8]> {
    let end = bytes.iter().rposition(|byte| *byte == b'\n');
    let whole = &bytes[..end.map_or(0, |end| end + 1)];
    let lines = whole.split(|byte| *byte == b'\n');
    lines.filter(|line| !line.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn half_a_line_is_no_line() {
        let lines = |text: &'static str| whole_lines(text.as_bytes()).collect::<Vec<_>>();
        assert_eq!(lines("a\n\nb\nc"), [b"a", b"b"]);
        assert_eq!(lines("a\n"), [b"a"]);
        assert!(lines("a").is_empty() && lines("").is_empty());
    }
}
