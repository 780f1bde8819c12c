//! `transcript.log`: every byte that the agent printed, as it came. When the file is full it takes the place of the older one,
//! so that at most two files of that size are kept.
//!
//! A disk that is full must not end an agent: what could not be written is counted and left out.

use std::fs::{File, OpenOptions};
use std::io::{self, Read as _, Seek as _, SeekFrom, Write as _};
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::{Path, PathBuf};

use crate::place;

/// How much of it is kept.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Limit {
    /// Files of so many bytes.
    Bytes(u64),
    /// Everything.
    Off,
}

impl Limit {
    pub const DEFAULT: Self = Self::Bytes(64 * 1024 * 1024);
}

/// The transcript that a holder writes.
#[derive(Debug)]
pub struct Transcript {
    session: PathBuf,
    file: File,
    length: u64,
    limit: Limit,
    /// How much the older file has.
    older: u64,
    printed: u64,
    missing: u64,
    dropped: u64,
}

/// Whether something that was kept had to make room.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Cut {
    None,
    /// So many bytes from the beginning are kept no longer.
    At(u64),
}

impl Transcript {
    /// Begins a transcript.
    pub fn create(session: &Path, limit: Limit) -> io::Result<Self> {
        Ok(Self {
            session: session.to_owned(),
            file: open(session)?,
            length: 0,
            limit,
            older: 0,
            printed: 0,
            missing: 0,
            dropped: 0,
        })
    }

    /// Adds what the agent printed.
    pub fn append(&mut self, bytes: &[u8]) -> Cut {
        self.printed += bytes.len() as u64;
        let before = self.dropped;
        if self.is_full() && self.rotate().is_err() {
            self.missing += bytes.len() as u64;
            return Cut::None;
        }
        match self.file.write_all(bytes) {
            Ok(()) => self.length += bytes.len() as u64,
            Err(_) => self.missing += bytes.len() as u64,
        }
        if self.dropped > before {
            Cut::At(self.dropped)
        } else {
            Cut::None
        }
    }

    /// How many bytes the agent has printed.
    pub const fn printed(&self) -> u64 {
        self.printed
    }

    /// How many of them could not be written.
    pub const fn missing(&self) -> u64 {
        self.missing
    }

    const fn is_full(&self) -> bool {
        match self.limit {
            Limit::Bytes(limit) => self.length >= limit,
            Limit::Off => false,
        }
    }

    fn rotate(&mut self) -> io::Result<()> {
        std::fs::rename(
            place::transcript(&self.session),
            place::older_transcript(&self.session),
        )?;
        self.dropped += std::mem::replace(&mut self.older, self.length);
        self.file = open(&self.session)?;
        self.length = 0;
        Ok(())
    }
}

fn open(session: &Path) -> io::Result<File> {
    OpenOptions::new()
        .create(true)
        .append(true)
        .mode(0o600)
        .open(place::transcript(session))
}

/// The end of a transcript.
#[derive(Debug)]
pub struct Tail {
    pub bytes: Vec<u8>,
    pub extent: Extent,
    /// Where the next byte of the newest file will be.
    pub end: u64,
}

/// How much of what is kept an end of it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Extent {
    /// All of it.
    Everything,
    /// There is more before it.
    Part,
}

/// The end of a transcript: its last `lines` lines, and no more than `most` bytes.
pub fn tail(session: &Path, lines: usize, most: u64) -> io::Result<Tail> {
    let (newer, end) = end_of(&place::transcript(session), most)?;
    let wanted = most.saturating_sub(newer.len() as u64);
    let needs_more = newer.iter().filter(|byte| **byte == b'\n').count() <= lines;
    let (mut bytes, older_end) = if needs_more {
        end_of(&place::older_transcript(session), wanted)?
    } else {
        (vec![], end)
    };
    bytes.extend(newer);
    let kept = older_end + end;
    let bytes = last_lines(bytes, lines);
    let extent = if bytes.len() as u64 == kept {
        Extent::Everything
    } else {
        Extent::Part
    };
    Ok(Tail { bytes, extent, end })
}

/// The last bytes of a file, and where they end.
fn end_of(path: &Path, most: u64) -> io::Result<(Vec<u8>, u64)> {
    let mut file = match File::open(path) {
        Ok(file) => file,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok((vec![], 0)),
        Err(error) => return Err(error),
    };
    let length = file.metadata()?.len();
    let start = file.seek(SeekFrom::Start(length.saturating_sub(most)))?;
    let mut bytes = vec![];
    file.take(most).read_to_end(&mut bytes)?;
    let end = start + bytes.len() as u64;
    Ok((bytes, end))
}

fn last_lines(mut bytes: Vec<u8>, lines: usize) -> Vec<u8> {
    let body = bytes.strip_suffix(b"\n").unwrap_or(&bytes);
    let breaks = body
        .iter()
        .enumerate()
        .rev()
        .filter(|(_, byte)| **byte == b'\n');
    let start = match lines {
        0 => bytes.len(),
        lines => breaks
            .map(|(index, _)| index + 1)
            .nth(lines - 1)
            .unwrap_or(0),
    };
    bytes.split_off(start)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn written(limit: Limit, pieces: &[&str]) -> (tempfile::TempDir, Transcript) {
        let place = tempfile::TempDir::new().unwrap();
        let mut transcript = Transcript::create(place.path(), limit).unwrap();
        for piece in pieces {
            transcript.append(piece.as_bytes());
        }
        (place, transcript)
    }

    #[test]
    fn a_full_file_takes_the_place_of_the_older_one() {
        let (place, transcript) =
            written(Limit::Bytes(4), &["ab\n", "cd\n", "ef\n", "gh\n", "ij\n"]);
        let read = |path| std::fs::read_to_string(path).unwrap();
        assert_eq!(read(place::transcript(place.path())), "ij\n");
        assert_eq!(read(place::older_transcript(place.path())), "ef\ngh\n");
        assert_eq!((transcript.printed(), transcript.missing()), (15, 0));
    }

    #[test]
    fn what_had_to_make_room_is_counted() {
        let place = tempfile::TempDir::new().unwrap();
        let mut transcript = Transcript::create(place.path(), Limit::Bytes(4)).unwrap();
        let pieces = ["abcd", "efghi", "jk", "lmn", "o"];
        let cuts = pieces.map(|piece| transcript.append(piece.as_bytes()));
        let none = Cut::None;
        assert_eq!(cuts, [none, none, Cut::At(4), none, Cut::At(9)]);
    }

    #[test]
    fn the_last_lines_are_found_across_both_files() {
        let (place, _) = written(Limit::Bytes(4), &["ab\n", "cd\n", "ef\n", "g"]);
        let text =
            |lines| String::from_utf8(tail(place.path(), lines, 100).unwrap().bytes).unwrap();
        assert_eq!(text(0), "");
        assert_eq!(text(1), "g");
        assert_eq!(text(3), "cd\nef\ng");
        assert_eq!(text(9), "ab\ncd\nef\ng");
        let extent = |lines, most| tail(place.path(), lines, most).unwrap().extent;
        assert_eq!(extent(4, 100), Extent::Everything);
        assert_eq!(extent(3, 100), Extent::Part);
        assert_eq!(extent(4, 9), Extent::Part);
    }

    #[test]
    fn what_cannot_be_written_is_counted() {
        let (place, mut transcript) = written(Limit::Bytes(2), &["ab"]);
        std::fs::remove_dir_all(place.path()).unwrap();
        transcript.append(b"cde");
        assert_eq!((transcript.printed(), transcript.missing()), (5, 3));
    }
}
