//! What was refused, and how often it is told: a program in a loop must not fill a journal.

use std::collections::BTreeMap;

/// The most combinations of who and what that are told apart; all others count as one.
const MOST: usize = 32;

/// What was refused to whom.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Attempt {
    /// The session that tried, or what else is known of the process.
    pub(crate) by: String,
    pub(crate) act: String,
}

/// How often each was refused.
#[derive(Debug, Default)]
pub(crate) struct Attempts {
    counts: BTreeMap<Attempt, u64>,
}

impl Attempts {
    /// Counts one. Says how often it was refused by now if that is to be told: the first time, and each time that the number
    /// has doubled.
    pub(crate) fn count(&mut self, attempt: Attempt) -> Option<(Attempt, u64)> {
        let is_known = self.counts.contains_key(&attempt);
        let attempt = if is_known || self.counts.len() < MOST {
            attempt
        } else {
            Attempt {
                by: "others".to_owned(),
                act: "other".to_owned(),
            }
        };
        let times = self.counts.entry(attempt.clone()).or_default();
        *times = times.saturating_add(1);
        times.is_power_of_two().then_some((attempt, *times))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn attempt(by: &str, act: &str) -> Attempt {
        Attempt {
            by: by.to_owned(),
            act: act.to_owned(),
        }
    }

    #[test]
    fn a_loop_is_told_a_few_times() {
        let mut attempts = Attempts::default();
        let told = (0..1000).filter_map(|_| attempts.count(attempt("ses_a", "answer")));
        let times: Vec<u64> = told.map(|(_, times)| times).collect();
        assert_eq!(times, [1, 2, 4, 8, 16, 32, 64, 128, 256, 512]);
        let other = attempts.count(attempt("ses_a", "stop"));
        assert_eq!(other, Some((attempt("ses_a", "stop"), 1)));
    }

    #[test]
    fn one_who_is_always_somebody_else_fills_nothing() {
        let mut attempts = Attempts::default();
        let told = (0..100_000).filter(|number| {
            let attempt = attempt(&number.to_string(), "answer");
            attempts.count(attempt).is_some()
        });
        assert!(told.count() < 64);
        assert!(attempts.counts.len() <= MOST + 1);
    }
}
