//! Opening a batch, telling it something, and letting it follow its fan-in: rows and events in one transaction.

use std::num::NonZeroUsize;

use handoff_core::batch::{
    Batch, BatchCommand, BatchEvent, BatchRefusal, Calibration, Manifest, Opening, Plan,
};
use handoff_core::caller::Action;
use handoff_core::task::{Command, Part, TaskSpec};
use handoff_core::{
    BatchId, BatchName, Caller, Event, ProjectId, StreamId, Task, TaskId, TaskName,
};

use super::change::BatchRef;
use super::{Answer, Performed, command_task, fan_out, record};
use crate::error::StoreError;
use crate::events::{self, Entry, Keyed};
use crate::store::Transaction;
use crate::{batches, tasks};

/// What a request to open a batch says.
pub(super) struct Wanted<'a> {
    pub(super) project: ProjectId,
    pub(super) manifest: &'a Manifest,
    pub(super) opening: &'a Opening,
}

impl<'a> Wanted<'a> {
    pub(super) const fn of(
        project: ProjectId,
        manifest: &'a Manifest,
        opening: &'a Opening,
    ) -> Self {
        Self {
            project,
            manifest,
            opening,
        }
    }
}

/// Publishes a batch with all its tasks: all of it, or nothing.
pub(super) fn open(
    tx: &mut Transaction<'_>,
    wanted: &Wanted<'_>,
    by: &Caller,
    keyed: &Keyed<'_>,
) -> Result<Performed, StoreError> {
    by.may(Action::Add)?;
    publish(tx, wanted, by, Some(keyed)).map(performed)
}

/// The same without asking whether anybody may.
pub(super) fn publish(
    tx: &mut Transaction<'_>,
    wanted: &Wanted<'_>,
    by: &Caller,
    keyed: Option<&Keyed<'_>>,
) -> Result<Batch, StoreError> {
    // Only the order matters here, and that does not depend on the slots of whoever works.
    let one = NonZeroUsize::MIN;
    let plan = Plan::of(wanted.manifest, one, &Calibration::default());
    let published = wanted.manifest.publication(wanted.opening, &plan);
    let id = wanted.opening.batch;
    let batch = Batch::begin(id, wanted.project, published.spec, tx.now.wall);
    insert(tx, &batch, published.tasks, by, keyed)?;
    Ok(batch)
}

/// Writes a batch that begins, with its tasks.
pub(super) fn insert(
    tx: &mut Transaction<'_>,
    batch: &Batch,
    tasks: Vec<(TaskId, TaskSpec)>,
    by: &Caller,
    keyed: Option<&Keyed<'_>>,
) -> Result<(), StoreError> {
    batches::insert(tx, batch)?;
    let spec = Box::new(batch.spec.clone());
    append(tx, batch, BatchEvent::Opened { spec }, by, keyed)?;
    for (id, spec) in tasks {
        let task = Task::begin(id, batch.project, spec, tx.now.wall);
        record::publish(tx, task, by, None)?;
    }
    Ok(())
}

/// Tells a batch something: what follows for its tasks happens with it.
pub(super) fn tell(
    tx: &mut Transaction<'_>,
    batch: &BatchRef,
    command: &BatchCommand,
    by: &Caller,
    keyed: &Keyed<'_>,
) -> Result<Performed, StoreError> {
    let id = match batch {
        BatchRef::Id(id) => *id,
        BatchRef::Named { project, name } => batches::named(tx, *project, name)?.id,
    };
    command_batch(tx, id, command, by, Some(keyed)).map(performed)
}

/// Decides a command and carries out what follows from it, for its tasks and for the run that waits for it.
pub(super) fn command_batch(
    tx: &mut Transaction<'_>,
    id: BatchId,
    command: &BatchCommand,
    by: &Caller,
    keyed: Option<&Keyed<'_>>,
) -> Result<Batch, StoreError> {
    // Tasks before their batch, as whoever ends a task has it: two who lock in different orders wait for each other.
    let locked = lock_tasks(tx, id)?;
    let mut batch = batches::lock(tx, id)?;
    let event = batch.decide(command, by, &locked).map_err(|refusal| {
        let name = batch.spec.name.clone();
        match refusal {
            BatchRefusal::Forbidden(forbidden) => StoreError::Forbidden(forbidden),
            refusal @ (BatchRefusal::Done
            | BatchRefusal::Cancelled
            | BatchRefusal::NoSuchPart(_)
            | BatchRefusal::NotRetriable(_)
            | BatchRefusal::NothingToRetry
            | BatchRefusal::Gathering(_)) => StoreError::BatchRefused { name, refusal },
        }
    })?;
    change(tx, &mut batch, event.clone(), by, keyed)?;
    carry_out(tx, &batch, &event, locked, by)?;
    let batch = batches::get(tx, id)?;
    fan_out::tell_run(tx, &batch, by)?;
    Ok(batch)
}

/// Its tasks in the order of adding, and what comes after it.
pub(super) fn lock_tasks(tx: &mut Transaction<'_>, id: BatchId) -> Result<Vec<Task>, StoreError> {
    let mut ids: Vec<_> = tasks::of_batch(tx, id)?.iter().map(|it| it.id).collect();
    ids.extend(batches::get(tx, id)?.spec.next);
    ids.into_iter().map(|id| tasks::lock(tx, id)).collect()
}

/// What an event of a batch means for its tasks.
fn carry_out(
    tx: &mut Transaction<'_>,
    batch: &Batch,
    event: &BatchEvent,
    tasks: Vec<Task>,
    by: &Caller,
) -> Result<(), StoreError> {
    match event {
        BatchEvent::Cancelled { reason } => {
            let cancel = Command::Cancel {
                reason: reason.clone(),
            };
            // The fan-in first, so that it does not become ready when the last part goes.
            tell_each(tx, last_to_first(batch, tasks), &cancel, by, |task| {
                task.state.ending().is_none()
            })
        }
        BatchEvent::Retried { parts } => {
            let chosen: Vec<_> = parts.iter().filter_map(|it| batch.part(it)).collect();
            let is_chosen = |task: &Task| {
                let is_part = chosen.iter().any(|it| it.task == task.id);
                let is_behind = task.id == batch.spec.fan_in || Some(task.id) == batch.spec.next;
                is_part || (is_behind && task.state.ending().is_some())
            };
            tell_each(tx, tasks, &Command::Retry, by, is_chosen)
        }
        BatchEvent::Opened { .. }
        | BatchEvent::FanInReady
        | BatchEvent::FanInEnded { .. }
        | BatchEvent::Reopened => Ok(()),
    }
}

/// What comes after, the fan-in, then the parts, each before those that it needs: what is called off must not hear first that it
/// waits in vain. They were added in the order in which they need each other.
fn last_to_first(batch: &Batch, mut tasks: Vec<Task>) -> Vec<Task> {
    tasks.reverse();
    let is_part = |task: &Task| batch.spec.parts.iter().any(|it| it.task == task.id);
    tasks.sort_by_key(|task| {
        (
            is_part(task),
            std::cmp::Reverse(task.id == batch.spec.fan_in),
        )
    });
    tasks
}

/// Each as it is by then: what one is told may have changed another.
fn tell_each(
    tx: &mut Transaction<'_>,
    tasks: Vec<Task>,
    command: &Command,
    by: &Caller,
    is_meant: impl Fn(&Task) -> bool,
) -> Result<(), StoreError> {
    for task in tasks {
        let mut task = crate::tasks::get(tx, task.id)?;
        if is_meant(&task) {
            command_task(tx, &mut task, command, by, None)?;
        }
    }
    Ok(())
}

/// Lets the batch of a task hear what became of its fan-in.
pub(super) fn follow(tx: &mut Transaction<'_>, task: &Task, by: &Caller) -> Result<(), StoreError> {
    let Some(Part::FanIn { batch }) = task.spec.part else {
        return Ok(());
    };
    let mut batch = batches::lock(tx, batch)?;
    match batch.follow(&task.state) {
        Some(event) => {
            change(tx, &mut batch, event, by, None)?;
            fan_out::tell_run(tx, &batch, by)
        }
        None => Ok(()),
    }
}

fn change(
    tx: &mut Transaction<'_>,
    batch: &mut Batch,
    event: BatchEvent,
    by: &Caller,
    keyed: Option<&Keyed<'_>>,
) -> Result<(), StoreError> {
    let from = batch.version;
    batch.apply(event.clone(), tx.now.wall);
    batches::update(tx, batch, from)?;
    append(tx, batch, event, by, keyed)
}

fn append(
    tx: &mut Transaction<'_>,
    batch: &Batch,
    event: BatchEvent,
    by: &Caller,
    keyed: Option<&Keyed<'_>>,
) -> Result<(), StoreError> {
    let entry = Entry {
        stream: StreamId::Batch(batch.id),
        seq: batch.version,
        project: Some(batch.project),
        by,
        keyed,
        event: Event::Batch(event),
    };
    events::append(tx, &entry)
}

pub(super) fn performed(batch: Batch) -> Performed {
    Performed {
        answer: Answer::Batch(Box::new(batch)),
        is_recorded: true,
    }
}

/// The live task or batch whose name is in the way of opening this one.
pub(super) fn name_taken(
    tx: &mut Transaction<'_>,
    wanted: &Wanted<'_>,
) -> Result<Option<StoreError>, StoreError> {
    let plan = Plan::of(wanted.manifest, NonZeroUsize::MIN, &Calibration::default());
    let published = wanted.manifest.publication(wanted.opening, &plan);
    let tasks = published.tasks.iter().map(|(_, spec)| &spec.name);
    names_taken(tx, wanted.project, &wanted.manifest.name, tasks)
}

/// The live batch of this name, or a live task of one of these names.
pub(super) fn names_taken<'a>(
    tx: &mut Transaction<'_>,
    project: ProjectId,
    name: &BatchName,
    tasks: impl Iterator<Item = &'a TaskName>,
) -> Result<Option<StoreError>, StoreError> {
    let found = batches::named(tx, project, name);
    if let Some(batch) = found.ok().filter(|it| it.state.is_live()) {
        let (name, batch) = (name.clone(), batch.id);
        return Ok(Some(StoreError::BatchNameTaken { name, batch }));
    }
    for name in tasks {
        if let Some(task) = live(tx, project, name)? {
            let name = name.clone();
            return Ok(Some(StoreError::NameTaken { name, task }));
        }
    }
    Ok(None)
}

fn live(
    tx: &mut Transaction<'_>,
    project: ProjectId,
    name: &TaskName,
) -> Result<Option<TaskId>, StoreError> {
    match tasks::named(tx, project, name) {
        Ok(task) => Ok(task.state.ending().is_none().then_some(task.id)),
        Err(StoreError::NotFound { .. }) => Ok(None),
        Err(error) => Err(error),
    }
}
