//! Measured times, and what they say: pure arithmetic.

use std::time::Duration;

use serde::{Serialize, Serializer};

/// Times of the same thing, in ascending order.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Samples(Vec<Duration>);

impl Samples {
    pub(crate) fn of(times: impl IntoIterator<Item = Duration>) -> Self {
        let mut times: Vec<Duration> = times.into_iter().collect();
        times.sort_unstable();
        Self(times)
    }

    /// The shortest time that this share of all times does not exceed; zero when there are none.
    pub(crate) fn percentile(&self, percent: usize) -> Duration {
        let rank = (self.0.len() * percent).div_ceil(100);
        self.0
            .get(rank.saturating_sub(1))
            .copied()
            .unwrap_or_default()
    }

    pub(crate) fn median(&self) -> Duration {
        self.percentile(50)
    }

    pub(crate) fn longest(&self) -> Duration {
        self.percentile(100)
    }

    /// What the middle half lies within: two medians that differ by less say nothing.
    pub(crate) fn spread(&self) -> Duration {
        self.percentile(75).saturating_sub(self.percentile(25))
    }

    pub(crate) fn count(&self) -> usize {
        self.0.len()
    }
}

/// As microseconds, which is as fine as these clocks are.
impl Serialize for Samples {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_seq(self.0.iter().map(Duration::as_micros))
    }
}

/// A span as people read it in a table.
pub(crate) fn milliseconds(span: Duration) -> f64 {
    span.as_secs_f64() * 1e3
}

/// How many times `base` a span is; nothing compares to no time at all.
pub(crate) fn times(span: Duration, base: Duration) -> f64 {
    if base.is_zero() {
        f64::INFINITY
    } else {
        span.as_secs_f64() / base.as_secs_f64()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn millis(times: impl IntoIterator<Item = u64>) -> Samples {
        Samples::of(times.into_iter().map(Duration::from_millis))
    }

    #[test]
    fn percentiles_are_times_that_occurred() {
        let samples = millis([40, 10, 30, 20]);
        let found = [25, 50, 51, 75, 95, 100].map(|percent| samples.percentile(percent));
        assert_eq!(found, [10, 20, 30, 30, 40, 40].map(Duration::from_millis));
        assert_eq!(samples.longest(), Duration::from_millis(40));
        assert_eq!(samples.spread(), Duration::from_millis(20));
    }

    #[test]
    fn one_slow_time_moves_neither_median_nor_spread() {
        let quiet = millis([5, 5, 5, 5, 5]);
        let disturbed = millis([5, 5, 5, 5, 900]);
        assert_eq!(
            (quiet.median(), quiet.spread()),
            (disturbed.median(), disturbed.spread())
        );
    }

    #[test]
    fn no_samples_are_zero() {
        assert_eq!(Samples::default().median(), Duration::ZERO);
        assert_eq!(Samples::default().spread(), Duration::ZERO);
    }

    #[test]
    fn raw_samples_are_written_in_microseconds() {
        assert_eq!(
            serde_json::to_string(&millis([2, 1])).unwrap(),
            "[1000,2000]"
        );
    }

    #[test]
    fn a_ratio_to_nothing_is_never_met() {
        assert!(times(Duration::from_secs(1), Duration::ZERO) > f64::MAX);
        assert!((times(Duration::from_secs(3), Duration::from_secs(2)) - 1.5).abs() < f64::EPSILON);
    }
}
