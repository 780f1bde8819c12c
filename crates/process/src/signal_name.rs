//! Signals that a program may be sent on request.

use std::fmt;
use std::str::FromStr;

use rustix::process::Signal;

/// A signal by its name. STOP and its kind are left out: one who stands still looks as it did when it was stopped, so that
/// everything that is said of it from then on would be wrong.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SignalName(&'static str, Signal);

/// A text that names no such signal.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("a signal is one of {}", ALL.map(|it| it.0).join(", "))]
pub struct SignalNameError;

/// All of them.
const ALL: [SignalName; 9] = [
    SignalName("HUP", Signal::HUP),
    SignalName("INT", Signal::INT),
    SignalName("QUIT", Signal::QUIT),
    SignalName("USR1", Signal::USR1),
    SignalName("USR2", Signal::USR2),
    SignalName("TERM", Signal::TERM),
    SignalName("CONT", Signal::CONT),
    SignalName("WINCH", Signal::WINCH),
    SignalName("KILL", Signal::KILL),
];

impl SignalName {
    /// The name without `SIG`.
    #[must_use]
    pub const fn word(self) -> &'static str {
        self.0
    }

    pub(crate) const fn signal(self) -> Signal {
        self.1
    }
}

impl FromStr for SignalName {
    type Err = SignalNameError;

    /// With or without `SIG`, in large or small letters.
    fn from_str(text: &str) -> Result<Self, SignalNameError> {
        let text = text.to_ascii_uppercase();
        let word = text.strip_prefix("SIG").unwrap_or(&text);
        let found = ALL.into_iter().find(|it| it.0 == word);
        found.ok_or(SignalNameError)
    }
}

impl fmt::Display for SignalName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_is_understood_as_people_write_it() {
        for text in ["USR1", "usr1", "SIGUSR1", "SigUsr1"] {
            assert_eq!(text.parse().map(SignalName::signal), Ok(Signal::USR1));
        }
        for text in ["", "SIG", "10", "STOP", "TSTP", "SIGSIGHUP", "US R1"] {
            assert_eq!(text.parse::<SignalName>(), Err(SignalNameError), "{text}");
        }
    }
}
