//! Leases: the exclusive right to work on a task.
//!
//! A lease is known by its [`Fence`], a number that only grows for a task. Whoever acts for a task
//! shows the fence; an old one is refused, however late its owner wakes up.

use std::fmt;
use std::time::Duration;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::time::{Moment, Nanos, Timeline, millis};
use crate::{Caller, SessionId};

/// How long a lease lasts when nobody says otherwise.
pub const DEFAULT_TTL: Duration = Duration::from_secs(600);

/// How long a lease lasts without a heartbeat.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(transparent)]
pub struct Ttl(#[serde(with = "millis")] Duration);

/// A time to live that no lease has.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("a lease lasts from {}s to {}s, not {}s", Ttl::MIN.as_secs(), Ttl::MAX.as_secs(), .0.as_secs_f64())]
pub struct TtlError(Duration);

impl Ttl {
    /// The shortest: below this a loaded machine would lose leases of healthy owners.
    pub const MIN: Duration = Duration::from_secs(1);
    /// The longest.
    pub const MAX: Duration = Duration::from_secs(7 * 24 * 3600);

    /// A time to live within the limits.
    pub fn new(span: Duration) -> Result<Self, TtlError> {
        if (Self::MIN..=Self::MAX).contains(&span) {
            Ok(Self(span))
        } else {
            Err(TtlError(span))
        }
    }

    /// As a span.
    pub const fn span(self) -> Duration {
        self.0
    }
}

impl Default for Ttl {
    fn default() -> Self {
        Self(DEFAULT_TTL)
    }
}

/// The number of a lease; it only grows for a task. The first lease has fence 1, and so the fence
/// also counts the attempts.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema,
)]
#[serde(transparent)]
pub struct Fence(u64);

impl Fence {
    /// What a task has before it was ever leased.
    pub const NONE: Self = Self(0);

    /// A fence that someone shows; any number may be shown, only the current one is honoured.
    pub const fn new(number: u64) -> Self {
        Self(number)
    }

    /// The fence of the next lease.
    #[must_use]
    pub const fn next(self) -> Self {
        Self(self.0 + 1)
    }

    /// As a number.
    pub const fn number(self) -> u64 {
        self.0
    }
}

impl fmt::Display for Fence {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(&self.0, f)
    }
}

/// A lease as it was granted and last renewed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Lease {
    /// Its number.
    pub fence: Fence,
    /// Who got it.
    pub owner: Caller,
    /// What keeps it alive.
    pub tenure: Tenure,
}

/// What keeps a lease alive.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub enum Tenure {
    /// Heartbeats: it runs out unless it is renewed in time.
    Timed(Term),
    /// The kernel lock of a session's holder process: it ends when that process does, at once,
    /// without a heartbeat and without an idle write.
    Anchored {
        /// The session whose holder must be alive.
        session: SessionId,
    },
}

/// The span of a timed lease, on the one clock it was granted by.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Term {
    /// The clock.
    pub timeline: Timeline,
    /// The lease is valid before this point …
    pub expires: Nanos,
    /// … and also until this much *waking* time has gone by: two thirds of the time to live, so that an owner
    /// that slept with the machine gets its next heartbeat in before it is given up.
    pub awake_until: Nanos,
    /// How long each renewal lasts.
    #[serde(rename = "ttl_ms", with = "millis")]
    pub ttl: Duration,
}

impl Term {
    /// A term that begins now.
    pub fn starting(now: &Moment, ttl: Duration) -> Self {
        Self {
            timeline: now.timeline.clone(),
            expires: now.elapsed.after(ttl),
            awake_until: now.awake.after(ttl * 2 / 3),
            ttl,
        }
    }

    /// Whether the term still runs. A term of another boot never does.
    pub fn runs_at(&self, now: &Moment) -> bool {
        self.timeline == now.timeline
            && (now.elapsed < self.expires || now.awake < self.awake_until)
    }
}

/// Whether a lease still counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Standing {
    /// It does.
    Valid,
    /// Its time is over, or its boot is.
    Expired,
    /// It depends on a holder process that only the shell can look at.
    Anchored(SessionId),
}

impl Lease {
    /// Whether the lease counts at `now`.
    pub fn standing(&self, now: &Moment) -> Standing {
        match &self.tenure {
            Tenure::Timed(term) if term.runs_at(now) => Standing::Valid,
            Tenure::Timed(_) => Standing::Expired,
            Tenure::Anchored { session } => Standing::Anchored(*session),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(boot: &str, elapsed: u64, awake: u64) -> Moment {
        let nanos = |seconds: u64| Nanos(0).after(Duration::from_secs(seconds));
        Moment {
            timeline: Timeline::of_boot(boot),
            elapsed: nanos(elapsed),
            awake: nanos(awake),
        }
    }

    #[test]
    fn a_term_ends_with_its_time() {
        let term = Term::starting(&at("a", 100, 100), Duration::from_secs(60));
        assert!(term.runs_at(&at("a", 159, 159)));
        assert!(!term.runs_at(&at("a", 160, 160)));
    }

    #[test]
    fn a_term_of_another_boot_is_void_at_once() {
        let term = Term::starting(&at("a", 100, 100), Duration::from_secs(60));
        assert!(!term.runs_at(&at("b", 101, 101)));
    }

    #[test]
    fn sleep_does_not_end_a_term_before_its_owner_could_beat() {
        let term = Term::starting(&at("a", 100, 100), Duration::from_secs(60));
        let just_woken = at("a", 100_000, 110);
        let silent_since = at("a", 100_030, 140);
        assert!(term.runs_at(&just_woken));
        assert!(!term.runs_at(&silent_since));
    }
}
