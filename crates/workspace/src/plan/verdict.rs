//! Which step is current: the one answer for every command.

use super::{Marker, Plan, Step, StepNumber};

/// What can be done with a plan.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Verdict {
    /// Something is wrong that a person or agent has to put right first.
    Invalid,
    /// There is no step.
    NotInitialised,
    /// Every step is done.
    NothingRemaining,
    /// Only blocked steps remain.
    Blocked,
    /// Exactly one step is current.
    Ready {
        /// This one.
        current: StepNumber,
    },
}

impl Plan {
    /// What can be done with it. The current step is the one `[>]`; if there is none, the first that is pending.
    #[must_use]
    pub fn verdict(&self) -> Verdict {
        if self.errors().next().is_some() {
            return Verdict::Invalid;
        }
        if self.steps.is_empty() {
            return Verdict::NotInitialised;
        }
        let first = |marker: &Marker| self.steps.iter().find(|step| step.marker == *marker);
        match first(&Marker::Current).or_else(|| first(&Marker::Pending)) {
            Some(step) => Verdict::Ready {
                current: step.number,
            },
            None if self.steps.iter().all(Step::is_done) => Verdict::NothingRemaining,
            None => Verdict::Blocked,
        }
    }

    /// The current step, if the plan is ready.
    #[must_use]
    pub fn current(&self) -> Option<&Step> {
        match self.verdict() {
            Verdict::Ready { current } => self.step(current),
            Verdict::Invalid
            | Verdict::NotInitialised
            | Verdict::NothingRemaining
            | Verdict::Blocked => None,
        }
    }
}
