//! Time as values. Two kinds that never mix: a [`Timestamp`] says when something happened, for people; a
//! [`Moment`] measures how long a lease has run, and a changed wall clock cannot touch it.

use std::fmt;
use std::time::Duration;

pub use jiff::Timestamp;
use serde::{Deserialize, Serialize};

/// Which clock a [`Moment`] was read from: one boot of one machine, or one database server.
///
/// Moments of different timelines cannot be compared; a lease of another boot is void.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Timeline(String);

impl Timeline {
    /// The timeline of one boot, by the kernel's boot id.
    pub fn of_boot(boot_id: &str) -> Self {
        Self(format!("boot:{boot_id}"))
    }

    /// The timeline of a database server, which all its clients share.
    pub fn of_server() -> Self {
        Self("server".to_owned())
    }

    /// The stored form.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for Timeline {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// Nanoseconds on a timeline.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Nanos(pub i64);

impl Nanos {
    /// This much later.
    #[must_use]
    pub fn after(self, span: Duration) -> Self {
        Self(
            self.0
                .saturating_add(i64::try_from(span.as_nanos()).unwrap_or(i64::MAX)),
        )
    }

    /// How long it is from `earlier` to here; zero if it is not earlier.
    pub fn since(self, earlier: Self) -> Duration {
        Duration::from_nanos(u64::try_from(self.0.saturating_sub(earlier.0)).unwrap_or(0))
    }
}

/// A point in time for leases.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Moment {
    /// The clock this was read from.
    pub timeline: Timeline,
    /// Time that goes on while the machine sleeps (`CLOCK_BOOTTIME`, or the server's clock).
    pub elapsed: Nanos,
    /// Time that stands still while the machine sleeps (`CLOCK_MONOTONIC`), so that waking up is not
    /// taken for silence. A server does not sleep: there it equals `elapsed`.
    pub awake: Nanos,
}

/// What time it is, on both kinds of clock.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Now {
    /// For people and for the record.
    pub wall: Timestamp,
    /// For leases.
    pub moment: Moment,
}

/// Reads the clocks of this machine. Implemented by the shell, and by tests that move time by hand.
pub trait Clock {
    /// The time now.
    fn now(&self) -> Now;

    /// Only the part of a [`Moment`] that stands still while the machine sleeps, for those who ask all the time.
    fn awake(&self) -> Nanos {
        self.now().moment.awake
    }
}

/// Spans as whole milliseconds.
pub(crate) mod millis {
    use std::time::Duration;

    use serde::{Deserialize, Deserializer, Serializer};

    pub(crate) fn serialize<S: Serializer>(span: &Duration, out: S) -> Result<S::Ok, S::Error> {
        out.serialize_u64(u64::try_from(span.as_millis()).unwrap_or(u64::MAX))
    }

    pub(crate) fn deserialize<'de, D: Deserializer<'de>>(input: D) -> Result<Duration, D::Error> {
        u64::deserialize(input).map(Duration::from_millis)
    }
}
