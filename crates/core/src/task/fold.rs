//! What an event means for a task. There is no other way to change one.

use super::Task;
use super::event::TaskEvent;
use super::spec::{Dependency, TaskSpec};
use super::state::TaskState;
use crate::lease::Tenure;
use crate::rest::Rest;
use crate::{Fence, Lease, ProjectId, TaskId, Timestamp};

/// A history that no task can have.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ReplayError {
    /// The first event is not `Added`, or there is none.
    #[error("the history of {0} does not begin with `added`")]
    NoBeginning(TaskId),
    /// A number is missing or stands twice.
    #[error("the history of {task} has event {found} where {expected} was due")]
    Gap {
        /// Whose history.
        task: TaskId,
        /// The number that was due.
        expected: u64,
        /// The number found.
        found: u64,
    },
}

impl Task {
    /// The task right after it was added.
    pub fn begin(id: TaskId, project: ProjectId, spec: TaskSpec, at: Timestamp) -> Self {
        let pending = spec.after.clone();
        Self {
            id,
            project,
            spec,
            created_at: at,
            fence: Fence::NONE,
            hold: None,
            rest: None,
            setbacks: 0,
            skipped: 0,
            evidence: vec![],
            report: None,
            state: ready_or_waiting(&pending),
            pending,
            version: 1,
        }
    }

    /// Rebuilds a task from its history: (number, time, event), oldest first.
    pub fn replay(
        id: TaskId,
        project: ProjectId,
        history: impl IntoIterator<Item = (u64, Timestamp, TaskEvent)>,
    ) -> Result<Self, ReplayError> {
        let mut history = history.into_iter();
        let Some((1, at, TaskEvent::Added { spec })) = history.next() else {
            return Err(ReplayError::NoBeginning(id));
        };
        let mut task = Self::begin(id, project, spec, at);
        for (seq, at, event) in history {
            let expected = task.version + 1;
            if seq != expected {
                return Err(ReplayError::Gap {
                    task: id,
                    expected,
                    found: seq,
                });
            }
            task.apply(event, at);
        }
        Ok(task)
    }

    /// Takes one event in.
    pub fn apply(&mut self, event: TaskEvent, at: Timestamp) {
        self.version += 1;
        match event {
            TaskEvent::Added { .. } => {}
            TaskEvent::DependencyEnded { task, .. } => self.stop_waiting_for(task),
            TaskEvent::DependencyReopened { task } => self.wait_again_for(task),
            TaskEvent::Claimed { lease } => self.enter_lease(lease),
            TaskEvent::Started { session, .. } => {
                if let Some(lease) = self.state.lease().cloned() {
                    self.state = TaskState::Running {
                        lease,
                        session,
                        started_at: at,
                    };
                }
            }
            TaskEvent::Renewed { term, .. } => self.retain(Tenure::Timed(term)),
            TaskEvent::Evidenced { evidence, .. } => self.evidence.push(evidence),
            TaskEvent::Reported { report, .. } => self.report = Some(report),
            TaskEvent::Restored { fence } => self.leave_fences_out(fence),
            TaskEvent::LeaseExpired { .. } => self.state = ready_or_waiting(&self.pending),
            TaskEvent::Released { .. } | TaskEvent::Retried => {
                self.come_to(ready_or_waiting(&self.pending));
            }
            TaskEvent::PutOff { rest, .. } => self.lie_down(rest),
            TaskEvent::Completed { summary, .. } => self.come_to(TaskState::Done { at, summary }),
            TaskEvent::Failed { reason, .. } => self.come_to(TaskState::Failed { at, reason }),
            TaskEvent::Blocked { reason, .. } => self.come_to(TaskState::Blocked { at, reason }),
            TaskEvent::Cancelled { reason } => self.come_to(TaskState::Cancelled { at, reason }),
            TaskEvent::Held { hold } => self.hold = Some(hold),
            TaskEvent::Unheld => (self.hold, self.rest) = (None, None),
        }
    }

    fn enter_lease(&mut self, lease: Lease) {
        self.fence = lease.fence;
        self.evidence.clear();
        self.report = None;
        self.state = TaskState::Leased { lease };
    }

    /// Whoever had a lease has it no longer; fences that do not grow are none.
    fn leave_fences_out(&mut self, fence: Fence) {
        let fence = fence.max(self.fence);
        self.skipped += fence.number() - self.fence.number();
        self.fence = fence;
        if self.state.lease().is_some() {
            self.state = ready_or_waiting(&self.pending);
        }
    }

    /// Something else than trouble came of it: the row of its rests is over.
    fn come_to(&mut self, state: TaskState) {
        self.state = state;
        self.rest = None;
    }

    fn lie_down(&mut self, rest: Rest) {
        self.state = ready_or_waiting(&self.pending);
        self.rest = Some(rest);
        self.setbacks += 1;
    }

    fn retain(&mut self, tenure: Tenure) {
        match &mut self.state {
            TaskState::Leased { lease } | TaskState::Running { lease, .. } => lease.tenure = tenure,
            TaskState::Waiting
            | TaskState::Queued
            | TaskState::Done { .. }
            | TaskState::Failed { .. }
            | TaskState::Blocked { .. }
            | TaskState::Cancelled { .. } => {}
        }
    }

    fn stop_waiting_for(&mut self, ended: TaskId) {
        self.pending.retain(|dependency| dependency.task != ended);
        if self.state == TaskState::Waiting {
            self.state = ready_or_waiting(&self.pending);
        }
    }
}

impl Task {
    fn wait_again_for(&mut self, reopened: TaskId) {
        let is_meant = |dependency: &&Dependency| dependency.task == reopened;
        self.pending.extend(self.spec.after.iter().find(is_meant));
        if self.state == TaskState::Queued {
            self.state = TaskState::Waiting;
        }
    }
}

fn ready_or_waiting(pending: &[Dependency]) -> TaskState {
    if pending.is_empty() {
        TaskState::Queued
    } else {
        TaskState::Waiting
    }
}

#[cfg(test)]
mod tests {
    use uuid::Uuid;

    use super::*;
    use crate::{Caller, SessionId};

    fn claimed(fence: u64) -> TaskEvent {
        let session = SessionId::from_uuid(Uuid::nil());
        TaskEvent::Claimed {
            lease: Lease {
                fence: Fence::new(fence),
                owner: Caller::Person,
                tenure: Tenure::Anchored { session },
            },
        }
    }

    fn restored(fence: u64) -> TaskEvent {
        TaskEvent::Restored {
            fence: Fence::new(fence),
        }
    }

    /// Fence, leases so far, and whether somebody has it, after these events.
    fn after(events: Vec<TaskEvent>) -> (u64, u64, bool) {
        let spec = TaskSpec::new("t".parse().unwrap(), "do it".parse().unwrap());
        let id = TaskId::from_uuid(Uuid::from_u128(1));
        let project = ProjectId::from_uuid(Uuid::from_u128(2));
        let mut task = Task::begin(id, project, spec, Timestamp::UNIX_EPOCH);
        for event in events {
            task.apply(event, Timestamp::UNIX_EPOCH);
        }
        let is_leased = task.state.lease().is_some();
        (task.fence.number(), task.leases(), is_leased)
    }

    #[test]
    fn a_restore_voids_a_lease_and_leaves_fences_out_that_were_never_leases() {
        for (events, expected) in [
            (vec![restored(100)], (100, 0, false)),
            (vec![claimed(1), restored(100)], (100, 1, false)),
            (
                vec![claimed(1), restored(100), claimed(101)],
                (101, 2, true),
            ),
            // Fences never go back, and a second restore counts no more than the first.
            (
                vec![claimed(1), restored(100), restored(50)],
                (100, 1, false),
            ),
            (
                vec![
                    claimed(1),
                    restored(100),
                    claimed(101),
                    restored(200),
                    claimed(201),
                ],
                (201, 3, true),
            ),
        ] {
            assert_eq!(after(events), expected);
        }
    }
}
