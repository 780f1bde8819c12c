//! How long to wait, on the command line: seconds, or a duration such as `10m`.

use std::str::FromStr;
use std::time::Duration;

use handoff_operations::{Span, SpanError};

/// A span of time; a bare number is seconds.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Patience(pub(crate) Duration);

impl FromStr for Patience {
    type Err = SpanError;

    fn from_str(text: &str) -> Result<Self, SpanError> {
        match text.parse() {
            Ok(seconds) => Ok(Self(Duration::from_secs(seconds))),
            Err(_) => text.parse::<Span>().map(|span| Self(span.duration())),
        }
    }
}
