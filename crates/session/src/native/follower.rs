//! Reads a record that grows, each line once.

use std::io::{self, Read as _, Seek as _, SeekFrom};
use std::path::{Path, PathBuf};

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
    /// None before the first look.
    offset: Option<u64>,
    /// A line whose end has not come.
    line: Vec<u8>,
    conversation: Conversation,
}

impl Follower {
    pub(super) fn new(path: PathBuf, format: Format) -> Self {
        Self {
            path,
            offset: None,
            line: vec![],
            conversation: Conversation::new(format),
        }
    }

    pub(super) fn path(&self) -> &Path {
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
        let length = file.metadata()?.len();
        let offset = match self.offset {
            Some(offset) if offset <= length => offset,
            // Written anew.
            Some(_) => 0,
            None => length.saturating_sub(MOST_HISTORY),
        };
        file.seek(SeekFrom::Start(offset))?;
        self.offset = Some(offset);
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

    fn take(&mut self, bytes: &[u8]) {
        self.offset = self.offset.map(|offset| offset + bytes.len() as u64);
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
