//! Durations on the command line and in the configuration: `90s`, `10m`, `1h 30m`, `7d`.

use std::str::FromStr;
use std::time::Duration;

use jiff::SignedDuration;
use schemars::JsonSchema;

/// A span of time as people write it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, serde::Deserialize, JsonSchema)]
#[serde(try_from = "String")]
#[schemars(with = "String")]
pub struct Span(Duration);

impl Span {
    /// Of so much time.
    #[must_use]
    pub const fn new(duration: Duration) -> Self {
        Self(duration)
    }

    /// As a program counts it.
    #[must_use]
    pub const fn duration(self) -> Duration {
        self.0
    }
}

/// A text that is no duration.
#[derive(Debug, thiserror::Error)]
#[error("write a duration such as `90s`, `10m`, `2h` or `7d`")]
pub struct SpanError;

impl FromStr for Span {
    type Err = SpanError;

    fn from_str(text: &str) -> Result<Self, SpanError> {
        if let Some(days) = text.strip_suffix('d').and_then(|it| it.parse().ok()) {
            let seconds = u64::checked_mul(days, 24 * 3600).ok_or(SpanError)?;
            return Ok(Self(Duration::from_secs(seconds)));
        }
        let signed: Option<SignedDuration> = text.parse().ok();
        let span = signed.and_then(|signed| Duration::try_from(signed).ok());
        span.map(Self).ok_or(SpanError)
    }
}

impl TryFrom<String> for Span {
    type Error = SpanError;

    fn try_from(text: String) -> Result<Self, SpanError> {
        text.parse()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn people_write_durations_in_many_ways() {
        let seconds = |text: &str| {
            text.parse::<Span>()
                .map(|span| span.duration().as_secs())
                .ok()
        };
        assert_eq!(seconds("7d"), Some(7 * 24 * 3600));
        assert_eq!(seconds("1h 30m"), Some(5400));
        assert_eq!(seconds("0s"), Some(0));
        for wrong in ["", "d", "7", "-1h", "99999999999999999999d", "1x"] {
            assert_eq!(seconds(wrong), None, "{wrong}");
        }
    }
}
