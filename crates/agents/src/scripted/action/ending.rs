//! How an agent ends, or does not.

use serde::Deserialize;

use super::True;
use crate::scripted::period::Period;
use crate::scripted::signal::Signal;

/// `exit = 0` ends the agent with a code. A script that runs out of steps ends with 0.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Exit {
    #[serde(rename = "exit")]
    pub code: u8,
}

/// `die = "KILL"` ends the agent by a signal, also by one it ignores.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Die {
    #[serde(rename = "die")]
    pub signal: Signal,
}

/// `hang = true` does nothing, for ever.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Hang {
    pub hang: True,
}

/// `spin = "2s"` keeps a processor busy.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Spin {
    #[serde(rename = "spin")]
    pub period: Period,
}
