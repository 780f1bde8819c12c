//! A phase that is split into a batch: the run waits for its results and goes on with them.
//!
//! A batch is opened in the transaction in which its phase is proved, and joined in the one in which its fan-in ends; its identity
//! follows from the run and the number of its last task. So there is no moment in which one could be opened or joined twice.

use super::cause::Cause;
use super::event::{RunEvent, Verdict};
use super::follow::{GATE_WAITS, said, spent, stopped, verdict};
use super::spec::{Run, RunState, Step};
use crate::batch::{Batch, BatchState, Manifest, ManifestError, Opening, Rules};
use crate::id::derived;
use crate::task::{Ending, Reason, TaskState};
use crate::workflow::{FanOut, Goal, Outcome};
use crate::{BatchId, PartName, Task, TaskId, Timestamp};

impl Run {
    /// The outcome that decided where the run goes on: of results of a batch it is that of the phase that was split.
    pub(super) fn outcome_of<'a>(&'a self, step: &'a Step) -> &'a Outcome {
        let split = step.is_join().then(|| self.last(&step.phase)).flatten();
        &split.unwrap_or(step).verdict.outcome
    }

    /// It waits for the batch of the phase that was proved last, if there is something left to pay it with.
    pub(super) fn fanning_out(&self) -> RunEvent {
        if let Some(why) = self.used_up() {
            return stopped(Cause::BudgetSpent, &said(&why));
        }
        RunEvent::FannedOut {
            phase: self.at.phase.clone(),
            batch: self.at.batch.unwrap_or_else(|| self.next_batch()),
        }
    }

    /// The batch of the phase that was proved last. Done again, the phase is another task and has another batch.
    fn next_batch(&self) -> BatchId {
        BatchId::from_uuid(derived(&format!("{}/{}/batch", self.id, self.tasks)))
    }

    /// What opening the batch brings: identities that follow from its own, and the commit that was proved last.
    pub fn batch_opening(&self, batch: BatchId, manifest: &Manifest) -> Opening {
        let id = |what: &str| TaskId::from_uuid(derived(&format!("{batch}/{what}")));
        let places = 0..manifest.parts.len();
        Opening {
            batch,
            parts: places.map(|it| id(&it.to_string())).collect(),
            fan_in: id("fan-in"),
            next: id("next"),
            base: self.head().clone(),
            after: None,
            run: Some(self.id),
        }
    }

    /// The batch that comes next, as the phase that was proved last described it. None if it described none.
    pub fn batch_manifest(&self) -> Option<Result<Manifest, ManifestError>> {
        let text = self.steps.last()?.verdict.manifest.as_ref()?;
        // How large a batch may be was asked when it was proved.
        let rules = Rules {
            most: usize::MAX,
            ..Rules::default()
        };
        Some(Manifest::read(text.as_str(), rules).map(|it| self.with_agent(it)))
    }

    /// Whoever works on the phases of a run works on the parts of its batches too, if nobody else is named.
    fn with_agent(&self, mut manifest: Manifest) -> Manifest {
        let agents = manifest.parts.iter_mut().map(|it| &mut it.agent);
        for agent in agents.chain([&mut manifest.fan_in.agent]) {
            *agent = agent.take().or_else(|| self.spec.agent.clone());
        }
        manifest
    }

    /// What a run has against a manifest that could be opened otherwise: all of it.
    ///
    /// A session wrote it. So it names no command but those that a person trusted with the workflow.
    pub fn objections(&self, manifest: &Manifest) -> Vec<String> {
        let mut found = vec![];
        if manifest.name.as_str() == self.spec.name.as_str() {
            let name = &manifest.name;
            found.push(format!(
                "batch_id: the run is called `{name}` itself; choose another name"
            ));
        }
        if manifest.next.is_some() {
            found.push(
                "next_after_fanin: the workflow says what comes after; leave it out".to_owned(),
            );
        }
        if manifest.workspace.is_some() {
            found.push("workspace: it is this one; leave it out".to_owned());
        }
        let parts = manifest
            .parts
            .iter()
            .map(|it| (it.name.as_str(), &it.verify));
        let places = parts.chain([("fan_in", &manifest.fan_in.verify)]);
        found.extend(places.filter_map(|(place, verify)| {
            let command = verify.as_ref()?;
            let is_known = self.spec.workflow.commands().any(|it| it == command);
            (!is_known).then(|| {
                format!("{place}: verify: `{command}` is no command of the workflow, so that nobody trusted it")
            })
        }));
        found
    }

    /// What happens instead of opening a batch that cannot be opened.
    pub fn unopened(cause: Cause, why: &str) -> RunEvent {
        stopped(cause, &said(why))
    }

    /// What follows from where the batch is now that it waits for; `tasks` are those of the batch. One that stopped because its
    /// batch came to nothing hears of it too: somebody may have opened the parts again.
    pub fn hear(&self, batch: &Batch, tasks: &[Task], now: Timestamp) -> Vec<RunEvent> {
        let is_waiting = matches!(self.state, RunState::FannedOut { .. });
        let has_stopped = matches!(self.state, RunState::Stopped { .. });
        if self.at.batch != Some(batch.id) || !(is_waiting || has_stopped) {
            return vec![];
        }
        let again = has_stopped.then(|| RunEvent::FannedOut {
            phase: self.at.phase.clone(),
            batch: batch.id,
        });
        let again = again.into_iter();
        match &batch.state {
            BatchState::Open | BatchState::FanIn { .. } => again.collect(),
            BatchState::Ended {
                ending: Ending::Done,
                ..
            } => again.chain(self.joining(batch, tasks, now)).collect(),
            BatchState::Ended { .. } | BatchState::Cancelled { .. } if has_stopped => vec![],
            BatchState::Ended { .. } => vec![gone_wrong(batch, tasks)],
            BatchState::Cancelled { reason, .. } => {
                let why = format!("its batch `{}` was called off", batch.spec.name);
                let reason = reason.clone().unwrap_or_else(|| said(&why));
                vec![stopped(Cause::CalledOff, &reason)]
            }
        }
    }

    /// The results are there: what they cost, that they are proved, and what comes next.
    fn joining(&self, batch: &Batch, tasks: &[Task], now: Timestamp) -> Vec<RunEvent> {
        let mut events: Vec<_> = tasks.iter().filter_map(spent).collect();
        let fan_in = tasks.iter().find(|it| it.id == batch.spec.fan_in);
        let Some((fan_in, found)) = fan_in.and_then(|it| Some((it, verdict(it)?))) else {
            let why = format!(
                "the results of batch `{}` were said to be done without a proof",
                batch.spec.name
            );
            return vec![stopped(Cause::CheckFailed, &said(&why))];
        };
        let missing = missing(batch, tasks);
        let outcome = if missing.is_empty() { JOINED } else { DEGRADED };
        events.push(RunEvent::Proved {
            phase: self.at.phase.clone(),
            task: fan_in.id,
            verdict: Verdict {
                outcome: outcome.parse().expect("a word is an outcome"),
                batch: Some(batch.id),
                ..found
            },
        });
        let mut then = self.clone();
        for event in &events {
            then.apply(event.clone(), now);
        }
        // Whoever sits at a run sees what the parts came to as they see what a phase did.
        let is_stuck = !missing.is_empty() && then.way_without_parts().is_none();
        let is_asked = then.spec.is_interactive || is_stuck;
        events.extend(if is_asked {
            let until = now.saturating_add(GATE_WAITS).unwrap_or(now);
            vec![RunEvent::Gated { until }]
        } else {
            then.onwards()
        });
        events
    }

    fn way_without_parts(&self) -> Option<&Goal> {
        let step = self.steps.last()?;
        let phase = self.spec.workflow.phase(&step.phase)?;
        let next = phase.next.get(self.outcome_of(step))?;
        next.fan_out()?.degraded.as_ref()
    }

    /// Where results lead. Some without parts lead on as others do, where a person agreed.
    pub(super) fn joined(&self, fan_out: &FanOut, step: &Step) -> Vec<RunEvent> {
        let is_whole = step.verdict.outcome.as_str() == JOINED;
        let degraded = fan_out.degraded.as_ref().filter(|_| !is_whole);
        vec![self.towards(degraded.unwrap_or(&fan_out.join))]
    }
}

/// All parts are in.
const JOINED: &str = "joined";
/// Some did not end well.
const DEGRADED: &str = "degraded";

/// The parts that did not end well.
fn missing<'a>(batch: &'a Batch, tasks: &[Task]) -> Vec<&'a PartName> {
    let is_done = |id: TaskId| {
        let task = tasks.iter().find(|it| it.id == id);
        task.is_some_and(|it| it.state.ending() == Some(Ending::Done))
    };
    let parts = batch.spec.parts.iter().filter(|it| !is_done(it.task));
    parts.map(|it| &it.name).collect()
}

/// The fan-in did not bring the results together.
fn gone_wrong(batch: &Batch, tasks: &[Task]) -> RunEvent {
    let fan_in = tasks.iter().find(|it| it.id == batch.spec.fan_in);
    let (cause, reason) = match fan_in.map(|it| &it.state) {
        Some(TaskState::Failed { reason, .. }) => (Cause::CheckFailed, Some(reason)),
        Some(TaskState::Blocked { reason, .. }) => (Cause::AskedPerson, Some(reason)),
        Some(TaskState::Cancelled { reason, .. }) => (Cause::CalledOff, reason.as_ref()),
        Some(
            TaskState::Done { .. }
            | TaskState::Waiting
            | TaskState::Queued
            | TaskState::Leased { .. }
            | TaskState::Running { .. },
        )
        | None => (Cause::CalledOff, None),
    };
    let name = &batch.spec.name;
    let why = reason.map_or("nobody said why", Reason::as_str);
    let why = format!("the results of batch `{name}` are not together: {why}");
    stopped(cause, &said(&why))
}

#[cfg(test)]
mod tests;
