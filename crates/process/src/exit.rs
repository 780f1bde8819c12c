//! How a program ended, or that it has not.

use std::fmt;

/// What waiting for a program came to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Exit {
    /// It ended by itself, with this code.
    Code(i32),
    /// This signal ended it.
    Signal(i32),
    /// It had not ended when the time was over.
    TimedOut,
}

impl Exit {
    /// Whether it ended by itself and said that all is well.
    #[must_use]
    pub const fn is_success(self) -> bool {
        matches!(self, Self::Code(0))
    }
}

impl fmt::Display for Exit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Code(code) => write!(f, "exit code {code}"),
            Self::Signal(signal) => write!(f, "signal {signal}"),
            Self::TimedOut => f.write_str("no end in time"),
        }
    }
}
