//! What can be asked of a run, and how it says no.

use serde::{Deserialize, Serialize};

use super::cause::Cause;
use super::event::RunEvent;
use super::spec::{Run, RunState, Step};
use crate::caller::{Action, Forbidden};
use crate::task::Reason;
use crate::{Caller, PhaseName, Timestamp};

/// What can be asked of a run that exists.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub enum RunCommand {
    /// Go on through the gate.
    Approve,
    /// Do the phase before the gate again.
    Reject {
        /// Why: the next attempt reads it.
        reason: Reason,
    },
    /// Stop for a while.
    Pause,
    /// Go on.
    Resume,
    /// Try again what it stopped at, or from an earlier phase on.
    Retry {
        /// From which phase.
        from: Option<PhaseName>,
    },
    /// Call it off.
    Cancel {
        /// Why, if they say.
        reason: Option<Reason>,
    },
}

/// Why a command changes nothing.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum RunRefusal {
    /// The caller table says no.
    #[error(transparent)]
    Forbidden(#[from] Forbidden),
    /// It waits at no gate.
    #[error("it is {0} and waits at no gate")]
    NoGate(&'static str),
    /// The gate was open for too long.
    #[error("nobody came to its gate in time; retry the phase to have it looked at again")]
    GateExpired,
    /// It does not work on anything.
    #[error("it is {0}, so there is nothing to pause")]
    NotWorking(&'static str),
    /// It is not paused.
    #[error("it is {0}, not paused")]
    NotPaused(&'static str),
    /// It is at work.
    #[error("it is {0}; only one that stopped or waits can be retried")]
    NotStopped(&'static str),
    /// It never came to that phase.
    #[error("phase `{0}` was not proved in it, so there is nothing to go back to")]
    NeverThere(PhaseName),
    /// It has ended.
    #[error("it is already {0}")]
    Over(&'static str),
}

impl Run {
    /// Decides a command.
    pub fn decide(
        &self,
        command: &RunCommand,
        by: &Caller,
        now: Timestamp,
    ) -> Result<Vec<RunEvent>, RunRefusal> {
        let word = self.state.word();
        by.may(command.action())?;
        if !self.state.is_live() {
            return Err(RunRefusal::Over(word));
        }
        match command {
            RunCommand::Approve => {
                self.at_gate(now)?;
                Ok(self.through_gate())
            }
            RunCommand::Reject { reason } => {
                self.at_gate(now)?;
                let reason = reason.clone();
                Ok(self.then_open(vec![RunEvent::Rejected { reason }]))
            }
            RunCommand::Pause if !self.is_under_way() => Err(RunRefusal::NotWorking(word)),
            RunCommand::Pause => Ok(vec![RunEvent::Paused]),
            RunCommand::Resume if !self.is_paused() => Err(RunRefusal::NotPaused(word)),
            RunCommand::Resume if self.at.batch.is_some() => {
                Ok(vec![RunEvent::Resumed, self.fanning_out()])
            }
            RunCommand::Resume => Ok(self.then_open(vec![RunEvent::Resumed])),
            RunCommand::Retry { from } => self.retry(from.as_ref()),
            RunCommand::Cancel { reason } => {
                let reason = reason.clone();
                Ok(vec![RunEvent::Cancelled { reason }])
            }
        }
    }

    fn at_gate(&self, now: Timestamp) -> Result<(), RunRefusal> {
        let RunState::Gated { until } = self.state else {
            return Err(RunRefusal::NoGate(self.state.word()));
        };
        if now < until {
            Ok(())
        } else {
            Err(RunRefusal::GateExpired)
        }
    }

    fn through_gate(&self) -> Vec<RunEvent> {
        let mut passed = self.clone();
        passed.apply(RunEvent::Approved, self.begun_at);
        let mut events = vec![RunEvent::Approved];
        events.extend(passed.onwards());
        events
    }

    fn retry(&self, from: Option<&PhaseName>) -> Result<Vec<RunEvent>, RunRefusal> {
        if self.is_under_way() {
            return Err(RunRefusal::NotStopped(self.state.word()));
        }
        if let (None, Some(batch)) = (from, self.at.batch) {
            let phase = self.at.phase.clone();
            return Ok(vec![RunEvent::FannedOut { phase, batch }]);
        }
        let (phase, steps) = match from {
            // At a gate the phase is proved already: what is tried again is that one.
            None if self.is_gated() => (self.at.phase.clone(), self.steps_before_last()),
            None => (self.at.phase.clone(), self.steps.len()),
            Some(phase) if *phase == self.at.phase && !self.is_behind_its_phase() => {
                (phase.clone(), self.steps.len())
            }
            Some(phase) => {
                let is_meant = |it: &Step| it.phase == *phase && !it.is_join();
                let place = self.steps.iter().rposition(is_meant);
                let place = place.ok_or_else(|| RunRefusal::NeverThere(phase.clone()))?;
                (phase.clone(), place)
            }
        };
        let is_behind = from.is_none() && self.stands_behind_its_phase();
        let steps = u64::try_from(steps).unwrap_or(u64::MAX);
        let rewound = RunEvent::Rewound { phase, steps };
        if !is_behind {
            return Ok(self.then_open(vec![rewound]));
        }
        let mut then = self.clone();
        then.apply(rewound.clone(), self.begun_at);
        let mut events = vec![rewound];
        events.extend(then.onwards());
        Ok(events)
    }

    /// Whether its phase is proved, agreed to where somebody must agree, and what it lacked was something to go on with. One that made
    /// no progress was not asked about yet: it is done again.
    const fn stands_behind_its_phase(&self) -> bool {
        let is_poor = matches!(
            self.state,
            RunState::Stopped {
                cause: Cause::BudgetSpent | Cause::NameTaken,
                ..
            }
        );
        is_poor && self.at.number == 0 && !self.steps.is_empty()
    }

    /// Whether its phase is proved: at a gate, or while it waits for the batch of the phase.
    const fn is_behind_its_phase(&self) -> bool {
        self.is_gated() || self.at.batch.is_some()
    }

    const fn is_under_way(&self) -> bool {
        matches!(
            self.state,
            RunState::Working { .. } | RunState::FannedOut { .. }
        )
    }

    fn is_paused(&self) -> bool {
        matches!(self.state, RunState::Paused { .. })
    }

    const fn is_gated(&self) -> bool {
        matches!(self.state, RunState::Gated { .. })
    }

    /// These events, and a task for the phase at which they leave the run.
    fn then_open(&self, mut events: Vec<RunEvent>) -> Vec<RunEvent> {
        let mut then = self.clone();
        for event in &events {
            then.apply(event.clone(), self.begun_at);
        }
        events.push(then.opening());
        events
    }
}

impl RunCommand {
    /// A gate is a person's: whoever benefits from a verdict does not give it.
    const fn action(&self) -> Action {
        match self {
            Self::Approve | Self::Reject { .. } => Action::Approve,
            Self::Pause | Self::Resume | Self::Retry { .. } | Self::Cancel { .. } => Action::Steer,
        }
    }
}
