//! Standard output: texts at a pace, bytes, control sequences and floods.

use std::fs::File;
use std::io::{self, ErrorKind, Write};
use std::num::NonZeroU64;
use std::os::fd::OwnedFd;
use std::process::Stdio;
use std::time::Duration;

use handoff_agents::scripted::{Flood, OscEnd, Pace, PaceUnit};
use rustix::io::Errno;

use crate::clock;
use crate::outcome::Failure;

/// Written without a buffer: what an agent has shown is out when it dies.
pub(crate) struct Output(File);

impl Output {
    pub(crate) fn new(descriptor: OwnedFd) -> Self {
        Self(File::from(descriptor))
    }

    /// The same output, for a process to inherit.
    pub(crate) fn share(&self) -> io::Result<Stdio> {
        self.0.try_clone().map(Stdio::from)
    }

    pub(crate) fn bytes(&mut self, bytes: &[u8]) -> Result<(), Failure> {
        self.0.write_all(bytes).map_err(|error| {
            // A closed pipe, or a terminal whose other side is gone.
            let is_terminal_gone = error.raw_os_error() == Some(Errno::IO.raw_os_error());
            if error.kind() == ErrorKind::BrokenPipe || is_terminal_gone {
                Failure::OutputClosed
            } else {
                Failure::Output(error)
            }
        })
    }

    pub(crate) fn text(&mut self, text: &str) -> Result<(), Failure> {
        self.bytes(text.as_bytes())
    }

    pub(crate) fn paced(&mut self, text: &str, pace: Pace) -> Result<(), Failure> {
        for part in parts(text, pace.unit) {
            self.text(part)?;
            clock::sleep(pace.period.as_duration());
        }
        Ok(())
    }

    /// An operating system command; titles are number 2.
    pub(crate) fn osc(&mut self, command: &str, end: OscEnd) -> Result<(), Failure> {
        let end = match end {
            OscEnd::Bel => "\x07",
            OscEnd::St => "\x1b\\",
        };
        self.text(&format!("\x1b]{command}{end}"))
    }

    pub(crate) fn bracketed_paste(&mut self, is_on: bool) -> Result<(), Failure> {
        self.text(if is_on { "\x1b[?2004h" } else { "\x1b[?2004l" })
    }

    pub(crate) fn flood(&mut self, flood: &Flood) -> Result<(), Failure> {
        let started = clock::now();
        let mut buffer = vec![0; chunk_length(flood)];
        let mut sent = 0;
        while sent < flood.length {
            let left = usize::try_from(flood.length - sent).unwrap_or(usize::MAX);
            let chunk_length = left.min(buffer.len());
            let chunk = &mut buffer[..chunk_length];
            flood.fill(sent, chunk);
            self.bytes(chunk)?;
            sent += chunk.len() as u64;
            if let Some(rate) = flood.bytes_per_second {
                clock::sleep_until(started + Duration::from_millis(sent * 1000 / rate));
            }
        }
        Ok(())
    }
}

fn parts(text: &str, unit: PaceUnit) -> Vec<&str> {
    match unit {
        PaceUnit::Line => text.split_inclusive('\n').collect(),
        PaceUnit::Character => text
            .char_indices()
            .map(|(start, character)| &text[start..start + character.len_utf8()])
            .collect(),
    }
}

/// A limited rate is kept within a twentieth of a second.
fn chunk_length(flood: &Flood) -> usize {
    const LARGEST: usize = 8192;
    let rate = flood.bytes_per_second.map_or(u64::MAX, NonZeroU64::get);
    usize::try_from(rate / 20)
        .unwrap_or(LARGEST)
        .clamp(1, LARGEST)
}
