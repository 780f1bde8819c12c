//! A batch as it looks now: its tasks, their attempts, and what lies over them.

use handoff_api::{BatchDocument, BatchPartDocument, LeftOutDocument, PartFacts};
use handoff_core::batch::{
    Batch, BatchState, Calibration, Estimate, Expected, Forecast, Kind, Measured, Outcome, Sample,
    stints,
};
use handoff_core::package::PackageState;
use handoff_core::task::View;
use handoff_core::{Event, HoldScope, StreamId, Task, TaskId};
use handoff_session::Places;
use handoff_store::queue::BatchRef;
use handoff_store::{StoreError, Transaction, batches, events, holds, packages, read, tasks};

use crate::attempt::step_of;
use crate::failure::Failure;
use crate::project::Project;

/// So many batches of a project's past say how good guesses are.
const REMEMBERED: u32 = 50;

/// A batch and what was measured of its tasks, parts first, the fan-in last.
pub struct BatchView {
    /// The batch.
    pub document: BatchDocument,
    /// What was measured of each.
    pub measured: Vec<Measured>,
}

/// Looks at a batch, with what is known of earlier guesses.
pub fn take(
    project: &mut Project,
    batch: &BatchRef,
    known: &Calibration,
) -> Result<BatchView, Failure> {
    // What cannot be found out about holders must not keep anybody from looking.
    let lost = project.lost().unwrap_or_default();
    let places = project.places().of_sessions();
    Ok(read(&mut *project.store, |tx| {
        let batch = find(tx, batch)?;
        let is_held = is_held(tx, &batch)?;
        let moment = tx.now.moment.clone();
        let view = View {
            now: &moment,
            is_held_above: is_held,
            lost: &lost,
        };
        let tasks = Tasks::read(tx, &batch)?;
        let forecast = Forecast::of(&tasks.measured, known);
        let parts = tasks.documents(&forecast, &view, &places);
        let document = document(&batch, is_held, parts, &forecast)?;
        let mut document = told(document, tasks.fan_in().and_then(Outcome::of));
        (document.paused_with, document.handed_to) = whereabouts(tx, &batch)?;
        Ok(BatchView {
            document,
            measured: tasks.measured,
        })
    })?)
}

fn find(tx: &mut Transaction<'_>, batch: &BatchRef) -> Result<Batch, StoreError> {
    match batch {
        BatchRef::Id(id) => batches::get(tx, *id),
        BatchRef::Named { project, name } => batches::named(tx, *project, name),
    }
}

fn is_held(tx: &mut Transaction<'_>, batch: &Batch) -> Result<bool, StoreError> {
    let mut scopes = HoldScope::over(batch.project).to_vec();
    scopes.push(HoldScope::Batch(batch.id));
    Ok(batch.state.is_live() && holds::in_force(tx, &scopes)?.is_some())
}

/// The package that it is paused with, and who has it if it was handed to another store.
fn whereabouts(
    tx: &mut Transaction<'_>,
    batch: &Batch,
) -> Result<(Option<String>, Option<String>), StoreError> {
    if batch.state.is_live() {
        let held = holds::in_force(tx, &[HoldScope::Batch(batch.id)])?;
        let pause = held.and_then(|(_, hold)| hold.pause);
        return Ok((pause.map(|it| it.to_string()), None));
    }
    let left = packages::of_task(tx, batch.spec.fan_in)?;
    let to = left.iter().rev().find_map(|it| match &it.state {
        PackageState::Transferred { to, .. } => Some(to.to_string()),
        PackageState::Created
        | PackageState::Claimed { .. }
        | PackageState::Consumed { .. }
        | PackageState::Cancelled { .. }
        | PackageState::Expired { .. } => None,
    });
    let is_called_off = matches!(batch.state, BatchState::Cancelled { .. });
    Ok((None, to.filter(|_| is_called_off)))
}

/// The tasks of a batch with what was measured of each: parts first, the fan-in last.
struct Tasks {
    tasks: Vec<(String, Task)>,
    measured: Vec<Measured>,
}

impl Tasks {
    fn read(tx: &mut Transaction<'_>, batch: &Batch) -> Result<Self, StoreError> {
        let (mut tasks, mut measured) = (vec![], vec![]);
        for member in members(batch) {
            let task = tasks::get(tx, member.task)?;
            measured.push(measure(tx, &task, &member)?);
            tasks.push((member.name, task));
        }
        Ok(Self { tasks, measured })
    }

    fn fan_in(&self) -> Option<&Task> {
        self.tasks.last().map(|(_, task)| task)
    }

    fn documents(
        &self,
        forecast: &Forecast,
        view: &View<'_>,
        places: &Places,
    ) -> Vec<BatchPartDocument> {
        let each = self.tasks.iter().zip(&self.measured).zip(&forecast.tasks);
        let document =
            |(((part, task), measured), expected): ((&(String, Task), &Measured), &Expected)| {
                let facts = PartFacts {
                    part: part.clone(),
                    task,
                    measured,
                    expected: *expected,
                    step: step_of(&task.state, places),
                };
                BatchPartDocument::of(&facts, view)
            };
        each.map(document).collect()
    }
}

fn document(
    batch: &Batch,
    is_held: bool,
    mut parts: Vec<BatchPartDocument>,
    forecast: &Forecast,
) -> Result<BatchDocument, StoreError> {
    let fan_in = parts
        .pop()
        .ok_or_else(|| StoreError::Inconsistent(format!("{} has no fan-in", batch.id)))?;
    Ok(BatchDocument {
        id: batch.id.to_string(),
        name: batch.spec.name.to_string(),
        state: batch.state.word(),
        is_held,
        paused_with: None,
        handed_to: None,
        base: batch.spec.base.to_string(),
        opened_at: batch.opened_at,
        reason: BatchDocument::reason_of(batch),
        done: parts.iter().filter(|it| it.state.word() == "done").count(),
        parts,
        fan_in,
        next: batch.spec.next_name.as_ref().map(ToString::to_string),
        result: None,
        left_out: vec![],
        has_more: false,
        left_seconds: forecast.left.map(|it| it.as_secs_f64()),
    })
}

/// The same with what came of it.
fn told(document: BatchDocument, outcome: Option<Outcome>) -> BatchDocument {
    let Some(outcome) = outcome else {
        return document;
    };
    let left_out = outcome.left_out.into_iter().map(|it| LeftOutDocument {
        part: it.part.to_string(),
        why: it.why,
    });
    BatchDocument {
        result: outcome.result.map(|it| it.to_string()),
        left_out: left_out.collect(),
        has_more: outcome.has_more,
        ..document
    }
}

/// A task of a batch as the batch knows it.
struct Member {
    name: String,
    task: TaskId,
    kind: Kind,
    estimate: Option<Estimate>,
}

/// The parts in order, then the fan-in.
fn members(batch: &Batch) -> Vec<Member> {
    let parts = batch.spec.parts.iter().map(|part| Member {
        name: part.name.to_string(),
        task: part.task,
        kind: Kind::SubTask,
        estimate: part.estimate,
    });
    let fan_in = Member {
        name: "fan-in".to_owned(),
        task: batch.spec.fan_in,
        kind: Kind::FanIn,
        estimate: batch.spec.fan_in_estimate,
    };
    parts.chain([fan_in]).collect()
}

fn measure(tx: &mut Transaction<'_>, task: &Task, member: &Member) -> Result<Measured, StoreError> {
    let history = events::history(tx, StreamId::Task(task.id), u64::MAX)?;
    let known = history.iter().filter_map(|envelope| match &envelope.event {
        Event::Task(event) => Some((envelope.at, event)),
        Event::Hold(_)
        | Event::Feature(_)
        | Event::Package(_)
        | Event::Context(_)
        | Event::Batch(_)
        | Event::Run(_)
        | Event::Repository(_) => None,
    });
    let known: Vec<_> = known.collect();
    let mut workers = known.iter().rev().filter_map(|(_, event)| event.agent());
    Ok(Measured {
        kind: member.kind,
        agent: workers.next().or(task.spec.agent.as_ref()).cloned(),
        estimate: member.estimate,
        stints: stints(known, tx.now.wall),
    })
}

/// How good guesses were in this project.
pub fn calibration(project: &mut Project) -> Result<Calibration, Failure> {
    let id = project.id;
    let samples = read(&mut *project.store, |tx| {
        let mut samples: Vec<Sample> = vec![];
        for batch in batches::page(tx, id, None, REMEMBERED)? {
            for member in members(&batch) {
                if member.estimate.is_some() {
                    let task = tasks::get(tx, member.task)?;
                    samples.extend(measure(tx, &task, &member)?.sample());
                }
            }
        }
        Ok(samples)
    })?;
    Ok(Calibration::of(&samples))
}
