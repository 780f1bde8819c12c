//! The file that Claude Code keeps about a session that runs, watched by the kernel.

use std::io::Read as _;
use std::path::PathBuf;
use std::time::Duration;

use handoff_agents::{ClaudeSession, Hint};
use handoff_core::time::Nanos;
use handoff_files::{Wake, Watch};

use super::{TRY_INTERVAL, regular};

/// A session file has a few hundred bytes.
const LARGEST_FILE: u64 = 64 * 1024;

pub(super) struct SessionFile {
    file: PathBuf,
    watch: Option<Watch>,
    try_at: Nanos,
    session: Option<ClaudeSession>,
}

impl SessionFile {
    pub(super) const fn new(file: PathBuf) -> Self {
        Self {
            file,
            watch: None,
            try_at: Nanos(0),
            session: None,
        }
    }

    pub(super) const fn watch(&self) -> Option<&Watch> {
        self.watch.as_ref()
    }

    /// What it says newly.
    pub(super) fn look(&mut self, now: Nanos) -> Option<Hint> {
        let has_changed = match &mut self.watch {
            Some(watch) => matches!(watch.wait(Some(Duration::ZERO)), Ok(Wake::Changed)),
            None if now >= self.try_at => {
                self.try_at = now.after(TRY_INTERVAL);
                // The watch first, or a change in between would be missed.
                self.watch = Watch::on_name(&self.file).ok();
                self.watch.is_some()
            }
            None => false,
        };
        if !has_changed {
            return None;
        }
        let session = self.read()?;
        let before = self.session.replace(session.clone());
        let is_news = before.is_none_or(|before| before.hint != session.hint);
        session.hint.filter(|_| is_news)
    }

    /// The name of the record, below the agent's home.
    pub(super) fn record(&self) -> Option<String> {
        let session = self.read().or_else(|| self.session.clone())?;
        Some(session.record())
    }

    fn read(&self) -> Option<ClaudeSession> {
        let mut text = String::new();
        let file = regular::open(&self.file).ok()?;
        let length = file.take(LARGEST_FILE + 1).read_to_string(&mut text).ok()?;
        let is_small = u64::try_from(length).is_ok_and(|length| length <= LARGEST_FILE);
        is_small.then(|| ClaudeSession::read(&text))?
    }
}
