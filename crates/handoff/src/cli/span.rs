//! Durations on the command line: `90s`, `10m`, `1h 30m`.

use std::str::FromStr;
use std::time::Duration;

use jiff::SignedDuration;

/// A span of time as people write it.
#[derive(Debug, Clone, Copy)]
pub(super) struct Span(Duration);

impl Span {
    pub(super) fn duration(self) -> Duration {
        self.0
    }
}

/// A text that is no duration.
#[derive(Debug, thiserror::Error)]
#[error("write a duration such as `90s`, `10m` or `2h`")]
pub(super) struct SpanError;

impl FromStr for Span {
    type Err = SpanError;

    fn from_str(text: &str) -> Result<Self, SpanError> {
        let signed: Option<SignedDuration> = text.parse().ok();
        let span = signed.and_then(|signed| Duration::try_from(signed).ok());
        span.map(Self).ok_or(SpanError)
    }
}
