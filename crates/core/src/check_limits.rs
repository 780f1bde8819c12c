//! What a command that runs code of sessions may use, and which of it was used up.

use std::fmt;
use std::time::Duration;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

const MIB: u64 = 1024 * 1024;
const GIB: u64 = 1024 * MIB;

/// Bounds of one check, for all of its processes together.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CheckLimits {
    /// How long it may run.
    pub time: Duration,
    /// Memory in bytes; pages that processes share count once.
    pub memory: u64,
    /// Processes that live at the same time.
    pub processes: u32,
    /// What it prints, in bytes.
    pub output: u64,
    /// What it writes to disk, in bytes. One file cannot be larger either.
    pub disk: u64,
}

/// A bound that was crossed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "type", rename_all = "snake_case")]
pub enum CheckLimit {
    /// It ran longer.
    Time {
        /// Than this.
        milliseconds: u64,
    },
    /// Its processes had more memory.
    Memory {
        /// Than this.
        bytes: u64,
    },
    /// It had more processes.
    Processes {
        /// Than this.
        most: u32,
    },
    /// It printed more.
    Output {
        /// Than this.
        bytes: u64,
    },
    /// It wrote more.
    Disk {
        /// Than this.
        bytes: u64,
    },
}

/// What the processes of a check use at one moment.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct CheckUsage {
    /// Since it began.
    pub time: Duration,
    /// In bytes.
    pub memory: u64,
    /// That live.
    pub processes: u32,
    /// In bytes, since it began.
    pub output: u64,
    /// In bytes, since it began.
    pub disk: u64,
}

impl CheckLimits {
    /// Used when the machine's memory is not known.
    pub const FALLBACK_MEMORY: u64 = 4 * GIB;

    /// The bounds where no setting says otherwise: half of the machine's memory, of which this many bytes are known.
    pub fn usual(machine_memory: Option<u64>) -> Self {
        Self {
            time: Duration::from_secs(20 * 60),
            memory: machine_memory.map_or(Self::FALLBACK_MEMORY, |it| it / 2),
            processes: 1024,
            output: 256 * MIB,
            disk: 20 * GIB,
        }
    }

    /// The first bound that is crossed.
    pub fn exceeded(&self, usage: &CheckUsage) -> Option<CheckLimit> {
        match () {
            () if usage.time >= self.time => Some(CheckLimit::Time {
                milliseconds: u64::try_from(self.time.as_millis()).unwrap_or(u64::MAX),
            }),
            () if usage.memory > self.memory => Some(CheckLimit::Memory { bytes: self.memory }),
            () if usage.processes > self.processes => Some(CheckLimit::Processes {
                most: self.processes,
            }),
            () if usage.output > self.output => Some(CheckLimit::Output { bytes: self.output }),
            () if usage.disk > self.disk => Some(CheckLimit::Disk { bytes: self.disk }),
            () => None,
        }
    }
}

impl Default for CheckLimits {
    fn default() -> Self {
        Self::usual(None)
    }
}

impl fmt::Display for CheckLimit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {
            Self::Time { milliseconds } if milliseconds % 60_000 == 0 => {
                write!(f, "over {} minutes", milliseconds / 60_000)
            }
            Self::Time { milliseconds } => {
                write!(
                    f,
                    "over {}.{} s",
                    milliseconds / 1000,
                    milliseconds % 1000 / 100
                )
            }
            Self::Memory { bytes } => write!(f, "over {} of memory", Size(bytes)),
            Self::Processes { most } => write!(f, "over {most} processes"),
            Self::Output { bytes } => write!(f, "over {} of output", Size(bytes)),
            Self::Disk { bytes } => write!(f, "over {} on disk", Size(bytes)),
        }
    }
}

/// A number of bytes, with one digit after the point.
struct Size(u64);

impl fmt::Display for Size {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (unit, name) = if self.0 >= GIB {
            (GIB, "GiB")
        } else {
            (MIB, "MiB")
        };
        let tenths = self.0 % unit * 10 / unit;
        write!(f, "{}.{tenths} {name}", self.0 / unit)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    type Change = fn(&mut CheckUsage);

    const LIMITS: CheckLimits = CheckLimits {
        time: Duration::from_secs(90),
        memory: 2 * GIB,
        processes: 8,
        output: MIB,
        disk: 1536 * MIB,
    };

    #[test]
    fn a_crossed_bound_is_named_and_one_that_is_reached_is_not_crossed() {
        let at = CheckUsage {
            time: Duration::from_millis(89_999),
            memory: 2 * GIB,
            processes: 8,
            output: MIB,
            disk: 1536 * MIB,
        };
        let over = |change: Change| {
            let mut usage = at;
            change(&mut usage);
            LIMITS.exceeded(&usage).map(|it| it.to_string())
        };
        let table: [(Change, Option<&str>); 7] = [
            (|_| {}, None),
            (|it| it.time = Duration::from_secs(90), Some("over 90.0 s")),
            (|it| it.memory += 1, Some("over 2.0 GiB of memory")),
            (|it| it.processes += 1, Some("over 8 processes")),
            (|it| it.output += 1, Some("over 1.0 MiB of output")),
            (|it| it.disk += 1, Some("over 1.5 GiB on disk")),
            (
                |it| (it.disk, it.memory) = (u64::MAX, u64::MAX),
                Some("over 2.0 GiB of memory"),
            ),
        ];
        for (change, expected) in table {
            assert_eq!(over(change).as_deref(), expected);
        }
    }

    #[test]
    fn half_of_the_memory_is_the_bound_where_it_is_known() {
        let table = [(Some(16 * GIB), 8 * GIB), (None, 4 * GIB)];
        for (machine, expected) in table {
            assert_eq!(CheckLimits::usual(machine).memory, expected);
        }
        let time = CheckLimits::usual(None).exceeded(&CheckUsage {
            time: Duration::from_secs(3600),
            ..CheckUsage::default()
        });
        assert_eq!(time.unwrap().to_string(), "over 20 minutes");
    }
}
