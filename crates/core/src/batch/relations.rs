//! What parts of a batch have to do with each other: who waits for whom, and who wants the same paths.

use std::collections::{BTreeMap, BTreeSet};

use super::manifest::{OverlapRule, PartSpec};
use super::mistake::{Collision, Wrong};
use crate::PartName;
use crate::ownership::{CaseRule, overlap};

/// Parts with everything that must be done before each, directly or not.
pub(super) struct Ancestry<'a>(BTreeMap<&'a PartName, BTreeSet<&'a PartName>>);

impl<'a> Ancestry<'a> {
    /// Of parts without a circle; what lies on one is its own ancestor.
    pub(super) fn of(parts: &'a [PartSpec]) -> Self {
        let direct: BTreeMap<_, _> = parts.iter().map(|it| (&it.name, &it.after)).collect();
        let all = |part: &'a PartSpec| {
            let mut found = BTreeSet::new();
            let mut open: Vec<_> = part.after.iter().collect();
            while let Some(next) = open.pop() {
                if found.insert(next) {
                    open.extend(direct.get(next).into_iter().flat_map(|it| it.iter()));
                }
            }
            (&part.name, found)
        };
        Self(parts.iter().map(all).collect())
    }

    /// Whether `later` waits for `earlier`, directly or not.
    pub(super) fn waits(&self, later: &PartName, earlier: &PartName) -> bool {
        self.0.get(later).is_some_and(|it| it.contains(earlier))
    }

    fn are_related(&self, left: &PartName, right: &PartName) -> bool {
        self.waits(left, right) || self.waits(right, left)
    }
}

/// Each circle of parts that wait for each other, told once, by its first part.
pub(super) fn circles(parts: &[PartSpec]) -> Vec<Wrong> {
    let ancestry = Ancestry::of(parts);
    let mut told: BTreeSet<&PartName> = BTreeSet::new();
    let mut found = vec![];
    for part in parts {
        let is_on_circle = ancestry.waits(&part.name, &part.name);
        if !is_on_circle || told.contains(&part.name) {
            continue;
        }
        let on_it = |other: &&PartSpec| {
            other.name == part.name
                || (ancestry.waits(&part.name, &other.name)
                    && ancestry.waits(&other.name, &part.name))
        };
        let circle: Vec<_> = parts.iter().filter(on_it).map(|it| &it.name).collect();
        told.extend(&circle);
        found.push(Wrong::Circle(circle.into_iter().cloned().collect()));
    }
    found
}

/// Every pair of parts that could run at the same time and want the same paths.
pub(super) fn collisions(parts: &[PartSpec], rule: OverlapRule, case: CaseRule) -> Vec<Wrong> {
    if rule == OverlapRule::Serialise {
        return vec![];
    }
    let ancestry = Ancestry::of(parts);
    let mut found = vec![];
    for (place, left) in parts.iter().enumerate() {
        let others = parts[place + 1..].iter();
        let unrelated = others.filter(|it| !ancestry.are_related(&left.name, &it.name));
        found.extend(unrelated.filter_map(|right| {
            let overlap = overlap(&left.owns, &right.owns, case)?;
            Some(Wrong::Overlap(Box::new(Collision {
                left: left.name.clone(),
                right: right.name.clone(),
                overlap,
            })))
        }));
    }
    found
}

/// Parts that are named twice, and names that no part has.
pub(super) fn strangers(part: &PartSpec, parts: &[PartSpec]) -> Vec<Wrong> {
    let is_known = |name: &&PartName| parts.iter().any(|it| it.name == **name);
    let unknown = part.after.iter().filter(|name| !is_known(name));
    unknown.cloned().map(Wrong::UnknownDependency).collect()
}
