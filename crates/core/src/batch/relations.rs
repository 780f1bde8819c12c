//! What parts of a batch have to do with each other: who waits for whom, and who wants the same paths.

use std::collections::{BTreeMap, BTreeSet};

use super::manifest::OverlapRule;
use super::mistake::{Collision, Wrong};
use crate::ownership::{CaseRule, overlap};
use crate::{Ownership, PartName};

/// What a part has to do with others.
pub(super) struct Kin<'a> {
    pub(super) name: &'a PartName,
    pub(super) after: &'a [PartName],
    /// None if nothing of it can be read.
    pub(super) owns: Option<&'a Ownership>,
}

/// Parts with everything that must be done before each, directly or not.
pub(super) struct Ancestry<'a>(BTreeMap<&'a PartName, BTreeSet<&'a PartName>>);

impl<'a> Ancestry<'a> {
    /// Of parts without a circle; what lies on one is its own ancestor.
    pub(super) fn of(parts: &[Kin<'a>]) -> Self {
        let direct: BTreeMap<_, _> = parts.iter().map(|it| (it.name, it.after)).collect();
        let all = |part: &Kin<'a>| {
            let mut found = BTreeSet::new();
            let mut open: Vec<_> = part.after.iter().collect();
            while let Some(next) = open.pop() {
                if found.insert(next) {
                    open.extend(direct.get(next).into_iter().flat_map(|it| it.iter()));
                }
            }
            (part.name, found)
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
pub(super) fn circles(parts: &[Kin<'_>]) -> Vec<Wrong> {
    let ancestry = Ancestry::of(parts);
    let mut told: BTreeSet<&PartName> = BTreeSet::new();
    let mut found = vec![];
    for part in parts {
        let is_on_circle = ancestry.waits(part.name, part.name);
        if !is_on_circle || told.contains(part.name) {
            continue;
        }
        let on_it = |other: &&Kin<'_>| {
            other.name == part.name
                || (ancestry.waits(part.name, other.name) && ancestry.waits(other.name, part.name))
        };
        let circle: Vec<_> = parts.iter().filter(on_it).map(|it| it.name).collect();
        told.extend(&circle);
        found.push(Wrong::Circle(circle.into_iter().cloned().collect()));
    }
    found
}

/// Every pair of parts that could run at the same time and want the same paths.
pub(super) fn collisions(parts: &[Kin<'_>], rule: OverlapRule, case: CaseRule) -> Vec<Wrong> {
    if rule == OverlapRule::Serialise {
        return vec![];
    }
    let ancestry = Ancestry::of(parts);
    let mut found = vec![];
    for (place, left) in parts.iter().enumerate() {
        let others = parts[place + 1..].iter();
        let unrelated = others.filter(|it| !ancestry.are_related(left.name, it.name));
        found.extend(unrelated.filter_map(|right| {
            let overlap = overlap(left.owns?, right.owns?, case)?;
            Some(Wrong::Overlap(Box::new(Collision {
                left: left.name.clone(),
                right: right.name.clone(),
                overlap,
            })))
        }));
    }
    found
}

/// The parts that something waits for and that are none of these.
pub(super) fn strangers(after: &[PartName], parts: &[&str]) -> Vec<Wrong> {
    let unknown = after.iter().filter(|name| !parts.contains(&name.as_str()));
    unknown.cloned().map(Wrong::UnknownDependency).collect()
}
