//! The clocks of this machine.
//!
//! The only place of the product that reads them; everybody else takes a [`Clock`]. Nothing here
//! compares, waits or decides.

use std::io;
use std::time::{Duration, SystemTime};

use handoff_core::time::{Clock, Moment, Nanos};
use handoff_core::{Now, Timeline, Timestamp};
use rustix::time::{ClockId, Timespec, clock_gettime};

const BOOT_ID: &str = "/proc/sys/kernel/random/boot_id";

/// The clocks of this machine, in this boot.
#[derive(Debug, Clone)]
pub struct SystemClock {
    timeline: Timeline,
}

/// The machine does not say which boot it is in, so no lease could be measured on it.
#[derive(Debug, thiserror::Error)]
pub enum ClockError {
    /// There is no boot id.
    #[error("cannot read the boot id `{BOOT_ID}`")]
    Read(#[source] io::Error),
    /// There is one of an unknown form.
    #[error("`{BOOT_ID}` does not hold a boot id")]
    Malformed(#[source] uuid::Error),
}

impl SystemClock {
    /// Reads which boot this is; the process cannot outlive it, so once is enough.
    pub fn read() -> Result<Self, ClockError> {
        let text = std::fs::read_to_string(BOOT_ID).map_err(ClockError::Read)?;
        let boot = uuid::Uuid::try_parse(text.trim_end()).map_err(ClockError::Malformed)?;
        Ok(Self {
            timeline: Timeline::of_boot(&boot.to_string()),
        })
    }
}

impl Clock for SystemClock {
    fn now(&self) -> Now {
        Now {
            wall: Timestamp::try_from(wall()).expect("the year has at most four digits"),
            moment: Moment {
                timeline: self.timeline.clone(),
                elapsed: nanos(clock_gettime(ClockId::Boottime)),
                awake: self.awake(),
            },
        }
    }

    fn awake(&self) -> Nanos {
        nanos(clock_gettime(ClockId::Monotonic))
    }
}

#[expect(
    clippy::disallowed_methods,
    reason = "this is where the Clock comes from"
)]
pub(crate) fn wall() -> SystemTime {
    SystemTime::now()
}

/// Time that stands still while the machine sleeps: a program is not given up for having slept.
pub(crate) fn awake() -> Duration {
    Duration::try_from(clock_gettime(ClockId::Monotonic)).expect("time since boot is positive")
}

/// Tells how long something takes, for whoever has two ways to do the same.
#[derive(Debug)]
pub struct Stopwatch(Duration);

impl Stopwatch {
    /// Begins now.
    #[must_use]
    pub fn start() -> Self {
        Self(awake())
    }

    /// How long ago that is.
    #[must_use]
    pub fn elapsed(&self) -> Duration {
        awake().saturating_sub(self.0)
    }
}

fn nanos(time: Timespec) -> Nanos {
    Nanos(
        time.tv_sec
            .saturating_mul(1_000_000_000)
            .saturating_add(time.tv_nsec),
    )
}
