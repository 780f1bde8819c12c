//! How a holder tells its journal to those who follow it by HTTP, and what else it reads to them from its own files.

use std::fs::File;
use std::io::{self, Read as _, Seek as _, SeekFrom};
use std::path::{Path, PathBuf};

use serde_json::{Value, json};

use super::Holder;
use crate::inbox::{self, Letter};
use crate::journal::Entry;
use crate::line_file;
use crate::place;
use crate::plain_text::PlainText;
use crate::transcript;

/// How much of the journal is told at once.
const PIECE: u64 = 64 * 1024;
/// How many bytes of a transcript are looked at, at most.
const TRANSCRIPT: u64 = 1024 * 1024;

/// How far one has come who follows the journal, as server-sent events.
#[derive(Debug)]
pub(super) struct EventFeed {
    path: PathBuf,
    offset: u64,
    /// The number of the last event that was looked at.
    seq: u64,
    /// Only those with a higher number are told.
    after: u64,
}

impl EventFeed {
    pub(super) fn new(session: &Path, after: u64) -> Self {
        Self {
            path: place::journal(session),
            offset: 0,
            seq: 0,
            after,
        }
    }

    /// The next events, if there are any up to this number. A file that cannot be read now is read later.
    pub(super) fn next(&mut self, last: u64) -> Vec<u8> {
        let mut told = vec![];
        while told.is_empty() && self.seq < last {
            let Ok(bytes) = self.read_piece() else { break };
            let before = self.offset;
            for line in line_file::whole_lines(&bytes) {
                self.offset += line.len() as u64 + 1;
                self.tell(line, &mut told);
            }
            if self.offset == before {
                break;
            }
        }
        told
    }

    fn read_piece(&self) -> io::Result<Vec<u8>> {
        let mut file = File::open(&self.path)?;
        file.seek(SeekFrom::Start(self.offset))?;
        let mut bytes = vec![];
        // A reply may make a line longer than a piece.
        let most = PIECE.max(crate::last_word::LONGEST as u64 * 8);
        file.take(most).read_to_end(&mut bytes)?;
        Ok(bytes)
    }

    fn tell(&mut self, line: &[u8], told: &mut Vec<u8>) {
        let Ok(entry) = serde_json::from_slice::<Entry>(line) else {
            return;
        };
        self.seq = entry.seq;
        if entry.seq > self.after {
            told.extend(format!("id: {}\ndata: ", entry.seq).into_bytes());
            told.extend(line);
            told.extend(b"\n\n");
        }
    }
}

impl Holder<'_> {
    /// Tells those who follow what has happened.
    pub(super) fn feed(&mut self) {
        let last = self.journal.seq();
        self.guests.iter_mut().for_each(|guest| guest.feed(last));
    }

    /// All messages, the oldest first, and how far each has come.
    pub(super) fn messages(&self) -> io::Result<Value> {
        let letters = inbox::read(self.directory.path())?;
        let messages: Vec<Value> = letters.iter().map(told).collect();
        Ok(json!({ "messages": messages }))
    }

    /// The last lines that were printed, without colours.
    pub(super) fn printed_lines(&self, count: usize) -> io::Result<Value> {
        let tail = transcript::tail(self.directory.path(), count, TRANSCRIPT)?;
        let mut text = PlainText::default();
        let mut lines = text.push(&tail.bytes);
        lines.extend(text.rest());
        Ok(json!({ "lines": lines }))
    }
}

fn told(letter: &Letter) -> Value {
    let history = letter.history.iter().map(|moment| {
        let mut step = json!(moment.progress);
        step["at"] = json!(moment.at);
        step
    });
    let mut message = json!(letter.message);
    message["progress"] = json!(letter.progress());
    message["history"] = history.collect();
    message
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::journal::{Event, Journal};

    #[test]
    fn events_are_told_once_in_order_and_after_the_given_one() {
        let place = tempfile::TempDir::new().unwrap();
        let session = "ses_0192f0c47d0a7c3e9f5b2a1c3d4e5f60".parse().unwrap();
        let mut journal = Journal::new(place.path(), session, "impl".parse().unwrap());
        let at = "2026-01-02T03:04:05Z".parse().unwrap();
        let mut begins = |turn| {
            journal.append(Event::TurnStarted { turn }, at).unwrap();
            journal.seq()
        };
        let mut feed = EventFeed::new(place.path(), 1);
        let mut next = |last| String::from_utf8(feed.next(last)).unwrap();
        assert_eq!(next(0), "");
        begins(1);
        let last = begins(2);
        let told = next(last);
        assert!(told.starts_with("id: 2\ndata: {"), "{told}");
        assert!(told.ends_with("\"turn\":2}\n\n"), "{told}");
        assert_eq!(next(last), "");
        let last = begins(3);
        assert!(next(last).starts_with("id: 3\n"));
    }
}
