//! Looks at what an agent prints while it prints it, by itself: when was what to be seen?

use std::io::{Read as _, Seek as _, SeekFrom};
use std::path::{Path, PathBuf};

use handoff_core::Timestamp;
use handoff_process::Size;
use handoff_session::screen::Screen;

/// Everything that a terminal showed, with the first moment of each.
pub(super) struct Witness {
    transcript: PathBuf,
    read: u64,
    screen: Screen,
    seen: Vec<(Timestamp, String)>,
}

impl Witness {
    pub(super) fn of(transcript: &Path, size: Size) -> Self {
        Self {
            transcript: transcript.to_owned(),
            read: 0,
            screen: Screen::new(size),
            seen: vec![],
        }
    }

    /// Takes what was printed since the last look.
    pub(super) fn look(&mut self, now: Timestamp) -> std::io::Result<()> {
        let mut file = match std::fs::File::open(&self.transcript) {
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(()),
            file => file?,
        };
        file.seek(SeekFrom::Start(self.read))?;
        let mut bytes = vec![];
        file.read_to_end(&mut bytes)?;
        if !bytes.is_empty() {
            self.read += u64::try_from(bytes.len()).unwrap_or(0);
            self.screen.print(&bytes);
            self.seen.push((now, self.screen.rows().join("\n")));
        }
        Ok(())
    }

    /// When this was to be seen, at first after a moment.
    pub(super) fn saw(&self, text: &str, since: Timestamp) -> Option<Timestamp> {
        let mut looks = self.seen.iter().filter(|(at, _)| *at >= since);
        let (at, _) = looks.find(|(_, screen)| screen.contains(text))?;
        Some(*at)
    }

    /// When this was to be seen no more, at first after a moment.
    pub(super) fn missed(&self, text: &str, since: Timestamp) -> Option<Timestamp> {
        let mut looks = self.seen.iter().filter(|(at, _)| *at >= since);
        let (at, _) = looks.find(|(_, screen)| !screen.contains(text))?;
        Some(*at)
    }

    pub(super) fn picture(&self) -> String {
        let rows = self.screen.rows().into_iter().filter(|row| !row.is_empty());
        rows.collect::<Vec<_>>().join("\n")
    }
}
