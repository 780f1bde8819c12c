//! Reads a record that grows, each line once.

use std::io::{self, Read as _, Seek as _, SeekFrom};
use std::os::unix::fs::MetadataExt as _;
use std::path::PathBuf;

use handoff_agents::Conversation;
use handoff_agents::conversation::Format;

use super::regular;

/// Of a conversation that is taken up again only the end is read.
const MOST_HISTORY: u64 = 8 * 1024 * 1024;
/// A longer line is left out.
const LONGEST_LINE: usize = 16 * 1024 * 1024;
const MOUTHFUL: usize = 64 * 1024;

pub(super) struct Follower {
    path: PathBuf,
    format: Format,
    /// How far it was read, and in which file of that name; none before the first look.
    place: Option<Place>,
    /// A line whose end has not come.
    line: Vec<u8>,
    conversation: Conversation,
}

#[derive(Clone, Copy)]
struct Place {
    inode: u64,
    offset: u64,
}

impl Follower {
    pub(super) fn new(path: PathBuf, format: Format) -> Self {
        Self {
            path,
            format,
            place: None,
            line: vec![],
            conversation: Conversation::new(format),
        }
    }

    pub(super) const fn path(&self) -> &PathBuf {
        &self.path
    }

    pub(super) const fn conversation(&self) -> &Conversation {
        &self.conversation
    }

    /// Reads what has come since the last time. What cannot be read is not there.
    pub(super) fn catch_up(&mut self) {
        self.read().ok();
    }

    fn read(&mut self) -> io::Result<()> {
        let mut file = regular::open(&self.path)?;
        let metadata = file.metadata()?;
        let (length, inode) = (metadata.len(), metadata.ino());
        let offset = match self.place {
            Some(place) if place.offset <= length && place.inode == inode => place.offset,
            Some(_) => self.begin_anew(),
            None => length.saturating_sub(MOST_HISTORY),
        };
        file.seek(SeekFrom::Start(offset))?;
        self.place = Some(Place { inode, offset });
        // One who writes as fast as we read does not keep us here.
        let mut file = file.take(length - offset);
        let mut buffer = vec![0; MOUTHFUL];
        loop {
            let count = file.read(&mut buffer)?;
            if count == 0 {
                return Ok(());
            }
            self.take(&buffer[..count]);
        }
    }

    /// It was written anew: some agents take back what they wrote of a turn that was interrupted.
    fn begin_anew(&mut self) -> u64 {
        self.line.clear();
        self.conversation = Conversation::new(self.format);
        0
    }

    fn take(&mut self, bytes: &[u8]) {
        if let Some(place) = &mut self.place {
            place.offset += bytes.len() as u64;
        }
        for piece in bytes.split_inclusive(|byte| *byte == b'\n') {
            if self.line.len() < LONGEST_LINE {
                self.line.extend_from_slice(piece);
            }
            if piece.ends_with(b"\n") {
                let line = std::mem::take(&mut self.line);
                self.conversation.take(&String::from_utf8_lossy(&line));
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const ASKED: &str = "{\"type\":\"user\",\"message\":{\"content\":\"hi\"}}\n";

    #[test]
    fn a_record_that_is_written_anew_is_read_anew() {
        let place = tempfile::tempdir().unwrap();
        let file = place.path().join("record.jsonl");
        let mut follower = Follower::new(file.clone(), Format::Claude);
        let mut turns = |text: &str, other: Option<&str>| {
            std::fs::write(other.map_or(file.clone(), |it| place.path().join(it)), text).unwrap();
            if let Some(other) = other {
                std::fs::rename(place.path().join(other), &file).unwrap();
            }
            follower.catch_up();
            follower.conversation().turns()
        };
        assert_eq!(turns(ASKED, None), 1);
        assert_eq!(turns("{}\n", None), 0, "it has become shorter");
        let longer = format!("{{}}\n{ASKED}");
        assert_eq!(turns(&longer, Some("other")), 1, "it is another file");
    }
}
