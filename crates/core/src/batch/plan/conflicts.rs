//! Which parts want the same paths.

use crate::batch::manifest::PartSpec;
use crate::ownership::{CaseRule, overlap};

/// Pairs of parts that must not run at the same time, by their places.
pub(super) struct Conflicts(Vec<(usize, usize)>);

impl Conflicts {
    pub(super) fn of(parts: &[PartSpec]) -> Self {
        let owns = |place: usize| &parts[place].owns;
        let pairs = (0..parts.len()).flat_map(|left| (0..left).map(move |right| (right, left)));
        let meet = |&(left, right): &(usize, usize)| {
            overlap(owns(left), owns(right), CaseRule::NATIVE).is_some()
        };
        Self(pairs.filter(meet).collect())
    }

    pub(super) fn meet(&self, one: usize, other: usize) -> bool {
        self.0.contains(&(one.min(other), one.max(other)))
    }
}
