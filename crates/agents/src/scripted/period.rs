//! Lengths of time as a script writes them: `250ms`, `1.5s`, `2m`, `1h`.

use std::fmt;
use std::str::FromStr;
use std::time::Duration;

use serde::Deserialize;

/// A length of time.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Deserialize)]
#[serde(try_from = "String")]
pub struct Period(Duration);

impl Period {
    pub const fn from_millis(millis: u64) -> Self {
        Self(Duration::from_millis(millis))
    }

    pub const fn as_duration(self) -> Duration {
        self.0
    }
}

impl FromStr for Period {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let wrong =
            || format!("`{text}` is no length of time; write `250ms`, `1.5s`, `2m` or `1h`");
        let unit_at = text
            .find(|character: char| character.is_ascii_alphabetic())
            .ok_or_else(wrong)?;
        let (number, unit) = text.split_at(unit_at);
        let unit_seconds = match unit {
            "ms" => 0.001,
            "s" => 1.0,
            "m" => 60.0,
            "h" => 3600.0,
            _ => return Err(wrong()),
        };
        let number: f64 = number.trim_end().parse().map_err(|_number| wrong())?;
        Duration::try_from_secs_f64(number * unit_seconds)
            .map(Self)
            .map_err(|_range| wrong())
    }
}

impl TryFrom<String> for Period {
    type Error = String;

    fn try_from(text: String) -> Result<Self, String> {
        text.parse()
    }
}

impl fmt::Display for Period {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(&self.0, formatter)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn units_and_fractions_are_read() {
        let millis = |text: &str| text.parse().map(|Period(duration)| duration.as_millis());
        assert_eq!(millis("250ms"), Ok(250));
        assert_eq!(millis("1.5s"), Ok(1500));
        assert_eq!(millis("2m"), Ok(120_000));
        assert_eq!(millis("1 h"), Ok(3_600_000));
    }

    #[test]
    fn anything_else_is_refused() {
        for text in ["", "5", "s", "-1s", "1e3s", "inf", "5 days", "1s2"] {
            assert!(text.parse::<Period>().is_err(), "{text}");
        }
    }
}
