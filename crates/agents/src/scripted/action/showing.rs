//! What an agent shows.

use std::num::NonZeroU32;
use std::str::FromStr;

use serde::Deserialize;

use super::True;
use crate::scripted::period::Period;
use crate::scripted::raw_bytes::RawBytes;
use crate::scripted::text::Text;

/// `print = "…\n"` writes the text; `pace = "20ms per char"` or `"100ms per line"` writes it bit
/// by bit.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Print {
    #[serde(rename = "print")]
    pub text: Text,
    pub pace: Option<Pace>,
}

/// How fast a text is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(try_from = "String")]
pub struct Pace {
    pub period: Period,
    pub unit: PaceUnit,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PaceUnit {
    Character,
    Line,
}

impl FromStr for Pace {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let (period, unit) = text.split_once(" per ").unwrap_or((text, ""));
        let unit = match unit {
            "char" => PaceUnit::Character,
            "line" => PaceUnit::Line,
            _ => {
                return Err(format!(
                    "`{text}` is no pace; write `20ms per char` or `100ms per line`"
                ));
            }
        };
        Ok(Self {
            period: period.parse()?,
            unit,
        })
    }
}

impl TryFrom<String> for Pace {
    type Error = String;

    fn try_from(text: String) -> Result<Self, String> {
        text.parse()
    }
}

/// `bytes = 'caf\xc3'` writes bytes that need not be text.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Bytes {
    pub bytes: RawBytes,
}

/// `title = "…"` sets the title of the terminal window.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Title {
    pub title: Text,
}

/// `osc = "9;4;1"` sends an operating system command to the terminal; it ends with BEL, or with
/// `end = "st"` with the string terminator.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Osc {
    #[serde(rename = "osc")]
    pub command: Text,
    #[serde(default)]
    pub end: OscEnd,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum OscEnd {
    #[default]
    Bel,
    St,
}

/// `bracketed_paste = true` asks the terminal to mark pastes, `false` to stop that.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct BracketedPaste {
    pub bracketed_paste: bool,
}

/// `screen = ["row", "row"]` goes to the alternate screen, draws a box around the rows `redraws`
/// times, `every` so often, and leaves; with `stay = true` it does not leave. `{redraw}` counts.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Screen {
    #[serde(rename = "screen")]
    pub rows: Vec<Text>,
    #[serde(default = "once")]
    pub redraws: NonZeroU32,
    #[serde(default = "frame")]
    pub every: Period,
    #[serde(default)]
    pub stay: bool,
}

pub(super) const fn once() -> NonZeroU32 {
    NonZeroU32::MIN
}

const fn frame() -> Period {
    Period::from_millis(50)
}

/// `leave_screen = true` leaves the alternate screen that a `screen` with `stay` is still on.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct LeaveScreen {
    pub leave_screen: True,
}
