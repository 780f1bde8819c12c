//! The end of a walk: the outcome is recorded, whoever waits for it is told, and the worktree goes.

use handoff_core::run::Cause;
use handoff_core::task::Evidence;
use handoff_files::Lock;

use super::{Ending, Walk, Walked, reason};
use crate::baton;
use crate::error::EngineError;
use crate::judgement::prove;
use crate::places::Attempt;
use crate::reconcile::{self, is_finished};
use crate::spawn::Spawn;
use crate::workshop::Workshop;

/// How far a walk has come: what whoever hands out work wants to know.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Milestone {
    /// The agent runs, or there is nothing for one to do.
    Launched,
    /// The agent has finished, and nothing of what it left will be run. What is still to be done is the tool's own work.
    Vacated,
    /// The outcome is recorded, and nobody has to wait for the rest.
    Arrived(Walked),
}

impl Walk {
    /// Walks, and returns when nothing of the attempt is left but what it made.
    pub fn to_the_end(
        self,
        workshop: &mut Workshop<'_>,
        spawn: &dyn Spawn,
    ) -> Result<Walked, EngineError> {
        let mut arrived = None;
        self.walk(workshop, spawn, &mut |milestone| match milestone {
            Milestone::Launched | Milestone::Vacated => {}
            Milestone::Arrived(walked) => arrived = Some(walked),
        })?;
        Ok(arrived.expect("a walk that does not fail arrives"))
    }

    /// Walks. `passed` hears of the outcome as soon as nobody has to wait for the rest: what is done has left all that
    /// counts in git and in the ledger, and the next task can begin while its worktree is looked at for the last time and
    /// removed. What is not done may be begun again, and the next attempt wants to know what was saved of this one.
    pub fn walk(
        mut self,
        workshop: &mut Workshop<'_>,
        spawn: &dyn Spawn,
        passed: &mut dyn FnMut(Milestone),
    ) -> Result<(), EngineError> {
        let name = self.task.spec.name.clone();
        let arrived = self.arrive(workshop, spawn, passed);
        if arrived.is_err() {
            baton::refresh(workshop, &[self.task.id]);
        }
        let ending = arrived?;
        let is_done = ending == Ending::Done;
        let mut walked = Some(Walked { name, ending });
        if is_done && let Some(walked) = walked.take() {
            passed(Milestone::Arrived(walked));
        }
        // The outcome is recorded; what keeps the worktree from going is the reconcilers' business.
        reconcile::retire(workshop, &self.task, Attempt::of(&self.task)).ok();
        if let Some(walked) = walked {
            passed(Milestone::Arrived(walked));
        }
        // What people read of it follows when nobody waits for this walk any more.
        baton::refresh(workshop, &[self.task.id]);
        Ok(())
    }

    /// Goes as far as the outcome, and gives the task back if something is wrong that is not the task's fault.
    fn arrive(
        &mut self,
        workshop: &mut Workshop<'_>,
        spawn: &dyn Spawn,
        passed: &mut dyn FnMut(Milestone),
    ) -> Result<Ending, EngineError> {
        match self.go(workshop, spawn, passed) {
            Ok(ending) => Ok(ending),
            // Its parts do not fit together: trying again would not help.
            Err(error @ EngineError::NoBeginning { .. }) => {
                let ending = Ending::Blocked(reason(&error.to_string()));
                self.reject(workshop, ending)
            }
            Err(EngineError::NoProof(why)) => {
                let cause = Cause::NoProof;
                prove(workshop, &self.task, &Evidence::Refused { cause }, "refuse")?;
                self.reject(workshop, Ending::Blocked(reason(&why)))
            }
            Err(EngineError::Spawn(error)) => {
                self.put_off(workshop, self.unstarted(&error.to_string()))
            }
            // Its work is there, and whoever finds the repository judges it.
            Err(error) if workshop.require_repository().is_err() && self.has_begun(workshop) => {
                Err(error)
            }
            Err(error) => {
                let mut why = error.to_string();
                if let Some(cause) = std::error::Error::source(&error) {
                    why = format!("{why}: {cause}");
                }
                // If that fails too, the lease ends with our lock.
                self.reject(workshop, Ending::GivenBack(reason(&why))).ok();
                Err(error)
            }
        }
    }

    /// Whether its session was begun, and lives or has said how it ended.
    fn has_begun(&self, workshop: &Workshop<'_>) -> bool {
        let holder = workshop.places.holder_lock(self.session);
        Lock::is_held(&holder).unwrap_or(true)
            || is_finished(&workshop.places, self.session).unwrap_or(true)
    }
}
