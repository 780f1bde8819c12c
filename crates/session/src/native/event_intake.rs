//! Takes the answer of a server that tells events, as its bytes come: HTTP, chunks, lines. No socket and no clock in here.

use std::io;

/// A head is a few hundred bytes.
const LONGEST_HEAD: usize = 16 * 1024;
/// A longer line is left out: it would be the whole output of a tool.
const LONGEST_LINE: usize = 1024 * 1024;
/// What stands behind a chunk: the end of a line that is none of its own.
const CHUNK_END: usize = 2;
/// The size of a chunk is a few digits.
const LONGEST_SIZE: usize = 64;

/// How far the answer has come.
#[derive(Debug, Default)]
pub(super) struct EventIntake {
    phase: Phase,
    /// What is not a whole head, size or line yet.
    rest: Vec<u8>,
    line: Vec<u8>,
}

#[derive(Debug, Default)]
enum Phase {
    #[default]
    Head,
    /// To the end of the connection.
    Plain,
    /// The size of the next chunk.
    Size,
    /// So much of a chunk is to come, its end included.
    Chunk(usize),
}

impl EventIntake {
    /// Whether an answer has come that is listened to.
    pub(super) const fn is_answered(&self) -> bool {
        !matches!(self.phase, Phase::Head)
    }

    /// Takes what has come, and hands on what events say. An error if this is not what was asked for.
    pub(super) fn take(&mut self, bytes: &[u8], hear: &mut impl FnMut(&str)) -> io::Result<()> {
        let mut bytes = bytes;
        while !bytes.is_empty() {
            bytes = match self.phase {
                Phase::Head => self.take_head(bytes)?,
                Phase::Size => self.take_size(bytes)?,
                Phase::Plain => {
                    self.take_body(bytes, hear);
                    &[]
                }
                Phase::Chunk(left) => {
                    let (now, later) = bytes.split_at(left.min(bytes.len()));
                    let own = left.saturating_sub(CHUNK_END).min(now.len());
                    self.take_body(&now[..own], hear);
                    let left = left - now.len();
                    self.phase = if left == 0 {
                        Phase::Size
                    } else {
                        Phase::Chunk(left)
                    };
                    later
                }
            };
        }
        Ok(())
    }

    /// Everything up to the end mark, and what follows it; none if it has not come.
    fn up_to<'a>(
        &mut self,
        end: &[u8],
        most: usize,
        bytes: &'a [u8],
    ) -> io::Result<Option<(Vec<u8>, &'a [u8])>> {
        let before = self.rest.len();
        self.rest.extend_from_slice(bytes);
        let at = self.rest.windows(end.len()).position(|it| it == end);
        let Some(at) = at else {
            return if self.rest.len() > most {
                Err(strange())
            } else {
                Ok(None)
            };
        };
        let mut head = std::mem::take(&mut self.rest);
        let taken = at + end.len() - before;
        head.truncate(at);
        Ok(Some((head, &bytes[taken..])))
    }

    fn take_head<'a>(&mut self, bytes: &'a [u8]) -> io::Result<&'a [u8]> {
        let Some((head, later)) = self.up_to(b"\r\n\r\n", LONGEST_HEAD, bytes)? else {
            return Ok(&[]);
        };
        let head = String::from_utf8_lossy(&head).to_lowercase();
        let is_good = head.starts_with("http/1.1 200");
        if !is_good || !head.contains("text/event-stream") {
            return Err(strange());
        }
        let is_chunked = head.contains("\r\ntransfer-encoding: chunked");
        self.phase = if is_chunked {
            Phase::Size
        } else {
            Phase::Plain
        };
        Ok(later)
    }

    fn take_size<'a>(&mut self, bytes: &'a [u8]) -> io::Result<&'a [u8]> {
        let Some((size, later)) = self.up_to(b"\r\n", LONGEST_SIZE, bytes)? else {
            return Ok(&[]);
        };
        let size = str::from_utf8(&size).ok();
        let size = size.and_then(|it| usize::from_str_radix(it.trim(), 16).ok());
        let size = size.ok_or_else(strange)?;
        self.phase = Phase::Chunk(size.saturating_add(CHUNK_END));
        Ok(later)
    }

    fn take_body(&mut self, bytes: &[u8], hear: &mut impl FnMut(&str)) {
        for piece in bytes.split_inclusive(|byte| *byte == b'\n') {
            if self.line.len() < LONGEST_LINE {
                self.line.extend_from_slice(piece);
            }
            if piece.ends_with(b"\n") {
                let line = std::mem::take(&mut self.line);
                let line = String::from_utf8_lossy(&line);
                if let Some(event) = line.trim().strip_prefix("data:") {
                    hear(event.trim());
                }
            }
        }
    }
}

fn strange() -> io::Error {
    io::ErrorKind::InvalidData.into()
}

#[cfg(test)]
mod tests {
    use super::*;

    const HEAD: &str = "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n";

    /// What is heard of an answer that comes in pieces of this size.
    fn heard(answer: &str, size: usize) -> io::Result<Vec<String>> {
        let mut intake = EventIntake::default();
        let mut heard = vec![];
        for piece in answer.as_bytes().chunks(size) {
            intake.take(piece, &mut |event: &str| heard.push(event.to_owned()))?;
        }
        Ok(heard)
    }

    #[test]
    fn events_are_heard_however_the_bytes_come() {
        let chunked = format!(
            "{HEAD}Transfer-Encoding: chunked\r\n\r\na\r\ndata: one\n\r\n1\r\n\n\r\n8\r\ndata: tw\r\n3\r\no\n\n\r\n0\r\n\r\n"
        );
        let plain = format!("{HEAD}\r\ndata: one\n\n: a word aside\ndata: two\n\n");
        for answer in [chunked, plain] {
            for size in 1..answer.len() {
                assert_eq!(heard(&answer, size).unwrap(), ["one", "two"], "{size}");
            }
        }
    }

    #[test]
    fn what_is_no_stream_of_events_is_not_listened_to() {
        let page = "HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n\r\ndata: one\n\n";
        let refused = "HTTP/1.1 401 Unauthorized\r\nContent-Type: text/event-stream\r\n\r\n";
        let endless = "x".repeat(LONGEST_HEAD + 1);
        let chunk = format!("{HEAD}Transfer-Encoding: chunked\r\n\r\nno number\r\n");
        for answer in [page, refused, &endless, &chunk] {
            assert!(heard(answer, 7).is_err(), "{answer:.40}");
        }
    }
}
