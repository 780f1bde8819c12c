//! How long a server that is away is waited for.

use std::sync::mpsc;
use std::time::Duration;

use handoff_core::backoff::Backoff;

use crate::error::StoreError;
use crate::sql::SqlErrorKind;

/// How long a server that is away is waited for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Patience {
    /// If it answers and takes no connection: it is full, or starting.
    pub away: Duration,
    /// If nobody answers: it is between two starts, or not there at all.
    pub absent: Duration,
}

impl Patience {
    /// Of a command that somebody waits for.
    pub const BRIEF: Self = Self {
        away: Duration::from_secs(30),
        absent: Duration::from_secs(3),
    };

    /// Of a process that stays: workers and followers.
    pub const LASTING: Self = Self {
        away: Duration::from_hours(1),
        absent: Duration::from_hours(1),
    };

    /// Nobody waits.
    pub const NONE: Self = Self {
        away: Duration::ZERO,
        absent: Duration::ZERO,
    };

    /// No longer than for a command that somebody waits for.
    pub(super) fn at_most_brief(self) -> Self {
        Self {
            away: self.away.min(Self::BRIEF.away),
            absent: self.absent.min(Self::BRIEF.absent),
        }
    }
}

/// One who waits for a server.
pub(super) struct Waiting {
    patience: Patience,
    failures: u32,
    waited: Duration,
    /// Another number for each process.
    seed: u64,
}

impl Waiting {
    pub(super) const fn new(patience: Patience, seed: u64) -> Self {
        Self {
            patience,
            failures: 0,
            waited: Duration::ZERO,
            seed,
        }
    }

    /// Waits and says that it is time to try again, or hands back an error that waiting does not help against.
    pub(super) fn outwait(&mut self, error: StoreError) -> Result<(), StoreError> {
        let Some(patience) = self.patience_for(&error) else {
            return Err(error);
        };
        self.failures = self.failures.saturating_add(1);
        let backoff = Backoff {
            first: Duration::from_millis(50),
            longest: Duration::from_secs(5),
            patience,
        };
        let Some(span) = backoff.wait(self.failures, self.waited, self.dice()) else {
            return Err(error);
        };
        pause(span);
        self.waited += span;
        Ok(())
    }

    fn patience_for(&self, error: &StoreError) -> Option<Duration> {
        let StoreError::Unavailable { cause, .. } = error else {
            return None;
        };
        match cause.kind {
            SqlErrorKind::Away => Some(self.patience.away),
            SqlErrorKind::Absent => Some(self.patience.absent),
            SqlErrorKind::Taken
            | SqlErrorKind::Busy
            | SqlErrorKind::NoSpace
            | SqlErrorKind::Damaged
            | SqlErrorKind::Other => None,
        }
    }

    fn dice(&self) -> u32 {
        let mixed = (self.seed ^ u64::from(self.failures)).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        u32::try_from(mixed >> 32).unwrap_or_default()
    }
}

/// Nothing tells when a server is back.
pub(super) fn pause(span: Duration) {
    let (_open, nothing) = mpsc::channel::<()>();
    nothing.recv_timeout(span).ok();
}
