//! How a batch would run: waves, and the time it would take.
//!
//! Two views of the same parts. The waves show what can run side by side: at most as many parts as there are slots, none of
//! which wants a path of another, each after the parts it waits for. The time is that of the queue, which does not wait for a
//! wave to end: whenever a slot is free it takes the longest part that may run. Longest first is no best schedule, but it is
//! never worse than 4/3 of one where nothing waits for anything, and it is the order in which the parts are published.

mod conflicts;

use std::collections::BTreeMap;
use std::num::NonZeroUsize;
use std::time::Duration;

use super::calibration::{Calibration, Kind};
use super::manifest::{Estimate, Manifest, PartSpec};
use crate::{AgentName, PartName};
use conflicts::Conflicts;

/// What a part takes when nobody guessed anything.
const UNGUESSED: Duration = Duration::from_secs(600);

/// How a batch would run.
#[derive(Debug, Clone, PartialEq)]
pub struct Plan {
    /// How many parts can run at the same time.
    pub slots: NonZeroUsize,
    /// What can run side by side, by place in the manifest.
    pub waves: Vec<Vec<usize>>,
    /// Each part with its time, in the order in which they begin.
    pub parts: Vec<Placed>,
    /// What bringing them together takes.
    pub fan_in: Duration,
}

/// A part in its place.
#[derive(Debug, Clone, PartialEq)]
pub struct Placed {
    /// Its place in the manifest.
    pub place: usize,
    /// Its name.
    pub name: PartName,
    /// When it begins.
    pub starts: Duration,
    /// How long it takes.
    pub takes: Duration,
    /// Where that comes from.
    pub basis: Basis,
}

impl Placed {
    /// When it ends.
    pub fn ends(&self) -> Duration {
        self.starts + self.takes
    }
}

/// Where a time comes from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Basis {
    /// Somebody guessed, and experience corrected it.
    Estimated,
    /// Nobody did: it is what the others take.
    Assumed,
}

/// What a worker takes on at the same time.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Room {
    /// So many tasks.
    pub slots: NonZeroUsize,
    /// Who works on a part that asks for nobody.
    pub usual: Option<AgentName>,
    /// How many tasks an agent gets at most.
    pub limits: BTreeMap<AgentName, NonZeroUsize>,
}

impl From<NonZeroUsize> for Room {
    fn from(slots: NonZeroUsize) -> Self {
        Self {
            slots,
            usual: None,
            limits: BTreeMap::new(),
        }
    }
}

impl Plan {
    /// For what a worker takes on, with what is known of earlier guesses.
    pub fn of(manifest: &Manifest, room: impl Into<Room>, known: &Calibration) -> Self {
        let room = room.into();
        let guessed = guesses(manifest, known);
        let jobs = Jobs {
            parts: &manifest.parts,
            takes: &guessed,
            conflicts: Conflicts::of(&manifest.parts),
            room: &room,
        };
        let fan_in = &manifest.fan_in;
        let multiple = known.multiple(Kind::FanIn, fan_in.agent.as_ref());
        let together = fan_in.estimate.map_or(Duration::ZERO, Estimate::span);
        let (waves, parts) = (jobs.waves(), jobs.schedule());
        Self {
            slots: room.slots,
            waves,
            parts,
            fan_in: together.mul_f64(multiple),
        }
    }

    /// What all would take one after the other.
    pub fn serial(&self) -> Duration {
        let parts: Duration = self.parts.iter().map(|it| it.takes).sum();
        parts + self.fan_in
    }

    /// What it takes on the wall.
    pub fn wall(&self) -> Duration {
        let last = self.parts.iter().map(Placed::ends).max();
        last.unwrap_or_default() + self.fan_in
    }

    /// How many times faster that is.
    pub fn speed_up(&self) -> f64 {
        ratio(self.serial(), self.wall())
    }

    /// What no schedule on these slots can beat, because the fan-in runs alone (Amdahl).
    pub fn bound(&self) -> f64 {
        amdahl(ratio(self.fan_in, self.serial()), self.slots)
    }
}

/// How many times faster something can get on so many slots, when a share of it cannot be split.
pub fn amdahl(serial_share: f64, slots: NonZeroUsize) -> f64 {
    1.0 / (serial_share + (1.0 - serial_share) / slots.get() as f64)
}

/// Zero where there is nothing to compare with.
pub(super) fn ratio(of: Duration, to: Duration) -> f64 {
    if to.is_zero() {
        0.0
    } else {
        of.as_secs_f64() / to.as_secs_f64()
    }
}

/// What each part takes: the guess, corrected; where there is none, the middle of the others.
fn guesses(manifest: &Manifest, known: &Calibration) -> Vec<(Duration, Basis)> {
    let mut given: Vec<_> = manifest.parts.iter().filter_map(|it| it.estimate).collect();
    given.sort();
    let middle = given.get(given.len() / 2).map_or(UNGUESSED, |it| it.span());
    let guess = |part: &PartSpec| {
        let multiple = known.multiple(Kind::SubTask, part.agent.as_ref());
        match part.estimate {
            Some(estimate) => (estimate.span().mul_f64(multiple), Basis::Estimated),
            None => (middle.mul_f64(multiple), Basis::Assumed),
        }
    };
    manifest.parts.iter().map(guess).collect()
}

/// Parts by their place in the manifest.
struct Jobs<'a> {
    parts: &'a [PartSpec],
    takes: &'a [(Duration, Basis)],
    conflicts: Conflicts,
    room: &'a Room,
}

impl Jobs<'_> {
    /// Longest first; of two that take the same, the earlier in the manifest.
    fn in_order(&self) -> Vec<usize> {
        let mut order: Vec<_> = (0..self.parts.len()).collect();
        order.sort_by_key(|&job| std::cmp::Reverse(self.takes[job].0));
        order
    }

    fn is_ready(&self, job: usize, done: &[usize]) -> bool {
        let is_done = |name: &PartName| done.iter().any(|&it| self.parts[it].name == *name);
        self.parts[job].after.iter().all(is_done)
    }

    fn agent(&self, job: usize) -> Option<&AgentName> {
        self.parts[job].agent.as_ref().or(self.room.usual.as_ref())
    }

    /// Whether a worker would take a part on beside these.
    fn has_room(&self, job: usize, beside: &[usize]) -> bool {
        let agent = self.agent(job);
        let most = agent.and_then(|it| self.room.limits.get(it));
        let same = { beside.iter() }.filter(|&&it| self.agent(it) == agent);
        beside.len() < self.room.slots.get() && most.is_none_or(|most| same.count() < most.get())
    }

    /// As many of `waiting` as fit beside what runs.
    fn fitting(&self, waiting: &[usize], running: &[usize], done: &[usize]) -> Vec<usize> {
        let mut beside = running.to_vec();
        for &job in waiting {
            let is_free = { beside.iter() }.all(|&other| !self.conflicts.meet(job, other));
            if is_free && self.has_room(job, &beside) && self.is_ready(job, done) {
                beside.push(job);
            }
        }
        beside.split_off(running.len())
    }

    fn waves(&self) -> Vec<Vec<usize>> {
        let (mut waiting, mut done, mut waves) = (self.in_order(), vec![], vec![]);
        while !waiting.is_empty() {
            let wave = self.fitting(&waiting, &[], &done);
            if wave.is_empty() {
                break;
            }
            waiting.retain(|job| !wave.contains(job));
            done.extend(&wave);
            waves.push(wave);
        }
        waves
    }

    fn schedule(&self) -> Vec<Placed> {
        let (mut waiting, mut done) = (self.in_order(), vec![]);
        let mut running: Vec<(Duration, usize)> = vec![];
        let mut placed = vec![];
        let mut now = Duration::ZERO;
        loop {
            let at_work: Vec<_> = running.iter().map(|(_, job)| *job).collect();
            let chosen = self.fitting(&waiting, &at_work, &done);
            waiting.retain(|job| !chosen.contains(job));
            for job in chosen {
                running.push((now + self.takes[job].0, job));
                placed.push(self.placed(job, now));
            }
            let Some(next) = running.iter().map(|(end, _)| *end).min() else {
                return placed;
            };
            now = next;
            done.extend(running.iter().filter(|(end, _)| *end == now).map(|it| it.1));
            running.retain(|(end, _)| *end > now);
        }
    }

    fn placed(&self, job: usize, starts: Duration) -> Placed {
        let (takes, basis) = self.takes[job];
        Placed {
            place: job,
            name: self.parts[job].name.clone(),
            starts,
            takes,
            basis,
        }
    }
}

#[cfg(test)]
mod tests;
