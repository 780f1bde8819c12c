//! What the end of a task means for its run.

use std::time::Duration;

use super::cause::{Cause, Policy};
use super::event::{RunEvent, Verdict};
use super::spec::{Refused, Run, RunState};
use crate::task::{Evidence, Reason, Task, TaskState};
use crate::workflow::{Gate, Goal, Next, Proof};
use crate::{CommitId, Timestamp};

/// How long a gate waits for a person.
pub(super) const GATE_WAITS: Duration = Duration::from_hours(14 * 24);

impl Run {
    /// What follows from where one of its tasks is now. Only the one it works on counts: a late word of an earlier one changes
    /// nothing.
    pub fn follow(&self, task: &Task, now: Timestamp) -> Vec<RunEvent> {
        let is_mine = matches!(&self.state, RunState::Working { task: mine } if *mine == task.id);
        if !is_mine {
            return vec![];
        }
        if task.state.ending().is_none() {
            return vec![];
        }
        let spent: Option<RunEvent> = spent(task);
        let mut then = self.clone();
        if let Some(event) = &spent {
            then.apply(event.clone(), now);
        }
        let mut events: Vec<_> = spent.into_iter().collect();
        events.extend(then.concluded(task, now));
        events
    }

    /// What the end of its task comes to.
    fn concluded(&self, task: &Task, now: Timestamp) -> Vec<RunEvent> {
        match &task.state {
            TaskState::Waiting
            | TaskState::Queued
            | TaskState::Leased { .. }
            | TaskState::Running { .. } => vec![],
            TaskState::Done { .. } => match verdict(task) {
                Some(verdict) => self.proved(task, verdict, now),
                None => self.refused(task, &said("its task was said to be done without a proof")),
            },
            TaskState::Failed { reason, .. } => self.refused(task, reason),
            TaskState::Blocked { reason, .. } => {
                let cause = refusal(task).unwrap_or(Cause::AskedPerson);
                vec![stopped(cause, reason)]
            }
            TaskState::Cancelled { reason, .. } => {
                let reason = reason.clone();
                let reason = reason.unwrap_or_else(|| said("its task was called off"));
                vec![stopped(Cause::CalledOff, &reason)]
            }
        }
    }

    fn proved(&self, task: &Task, verdict: Verdict, now: Timestamp) -> Vec<RunEvent> {
        let phase = self.at.phase.clone();
        let proved = RunEvent::Proved {
            phase,
            task: task.id,
            verdict,
        };
        let mut then = self.clone();
        then.apply(proved.clone(), now);
        let mut events = vec![proved];
        if self.is_idle(&events[0]) {
            let why = format!(
                "phase `{}` makes no progress: its check fails, and its session changed nothing",
                self.at.phase
            );
            events.push(stopped(Cause::NoProgress, &said(&why)));
            return events;
        }
        if then.asks_person() {
            events.push(RunEvent::Gated {
                until: now.saturating_add(GATE_WAITS).unwrap_or(now),
            });
        } else {
            events.extend(then.onwards());
        }
        events
    }

    /// Whether somebody must agree before it goes on: they sit at each phase, its definition says so, or tests that were there before
    /// are to ask for something else, which is also how one would weaken them.
    fn asks_person(&self) -> bool {
        let alters = { self.steps.last() }.is_some_and(|it| !it.verdict.alters.is_empty());
        alters || self.spec.is_interactive || self.phase().gate == Some(Gate::Human)
    }

    /// A loop that goes on until a check passes stops when nothing changes any more.
    fn is_idle(&self, proved: &RunEvent) -> bool {
        let RunEvent::Proved { verdict, .. } = proved else {
            return false;
        };
        let is_loop = self.phase().proof == Proof::Until;
        is_loop && verdict.outcome.as_str() == "failed" && verdict.commit == *self.head()
    }

    /// Where the last proof leads.
    pub(super) fn onwards(&self) -> Vec<RunEvent> {
        let Some(step) = self.steps.last() else {
            return vec![self.opening()];
        };
        let phase = self.spec.workflow.phase(&step.phase);
        let next = phase.and_then(|it| it.next.get(self.outcome_of(step)));
        match next {
            None => {
                let outcome = &step.verdict.outcome;
                let why = format!("phase `{}` has no way on for `{outcome}`", step.phase);
                vec![stopped(Cause::CalledOff, &said(&why))]
            }
            Some(Next::Goal(goal)) => vec![self.towards(goal)],
            Some(Next::FanOut(fan_out)) if step.is_join() => self.joined(fan_out, step),
            Some(Next::FanOut(_)) => vec![self.fanning_out()],
        }
    }

    /// The phase that a goal names, if there is something left to pay it with; or the end.
    pub(super) fn towards(&self, goal: &Goal) -> RunEvent {
        match goal {
            Goal::End => RunEvent::Ended,
            Goal::Phase { phase } => {
                let mut then = self.clone();
                then.at.phase = phase.clone();
                then.opening_within_budget()
            }
        }
    }

    /// A task for the phase at which it is, if there is something left to pay it with.
    fn opening_within_budget(&self) -> RunEvent {
        match self.used_up() {
            Some(why) => stopped(Cause::BudgetSpent, &said(&why)),
            None => self.opening(),
        }
    }

    pub(super) fn used_up(&self) -> Option<String> {
        let workflow = &self.spec.workflow;
        let tokens = self.spent.saturating_sub(self.before.tokens);
        if self.tasks.saturating_sub(self.before.tasks) >= workflow.most {
            let most = workflow.most;
            return Some(format!(
                "it has had {most} phases, which is the most its workflow allows"
            ));
        }
        let budget = workflow.budget_tokens.filter(|it| tokens >= *it)?;
        Some(format!(
            "its sessions used {tokens} tokens of the {budget} that its workflow allows"
        ))
    }

    /// The task that a run begins with.
    pub fn first_opening(&self) -> RunEvent {
        self.opening()
    }

    /// A task for the phase at which it is.
    pub(super) fn opening(&self) -> RunEvent {
        RunEvent::Opened {
            phase: self.at.phase.clone(),
            task: Self::task_id(self.id, self.tasks + 1),
        }
    }

    fn refused(&self, task: &Task, reason: &Reason) -> Vec<RunEvent> {
        let left = left(task);
        let cause = refusal(task).unwrap_or(Cause::AgentCrashed);
        let refused = RunEvent::Refused {
            task: task.id,
            cause,
            reason: reason.clone(),
            left: left.clone(),
        };
        let again = match self.no_sense(cause, reason, left.as_ref()) {
            Some((cause, why)) => stopped(cause, &why),
            None => self.opening_within_budget(),
        };
        vec![refused, again]
    }

    /// Why trying once more makes no sense.
    fn no_sense(
        &self,
        cause: Cause,
        reason: &Reason,
        left: Option<&CommitId>,
    ) -> Option<(Cause, Reason)> {
        let phase = &self.at.phase;
        if cause.policy() == Policy::Stop {
            return Some((cause, reason.clone()));
        }
        if let Some(what) = { self.at.refused.as_ref() }.and_then(|it| same(it, reason, left)) {
            let why = format!("phase `{phase}` makes no progress, {what} twice: {reason}");
            return Some((Cause::NoProgress, said(&why)));
        }
        let retries = self.phase().retries;
        (self.at.number > retries).then(|| {
            let number = self.at.number;
            let why = format!(
                "phase `{phase}` was refused {number} times, the last time because {reason}"
            );
            (cause, said(&why))
        })
    }
}

/// What was the same the time before.
fn same(before: &Refused, reason: &Reason, left: Option<&CommitId>) -> Option<&'static str> {
    match () {
        () if before.reason == *reason => Some("the same failure"),
        () if left.is_some() && before.left.as_ref() == left => Some("the same work"),
        () => None,
    }
}

pub(super) fn stopped(cause: Cause, reason: &Reason) -> RunEvent {
    let reason = reason.clone();
    RunEvent::Stopped { cause, reason }
}

pub(super) fn said(text: &str) -> Reason {
    let text: String = text.chars().take(4_000).collect();
    text.parse()
        .expect("it says something, briefly, without NUL")
}

pub(super) fn verdict(task: &Task) -> Option<Verdict> {
    task.evidence
        .iter()
        .rev()
        .find_map(Evidence::verdict)
        .cloned()
}

/// What kind of failure the referee saw.
fn refusal(task: &Task) -> Option<Cause> {
    task.evidence.iter().rev().find_map(Evidence::refusal)
}

/// What its sessions used.
pub(super) fn spent(task: &Task) -> Option<RunEvent> {
    let used = task.evidence.iter().filter_map(Evidence::tokens);
    let tokens = used.fold(0, u64::saturating_add);
    (tokens > 0).then_some(RunEvent::Spent {
        task: task.id,
        tokens,
    })
}

/// The tree that the session left.
fn left(task: &Task) -> Option<CommitId> {
    task.evidence.iter().rev().find_map(Evidence::left).cloned()
}
