//! A line at the bottom of a terminal that says what goes on and for how long, until it is dropped.

use std::io::{self, Write};
use std::sync::mpsc::{self, RecvTimeoutError, Sender};
use std::thread::{self, JoinHandle};
use std::time::Duration;

const SECOND: Duration = Duration::from_secs(1);

/// Says it as long as it lives. Where nobody could see it move, it does nothing.
#[must_use = "it is gone when it is dropped"]
pub(crate) struct Ticker {
    hand: Option<(Sender<()>, JoinHandle<()>)>,
}

impl Ticker {
    pub(super) const STILL: Self = Self { hand: None };

    /// One that says nothing.
    pub(crate) const fn still() -> Self {
        Self::STILL
    }

    pub(super) fn start(line: String) -> Self {
        let (stop, stopped) = mpsc::channel();
        let hand = thread::spawn(move || {
            // Counted, not measured: a second more or less is nobody's concern here.
            let mut seconds = 0;
            let mut out = io::stdout();
            while say(&mut out, &line, seconds).is_ok()
                && stopped.recv_timeout(SECOND) == Err(RecvTimeoutError::Timeout)
            {
                seconds += 1;
            }
            write!(out, "\r\x1b[K").and_then(|()| out.flush()).ok();
        });
        Self {
            hand: Some((stop, hand)),
        }
    }
}

fn say(out: &mut impl Write, line: &str, seconds: u64) -> io::Result<()> {
    write!(out, "\r{line}  {}\x1b[K", clock(seconds))?;
    out.flush()
}

fn clock(seconds: u64) -> String {
    format!("{}:{:02}", seconds / 60, seconds % 60)
}

impl Drop for Ticker {
    fn drop(&mut self) {
        if let Some((stop, hand)) = self.hand.take() {
            drop(stop);
            hand.join().ok();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_is_written_over_itself() {
        let mut out = vec![];
        say(&mut out, "→ red", 61).unwrap();
        assert_eq!(out, "\r→ red  1:01\x1b[K".as_bytes());
    }
}
