//! The screen of a session, one picture after the other.

use std::io::{BufRead as _, BufReader, Read as _};
use std::os::unix::net::UnixStream;

use super::{ClientError, LONGEST_ANSWER};
use crate::control::Screenshot;

/// A screen as it changes. It ends when the session does, or its holder.
#[derive(Debug)]
pub struct Screens {
    lines: BufReader<UnixStream>,
}

impl Screens {
    pub(super) fn new(stream: UnixStream) -> Self {
        Self {
            lines: BufReader::new(stream),
        }
    }

    /// A holder that dies while it tells something leaves half a line: that is the end too.
    fn read(&mut self) -> Result<Option<Screenshot>, ClientError> {
        let mut line = vec![];
        let mut bounded = self.lines.by_ref().take(LONGEST_ANSWER);
        bounded
            .read_until(b'\n', &mut line)
            .map_err(ClientError::Talk)?;
        if line.ends_with(b"\n") {
            let screen = serde_json::from_slice(&line);
            screen.map(Some).map_err(ClientError::Answer)
        } else {
            Ok(None)
        }
    }
}

impl Iterator for Screens {
    type Item = Result<Screenshot, ClientError>;

    fn next(&mut self) -> Option<Self::Item> {
        self.read().transpose()
    }
}
