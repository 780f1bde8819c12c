//! Signals by name.

use std::fmt;
use std::str::FromStr;

use serde::Deserialize;

/// A signal an agent may die by; written `TERM` or `SIGTERM`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(try_from = "String")]
pub enum Signal {
    Abort,
    Alarm,
    Hangup,
    Interrupt,
    Kill,
    Pipe,
    Quit,
    SegmentationFault,
    Terminate,
    User1,
    User2,
}

/// A signal a program can decline; `KILL` and `SEGV` are not among them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(try_from = "Signal")]
pub struct IgnorableSignal(Signal);

impl Signal {
    const ALL: [Self; 11] = [
        Self::Abort,
        Self::Alarm,
        Self::Hangup,
        Self::Interrupt,
        Self::Kill,
        Self::Pipe,
        Self::Quit,
        Self::SegmentationFault,
        Self::Terminate,
        Self::User1,
        Self::User2,
    ];

    /// The name without `SIG`, as `kill` and the shell's `trap` take it.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Abort => "ABRT",
            Self::Alarm => "ALRM",
            Self::Hangup => "HUP",
            Self::Interrupt => "INT",
            Self::Kill => "KILL",
            Self::Pipe => "PIPE",
            Self::Quit => "QUIT",
            Self::SegmentationFault => "SEGV",
            Self::Terminate => "TERM",
            Self::User1 => "USR1",
            Self::User2 => "USR2",
        }
    }
}

impl IgnorableSignal {
    pub const fn signal(self) -> Signal {
        self.0
    }
}

impl fmt::Display for Signal {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "SIG{}", self.name())
    }
}

impl FromStr for Signal {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let name = text.strip_prefix("SIG").unwrap_or(text);
        Self::ALL
            .into_iter()
            .find(|signal| signal.name() == name)
            .ok_or_else(|| {
                let names = Self::ALL.map(Self::name).join(", ");
                format!("`{text}` is no signal known here; use one of {names}")
            })
    }
}

impl TryFrom<String> for Signal {
    type Error = String;

    fn try_from(text: String) -> Result<Self, String> {
        text.parse()
    }
}

impl TryFrom<Signal> for IgnorableSignal {
    type Error = String;

    fn try_from(signal: Signal) -> Result<Self, String> {
        match signal {
            Signal::Kill | Signal::SegmentationFault => Err(format!("{signal} cannot be ignored")),
            Signal::Abort
            | Signal::Alarm
            | Signal::Hangup
            | Signal::Interrupt
            | Signal::Pipe
            | Signal::Quit
            | Signal::Terminate
            | Signal::User1
            | Signal::User2 => Ok(Self(signal)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn signals_are_read_with_and_without_prefix() {
        for signal in Signal::ALL {
            assert_eq!(signal.name().parse(), Ok(signal));
            assert_eq!(signal.to_string().parse(), Ok(signal));
        }
        assert!("term".parse::<Signal>().is_err());
    }

    #[test]
    fn kill_cannot_be_ignored() {
        assert_eq!(
            IgnorableSignal::try_from(Signal::Kill),
            Err("SIGKILL cannot be ignored".to_owned())
        );
    }
}
