//! Where the middle and the tail of some counts are.

#[derive(Debug)]
pub(super) struct Distribution(Vec<usize>);

impl Distribution {
    pub(super) fn of(counts: impl IntoIterator<Item = usize>) -> Self {
        let mut sorted: Vec<usize> = counts.into_iter().collect();
        sorted.sort_unstable();
        Self(sorted)
    }

    /// The smallest count that this share of all counts does not exceed; 0 when there are none.
    pub(super) fn percentile(&self, percent: usize) -> usize {
        let rank = (self.0.len() * percent).div_ceil(100);
        self.0.get(rank.saturating_sub(1)).copied().unwrap_or(0)
    }

    pub(super) fn max(&self) -> usize {
        self.percentile(100)
    }

    /// The share, in percent, of counts above a limit.
    pub(super) fn share_above(&self, limit: usize) -> f64 {
        let above = self.0.iter().filter(|count| **count > limit).count();
        percent(above, self.0.len())
    }
}

/// Nothing of nothing is nothing.
pub(super) fn percent(part: usize, whole: usize) -> f64 {
    if whole == 0 {
        0.0
    } else {
        100.0 * part as f64 / whole as f64
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn percentiles_are_counts_that_occur() {
        let tens = Distribution::of((1..=10).map(|n| n * 10));
        assert_eq!(
            [50, 90, 91, 100].map(|p| tens.percentile(p)),
            [50, 90, 100, 100]
        );
        assert_eq!(Distribution::of([7]).percentile(50), 7);
        assert_eq!(Distribution::of([]).percentile(50), 0);
    }

    #[test]
    fn the_share_above_a_limit_leaves_out_the_limit() {
        let share = Distribution::of([99, 100, 101, 200]).share_above(100);
        assert!((share - 50.0).abs() < f64::EPSILON);
    }
}
