//! What was published of a session, and when: its journal, as values.

use std::fmt;
use std::path::Path;
use std::time::Duration;

use anyhow::{Context as _, Result};
use handoff_core::Timestamp;
use handoff_session::journal::{Entry, Event};
use handoff_session::state::Phase;

/// A state by its words: `blocked` with what it is about.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Shown(pub(super) String);

/// The changes of state, in order.
#[derive(Clone, Debug, Default)]
pub(super) struct Timeline(Vec<(Timestamp, Shown)>);

impl Shown {
    pub(super) fn new(word: &str) -> Self {
        Self(word.to_owned())
    }
}

impl fmt::Display for Shown {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.pad(&self.0)
    }
}

impl Timeline {
    pub(super) fn read(journal: &Path) -> Result<Self> {
        let text = std::fs::read_to_string(journal).context("there is no journal")?;
        let entries = text
            .lines()
            .filter_map(|line| serde_json::from_str::<Entry>(line).ok());
        Ok(Self(entries.filter_map(|entry| change(&entry)).collect()))
    }

    /// Whether this was in force at some time within a span after a moment, and how long after it at first.
    pub(super) fn lag(
        &self,
        wanted: &Shown,
        proof: Timestamp,
        within: Duration,
    ) -> Option<Duration> {
        let end = proof + within;
        let mut lags = self
            .0
            .iter()
            .enumerate()
            .filter_map(|(index, (begin, state))| {
                let over = self.0.get(index + 1).map(|(next, _)| *next);
                let is_there =
                    state == wanted && *begin <= end && over.is_none_or(|over| over > proof);
                is_there.then(|| between(proof, *begin))
            });
        lags.next()
    }

    /// What else was in force between two moments.
    pub(super) fn strangers(&self, wanted: &Shown, from: Timestamp, to: Timestamp) -> Vec<Shown> {
        let changes = self.0.iter().enumerate();
        let in_force = changes.filter(|(index, (begin, _))| {
            let over = self.0.get(index + 1).map(|(next, _)| *next);
            *begin < to && over.is_none_or(|over| over > from)
        });
        let strangers = in_force.filter(|(_, (_, state))| state != wanted);
        strangers.map(|(_, (_, state))| state.clone()).collect()
    }

    pub(super) fn last(&self) -> Option<&(Timestamp, Shown)> {
        self.0.last()
    }

    /// Whether this was published after a moment.
    pub(super) fn has_since(&self, wanted: &Shown, since: Timestamp) -> bool {
        self.0
            .iter()
            .any(|(at, state)| at >= &since && state == wanted)
    }
}

/// Nothing if the second is the earlier one.
fn between(first: Timestamp, second: Timestamp) -> Duration {
    Duration::try_from(second.duration_since(first)).unwrap_or_default()
}

fn change(entry: &Entry) -> Option<(Timestamp, Shown)> {
    if let Event::StateChanged { state, kind, .. } = &entry.event {
        let about = kind.filter(|_| *state == Phase::Blocked);
        let shown = about.map_or(state.word().to_owned(), |kind| {
            format!("blocked ({})", kind.word())
        });
        return Some((entry.ts, Shown(shown)));
    }
    let Event::Exited { exit } = &entry.event else {
        return None;
    };
    Some((entry.ts, Shown(format!("exited ({exit:?})"))))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(millis: i64) -> Timestamp {
        Timestamp::from_millisecond(1_000_000 + millis).unwrap()
    }

    fn timeline() -> Timeline {
        let states = [
            (0, "starting"),
            (100, "prompt"),
            (1000, "busy"),
            (2000, "prompt"),
        ];
        Timeline(
            states
                .map(|(time, word)| (at(time), Shown::new(word)))
                .to_vec(),
        )
    }

    #[test]
    fn a_state_is_in_time_if_it_is_in_force_soon_after_the_proof() {
        let within = Duration::from_millis(500);
        let lag = |word: &str, proof| timeline().lag(&Shown::new(word), at(proof), within);
        assert_eq!(lag("busy", 900), Some(Duration::from_millis(100)));
        assert_eq!(lag("busy", 1500), Some(Duration::ZERO));
        assert_eq!(lag("busy", 400), None);
        assert_eq!(lag("busy", 2100), None);
    }

    #[test]
    fn whatever_else_was_in_force_is_a_stranger() {
        let strangers = |from, to| timeline().strangers(&Shown::new("busy"), at(from), at(to));
        assert_eq!(strangers(1000, 2000), []);
        assert_eq!(strangers(900, 1900), [Shown::new("prompt")]);
        assert!(timeline().has_since(&Shown::new("prompt"), at(1500)));
    }
}
