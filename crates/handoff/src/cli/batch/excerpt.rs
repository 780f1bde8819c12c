//! Which parts of a batch are shown where there is no room for all of them.

use std::collections::BTreeMap;

use handoff_api::BatchPartDocument;
use handoff_core::task::Phase;

/// Parts that are shown, in their order, and what is said of the others.
pub(super) struct Excerpt<'a> {
    pub(super) shown: Vec<&'a BatchPartDocument>,
    pub(super) rest: Option<String>,
}

impl<'a> Excerpt<'a> {
    /// As many as there is room for: what is worked on and what needs somebody comes first, what is over last.
    pub(super) fn of(parts: &'a [BatchPartDocument], room: Option<usize>) -> Self {
        let room = room.filter(|room| *room < parts.len());
        let Some(room) = room else {
            return Self {
                shown: parts.iter().collect(),
                rest: None,
            };
        };
        let mut places: Vec<usize> = (0..parts.len()).collect();
        places.sort_by_key(|place| (interest(parts[*place].state), *place));
        let mut left = places.split_off(room);
        places.sort_unstable();
        left.sort_unstable();
        Self {
            shown: places.iter().map(|place| &parts[*place]).collect(),
            rest: Some(counted(left.iter().map(|place| parts[*place].state))),
        }
    }
}

/// The lower, the sooner it is shown.
const fn interest(state: Phase) -> u8 {
    match state {
        Phase::Leased | Phase::Running => 0,
        Phase::Failed | Phase::Blocked => 1,
        Phase::Resting | Phase::Held => 2,
        Phase::Queued => 3,
        Phase::Waiting => 4,
        Phase::Done | Phase::Cancelled => 5,
    }
}

fn counted(states: impl Iterator<Item = Phase>) -> String {
    let mut counts: BTreeMap<(u8, &str), usize> = BTreeMap::new();
    for state in states {
        *counts.entry((interest(state), state.word())).or_default() += 1;
    }
    let told: Vec<_> = { counts.iter() }
        .map(|((_, word), count)| format!("{count} {word}"))
        .collect();
    format!("and {}", told.join(", "))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn part(name: &str, state: Phase) -> BatchPartDocument {
        BatchPartDocument {
            part: name.to_owned(),
            id: String::new(),
            task: name.to_owned(),
            state,
            attempts: 0,
            session: None,
            agent: None,
            estimate_seconds: None,
            took_seconds: None,
            expected_seconds: None,
            left_seconds: None,
            step: None,
            stints: vec![],
            said: None,
        }
    }

    #[test]
    fn what_is_at_work_is_shown_before_what_waits_and_what_is_over() {
        let states = [
            ("a", Phase::Done),
            ("b", Phase::Queued),
            ("c", Phase::Failed),
            ("d", Phase::Done),
            ("e", Phase::Running),
            ("f", Phase::Queued),
        ];
        let parts = states.map(|(name, state)| part(name, state));
        let shown = |room: Option<usize>| {
            let excerpt = Excerpt::of(&parts, room);
            let names: String = excerpt.shown.iter().map(|it| it.part.as_str()).collect();
            (names, excerpt.rest)
        };
        assert_eq!(shown(None), ("abcdef".to_owned(), None));
        assert_eq!(shown(Some(6)), ("abcdef".to_owned(), None));
        let rest = Some("and 1 queued, 2 done".to_owned());
        assert_eq!(shown(Some(3)), ("bce".to_owned(), rest));
        let rest = Some("and 1 running, 1 failed, 2 queued, 2 done".to_owned());
        assert_eq!(shown(Some(0)), (String::new(), rest));
    }
}
