//! When trees are made ahead: after agents have begun, while others wait for a slot.

use std::sync::Arc;
use std::sync::mpsc::Sender;
use std::thread;

use handoff_store::{read, tasks};

use super::hand::Knock;
use super::{Crew, Shift, Site};
use crate::error::EngineError;
use crate::workshop::Workshop;

/// How many tasks are looked at to tell whether some wait for a slot. Some of them may wait for something else; trees for those
/// are of use to others, or go when nobody works any more.
const COUNTED: u32 = 1_000;

/// Whether trees are made ahead.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Stocking {
    /// Nobody has begun since the last ones were made.
    Enough,
    /// Somebody has: they may have taken some.
    Short,
    /// Somebody makes some.
    UnderWay,
}

impl Stocking {
    /// One who makes some goes on, and is not asked again.
    pub(super) fn runs_short(&mut self) {
        if *self == Self::Enough {
            *self = Self::Short;
        }
    }
}

/// Knocks when somebody no longer makes trees, for whatever reason.
struct Stocked<E>(Sender<Knock<E>>);

impl<E> Drop for Stocked<E> {
    fn drop(&mut self) {
        // Nobody at the door: the crew has gone home.
        self.0.send(Knock::Stocked).ok();
    }
}

impl<S: Site> Crew<S> {
    /// While agents work, trees are made for those who wait for a slot.
    pub(super) fn lay_in(&mut self, workshop: &mut Workshop<'_>) -> Result<(), EngineError> {
        if self.stocking != Stocking::Short || self.shift == Shift::Once {
            return Ok(());
        }
        self.stocking = Stocking::Enough;
        let project = workshop.project;
        let ready = read(workshop.store, |tx| tasks::census(tx, project, COUNTED))?.queued;
        if ready == 0 {
            return Ok(());
        }
        self.stocking = Stocking::UnderWay;
        let wanted = ready.min(self.rota.slots());
        let (site, bell) = (Arc::clone(&self.site), self.bell.clone());
        // At the usual priority: it takes locks that those wait for who begin.
        thread::spawn(move || {
            let _stocked = Stocked(bell);
            // Whoever finds none makes one.
            site.lay_in(wanted).ok();
        });
        Ok(())
    }
}
