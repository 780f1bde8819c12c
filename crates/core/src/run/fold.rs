//! What an event means for a run.

use super::cause::Cause;
use super::event::RunEvent;
use super::spec::{Attempt, Refused, Run, RunSpec, RunState, Step, Used};
use crate::task::Reason;
use crate::{PhaseName, ProjectId, RunId, Timestamp};

/// A history that no run can have.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum HistoryError {
    /// The first event is not `Begun`, or there is none.
    #[error("the history of {0} does not begin with `begun`")]
    NoBeginning(RunId),
    /// A number is missing or stands twice.
    #[error("the history of {run} has event {found} where {expected} was due")]
    Gap {
        /// Whose history.
        run: RunId,
        /// The number that was due.
        expected: u64,
        /// The number found.
        found: u64,
    },
}

impl Run {
    /// The run right after it began, without a task yet.
    pub fn begin(id: RunId, project: ProjectId, spec: RunSpec, at: Timestamp) -> Self {
        let first = spec.workflow.first().name.clone();
        Self {
            id,
            project,
            spec,
            begun_at: at,
            state: RunState::Paused { at },
            steps: vec![],
            at: Attempt::first(first),
            tasks: 0,
            spent: 0,
            before: Used::default(),
            version: 1,
        }
    }

    /// Rebuilds a run from its history: (number, time, event), oldest first.
    pub fn replay(
        id: RunId,
        project: ProjectId,
        history: impl IntoIterator<Item = (u64, Timestamp, RunEvent)>,
    ) -> Result<Self, HistoryError> {
        let mut history = history.into_iter();
        let Some((1, at, RunEvent::Begun { spec })) = history.next() else {
            return Err(HistoryError::NoBeginning(id));
        };
        let mut run = Self::begin(id, project, *spec, at);
        for (seq, at, event) in history {
            let expected = run.version + 1;
            if seq != expected {
                return Err(HistoryError::Gap {
                    run: id,
                    expected,
                    found: seq,
                });
            }
            run.apply(event, at);
        }
        Ok(run)
    }

    /// Takes one event in.
    pub fn apply(&mut self, event: RunEvent, at: Timestamp) {
        self.version += 1;
        match event {
            RunEvent::Begun { .. } | RunEvent::Approved => {}
            RunEvent::Opened { phase, task } => self.open(phase, task),
            RunEvent::FannedOut { phase, batch } => {
                self.at = Attempt {
                    batch: Some(batch),
                    ..Attempt::first(phase)
                };
                self.state = RunState::FannedOut { batch };
            }
            RunEvent::Proved {
                phase,
                task,
                verdict,
            } => {
                self.at = Attempt::first(phase.clone());
                self.steps.push(Step {
                    phase,
                    task,
                    verdict,
                });
            }
            RunEvent::Refused {
                cause,
                reason,
                left,
                ..
            } => {
                self.at.refused = Some(Refused {
                    cause,
                    reason,
                    left,
                });
            }
            RunEvent::Spent { tokens, .. } => self.spent = self.spent.saturating_add(tokens),
            RunEvent::Gated { until } => self.state = RunState::Gated { until },
            RunEvent::Rejected { reason } => self.undo(reason),
            RunEvent::Stopped { cause, reason } => {
                self.state = RunState::Stopped { at, cause, reason };
            }
            RunEvent::Paused => {
                self.at.number = self.at.number.saturating_sub(1);
                self.state = RunState::Paused { at };
            }
            RunEvent::Resumed => {}
            RunEvent::Rewound { phase, steps } => {
                self.before = Used {
                    tasks: self.tasks,
                    tokens: self.spent,
                };
                self.steps
                    .truncate(usize::try_from(steps).unwrap_or(usize::MAX));
                let refused = self.at.refused.take().filter(|_| self.at.phase == phase);
                self.at = Attempt {
                    refused,
                    ..Attempt::first(phase)
                };
            }
            RunEvent::Ended => self.state = RunState::Done { at },
            RunEvent::Cancelled { reason } => self.state = RunState::Cancelled { at, reason },
        }
    }

    fn open(&mut self, phase: PhaseName, task: crate::TaskId) {
        let is_again = self.at.phase == phase;
        self.at = Attempt {
            number: if is_again { self.at.number + 1 } else { 1 },
            refused: self.at.refused.take().filter(|_| is_again),
            batch: None,
            phase,
        };
        self.tasks += 1;
        self.state = RunState::Working { task };
    }

    /// The phase before the gate is to be done again, with the person's reason.
    fn undo(&mut self, reason: Reason) {
        self.steps.truncate(self.steps_before_last());
        self.at.refused = Some(Refused {
            cause: Cause::CalledOff,
            reason,
            left: None,
        });
    }
}

impl Attempt {
    /// Nothing was tried yet.
    const fn first(phase: PhaseName) -> Self {
        Self {
            phase,
            number: 0,
            refused: None,
            batch: None,
        }
    }
}
