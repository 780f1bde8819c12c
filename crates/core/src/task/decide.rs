//! What a command means for a task: the events that follow from it, or why nothing does.

use super::command::{Command, Refusal};
use super::event::{Report, TaskEvent};
use super::state::TaskState;
use super::{Phase, Task, View};
use crate::caller::Action;
use crate::hold::{HoldEvent, HoldWish};
use crate::lease::{Standing, Tenure, Term};
use crate::rest::{NoMoreRest, Rest, Setback};
use crate::task::{Ending, Part, Reason, Summary};
use crate::{
    AgentName, BatchId, Caller, Fence, Lease, Now, PackageId, SessionId, TaskId, TaskName,
};

type Decision = Result<Vec<TaskEvent>, Refusal>;

/// Who asks, and when.
struct Asking<'a> {
    by: &'a Caller,
    now: &'a Now,
}

impl Task {
    /// Decides a command. No events and no refusal means that what was asked for is already so.
    pub fn decide(&self, command: &Command, by: &Caller, now: &Now) -> Decision {
        let asking = Asking { by, now };
        match command {
            Command::Claim { tenure } => self.claim(tenure, &asking),
            Command::Start {
                fence,
                session,
                agent,
            } => self.start(*fence, (*session, agent.as_ref()), &asking),
            Command::Renew { fence } => self.renew(*fence, &asking),
            Command::Prove { fence, evidence } => self.holding(*fence, &asking).map(|()| {
                vec![TaskEvent::Evidenced {
                    fence: *fence,
                    evidence: evidence.clone(),
                }]
            }),
            Command::Report { fence, report } => self.report(*fence, report, &asking),
            Command::Complete { fence, summary } => {
                self.complete(*fence, summary.as_ref(), &asking)
            }
            Command::Fail { fence, reason } => self.ending_by(*fence, &asking).map(|()| {
                vec![TaskEvent::Failed {
                    fence: *fence,
                    reason: reason.clone(),
                }]
            }),
            Command::Block { fence, reason } => self.ending_by(*fence, &asking).map(|()| {
                vec![TaskEvent::Blocked {
                    fence: *fence,
                    reason: reason.clone(),
                }]
            }),
            Command::Release { fence, reason } => self.holding(*fence, &asking).map(|()| {
                vec![TaskEvent::Released {
                    fence: *fence,
                    reason: reason.clone(),
                }]
            }),
            Command::PutOff { fence, setback } => self.put_off(*fence, setback, &asking),
            Command::Cancel { reason } => self.cancel(reason.as_ref(), &asking),
            Command::Retry => self.retry(&asking),
            Command::Hold { reason } => self.hold(&HoldWish::Hold(reason.as_ref()), &asking),
            Command::Pause { package, whole } => self.pause(*package, *whole, &asking),
            Command::Unpause { package } => self.unpause(*package, &asking),
            Command::Unhold => self.unhold(&asking),
            Command::Expire => Ok(self.expired_lease(now)),
            Command::LoseHolder { session } => Ok(self.lost_holder(*session)),
            Command::EndDependency {
                task,
                name,
                ending,
                batch,
            } => Ok(self.end_dependency(*task, (name, *batch), *ending)),
            Command::ReopenDependency { task } => self.reopen_dependency(*task, now),
        }
    }

    fn claim(&self, tenure: &Tenure, asking: &Asking<'_>) -> Decision {
        asking.by.may(Action::Claim)?;
        let mut events = self.expired_lease(asking.now);
        let is_free = matches!(self.state, TaskState::Queued) || !events.is_empty();
        let is_kept = self.hold.is_some() || self.resting(&asking.now.moment).is_some();
        if !is_free || is_kept {
            return Err(Refusal::NotReady {
                phase: self.own_phase(asking.now),
            });
        }
        let lease = Lease {
            fence: self.fence.next(),
            owner: asking.by.clone(),
            tenure: tenure.clone(),
        };
        events.push(TaskEvent::Claimed { lease });
        Ok(events)
    }

    fn start(
        &self,
        fence: Fence,
        (session, agent): (SessionId, Option<&AgentName>),
        asking: &Asking<'_>,
    ) -> Decision {
        self.holding(fence, asking)?;
        match &self.state {
            TaskState::Running {
                session: running, ..
            } if *running == session => Ok(vec![]),
            TaskState::Waiting
            | TaskState::Queued
            | TaskState::Leased { .. }
            | TaskState::Running { .. }
            | TaskState::Done { .. }
            | TaskState::Failed { .. }
            | TaskState::Blocked { .. }
            | TaskState::Cancelled { .. } => Ok(vec![TaskEvent::Started {
                fence,
                session,
                agent: agent.cloned(),
            }]),
        }
    }

    fn renew(&self, fence: Fence, asking: &Asking<'_>) -> Decision {
        self.holding(fence, asking)?;
        match self.state.lease().map(|lease| &lease.tenure) {
            Some(Tenure::Timed(term)) => {
                let term = Term::starting(&asking.now.moment, term.ttl);
                Ok(vec![TaskEvent::Renewed { fence, term }])
            }
            Some(Tenure::Anchored { .. }) | None => Ok(vec![]),
        }
    }

    /// The first word counts: whoever judges the work has begun with it.
    fn report(&self, fence: Fence, report: &Report, asking: &Asking<'_>) -> Decision {
        self.holding(fence, asking)?;
        if self.report.is_some() {
            return Ok(vec![]);
        }
        let report = report.clone();
        Ok(vec![TaskEvent::Reported { fence, report }])
    }

    fn complete(
        &self,
        fence: Option<Fence>,
        summary: Option<&Summary>,
        asking: &Asking<'_>,
    ) -> Decision {
        asking.by.may(Action::Complete)?;
        self.ending_by(fence, asking)?;
        Ok(vec![TaskEvent::Completed {
            fence,
            summary: summary.cloned(),
        }])
    }

    /// A task that always meets trouble is not to go round for ever: somebody is to look what the matter is.
    fn put_off(&self, fence: Fence, setback: &Setback, asking: &Asking<'_>) -> Decision {
        self.holding(fence, asking)?;
        let rest = Rest::after(self.rest.as_ref(), setback, self.id, asking.now);
        Ok(vec![match rest {
            Ok(rest) => TaskEvent::PutOff { fence, rest },
            Err(enough) => TaskEvent::Blocked {
                fence: Some(fence),
                reason: often_enough(enough, setback),
            },
        }])
    }

    fn cancel(&self, reason: Option<&Reason>, asking: &Asking<'_>) -> Decision {
        asking.by.may(Action::Steer)?;
        self.still_open(asking.now)?;
        Ok(vec![TaskEvent::Cancelled {
            reason: reason.cloned(),
        }])
    }

    fn retry(&self, asking: &Asking<'_>) -> Decision {
        asking.by.may(Action::Steer)?;
        if self.spec.part.and_then(Part::run).is_some() && self.state.ending().is_some() {
            return Err(Refusal::OfRun);
        }
        match self.state.ending() {
            Some(Ending::Failed | Ending::Blocked | Ending::Cancelled) => {
                Ok(vec![TaskEvent::Retried])
            }
            Some(Ending::Done) | None => Err(Refusal::NotRetriable {
                phase: self.own_phase(asking.now),
            }),
        }
    }

    fn hold(&self, wish: &HoldWish<'_>, asking: &Asking<'_>) -> Decision {
        asking.by.may(Action::Hold)?;
        self.still_open(asking.now)?;
        Ok(self.change_of_hold(wish, asking))
    }

    /// One that a pause keeps is in the middle of being paused, or is not worked on. Two who took the hold from each other would both
    /// come to nothing.
    fn pause(&self, package: PackageId, whole: Option<PackageId>, asking: &Asking<'_>) -> Decision {
        let held = self.hold(&HoldWish::Pause { package, whole }, asking)?;
        let is_kept = self.hold.is_some();
        Ok(held.into_iter().filter(|_| !is_kept).collect())
    }

    fn unpause(&self, package: PackageId, asking: &Asking<'_>) -> Decision {
        asking.by.may(Action::Hold)?;
        Ok(self.change_of_hold(&HoldWish::Unpause(package), asking))
    }

    fn change_of_hold(&self, wish: &HoldWish<'_>, asking: &Asking<'_>) -> Vec<TaskEvent> {
        let changed = wish.decide(self.hold.as_ref(), asking.by, asking.now.wall);
        let event = changed.map(|event| match event {
            HoldEvent::Held { hold } => TaskEvent::Held { hold },
            HoldEvent::Unheld => TaskEvent::Unheld,
        });
        event.into_iter().collect()
    }

    fn unhold(&self, asking: &Asking<'_>) -> Decision {
        asking.by.may(Action::Hold)?;
        let is_kept = self.hold.is_some() || self.resting(&asking.now.moment).is_some();
        Ok(is_kept.then_some(TaskEvent::Unheld).into_iter().collect())
    }

    fn expired_lease(&self, now: &Now) -> Vec<TaskEvent> {
        let expired = |lease: &&Lease| lease.standing(&now.moment) == Standing::Expired;
        let lease = self.state.lease().filter(expired);
        lease
            .map(|lease| TaskEvent::LeaseExpired { fence: lease.fence })
            .into_iter()
            .collect()
    }

    fn lost_holder(&self, dead: SessionId) -> Vec<TaskEvent> {
        let by_dead = |lease: &&Lease| lease.tenure == Tenure::Anchored { session: dead };
        let lease = self.state.lease().filter(by_dead);
        lease
            .map(|lease| TaskEvent::LeaseExpired { fence: lease.fence })
            .into_iter()
            .collect()
    }

    fn end_dependency(
        &self,
        task: TaskId,
        (name, batch): (&TaskName, Option<BatchId>),
        ending: Ending,
    ) -> Vec<TaskEvent> {
        let is_final = self.state.ending() == Some(Ending::Done);
        let awaited = self.pending.iter().find(|dep| dep.task == task);
        match awaited.filter(|_| !is_final) {
            Some(dep) if ending.satisfies(dep.until) => {
                vec![TaskEvent::DependencyEnded { task, ending }]
            }
            Some(_) => self.give_up_waiting(name, batch, ending),
            None => vec![],
        }
    }

    /// An ordinary task waits until somebody retries what it needs. A part that needs another of its batch would keep the
    /// fan-in waiting with it: it asks for a person, and the fan-in brings together what there is. What a whole batch waits
    /// for is no part of it, and there is nothing yet to bring together.
    fn give_up_waiting(
        &self,
        needed: &TaskName,
        batch: Option<BatchId>,
        ending: Ending,
    ) -> Vec<TaskEvent> {
        let is_part =
            matches!(self.spec.part, Some(Part::SubTask { batch: own }) if batch == Some(own));
        if !is_part || self.state != TaskState::Waiting {
            return vec![];
        }
        let word = ending.word();
        let reason = format!("it needs `{needed}`, which is {word}").parse();
        let reason = reason.expect("two short words are a reason");
        vec![TaskEvent::Blocked {
            fence: None,
            reason,
        }]
    }

    fn reopen_dependency(&self, task: TaskId, now: &Now) -> Decision {
        let is_fan_in = matches!(self.spec.part, Some(Part::FanIn { .. }));
        let is_brought = self.spec.after.iter().any(|dep| dep.task == task);
        let is_awaited = self.pending.iter().any(|dep| dep.task == task);
        if !is_fan_in || !is_brought || is_awaited {
            return Ok(vec![]);
        }
        let mut events = self.expired_lease(now);
        let is_done = self.state.ending() == Some(Ending::Done);
        let is_at_work = self.state.lease().is_some() && events.is_empty();
        if is_done || is_at_work {
            let phase = self.own_phase(now);
            return Err(Refusal::Gathering { phase });
        }
        events.push(TaskEvent::DependencyReopened { task });
        Ok(events)
    }

    /// What the tasks that wait for this one are to be told, after it had ended like this before.
    pub fn news(&self, had_ended: Option<Ending>) -> Option<Command> {
        let (task, name) = (self.id, self.spec.name.clone());
        let batch = self.spec.part.and_then(Part::batch);
        match (had_ended, self.state.ending()) {
            (None, Some(ending)) => Some(Command::EndDependency {
                task,
                name,
                ending,
                batch,
            }),
            (Some(_), None) => Some(Command::ReopenDependency { task }),
            (None, None) | (Some(_), Some(_)) => None,
        }
    }

    /// The caller shows the fence of a valid lease.
    fn holding(&self, shown: Fence, asking: &Asking<'_>) -> Result<(), Refusal> {
        asking.by.may(Action::Report(self.id))?;
        let lost = Refusal::LeaseLost {
            shown,
            newest: self.fence,
        };
        let lease = match self.state.lease() {
            Some(lease) if lease.fence == shown => lease,
            None if shown == self.fence && self.state.ending().is_some() => {
                return self.still_open(asking.now);
            }
            Some(_) | None => return Err(lost),
        };
        match lease.standing(&asking.now.moment) {
            Standing::Valid | Standing::Anchored(_) => Ok(()),
            Standing::Expired => Err(lost),
        }
    }

    /// The caller may end the task: as the holder of its lease, or, when nobody works on it, as a person.
    fn ending_by(&self, fence: Option<Fence>, asking: &Asking<'_>) -> Result<(), Refusal> {
        if let Some(fence) = fence {
            return self.holding(fence, asking);
        }
        asking.by.may(Action::Steer)?;
        self.still_open(asking.now)?;
        match self.state.lease() {
            Some(lease) if lease.standing(&asking.now.moment) != Standing::Expired => {
                Err(Refusal::Leased {
                    owner: lease.owner.clone(),
                    fence: lease.fence,
                })
            }
            Some(_) | None => Ok(()),
        }
    }

    fn still_open(&self, now: &Now) -> Result<(), Refusal> {
        match self.state.ending() {
            Some(_) => Err(Refusal::Ended {
                phase: self.own_phase(now),
            }),
            None => Ok(()),
        }
    }

    fn own_phase(&self, now: &Now) -> Phase {
        self.phase(&View::at(&now.moment))
    }
}

fn often_enough(enough: NoMoreRest, setback: &Setback) -> Reason {
    let agent = setback.agent.as_ref().map_or("the agent", |it| it.as_str());
    let (times, what) = (enough.times, setback.trouble.in_words());
    let text = format!(
        "put off {times} times in a row, and still {agent} {what}: {}",
        setback.reason
    );
    let text: String = text.chars().take(4_000).collect();
    text.parse().expect("a few words and a reason are a reason")
}
