//! Beginning a run, telling it something, and letting it follow its tasks: rows and events in one transaction.

use handoff_core::caller::Action;
use handoff_core::run::{AdoptedRun, Run, RunCommand, RunEvent, RunRefusal, RunSpec, RunState};
use handoff_core::task::{Command, Part};
use handoff_core::{Caller, Event, ProjectId, RunId, RunName, StreamId, Task, TaskId};

use super::change::RunRef;
use super::{Answer, Performed, command_task, fan_out, record};
use crate::error::StoreError;
use crate::events::{self, Entry, Keyed};
use crate::sql::{SqlError, SqlErrorKind};
use crate::store::Transaction;
use crate::{runs, tasks};

/// Begins a run with the task of its first phase: both, or nothing.
pub(super) fn begin(
    tx: &mut Transaction<'_>,
    id: RunId,
    project: ProjectId,
    spec: &RunSpec,
    by: &Caller,
    keyed: &Keyed<'_>,
) -> Result<Performed, StoreError> {
    by.may(Action::Add)?;
    let mut run = insert(tx, id, project, spec, by)?;
    let opening = run.first_opening();
    change(tx, &mut run, vec![opening], by, Some(keyed))?;
    Ok(performed(run))
}

/// Takes a run over that was begun elsewhere, with what was proved there.
pub(super) fn adopt(
    tx: &mut Transaction<'_>,
    id: RunId,
    project: ProjectId,
    adopted: &AdoptedRun,
    by: &Caller,
    keyed: &Keyed<'_>,
) -> Result<Performed, StoreError> {
    // Its proofs are believed, and it goes on: that is more than a new task.
    by.may(Action::Steer)?;
    let mut run = insert(tx, id, project, &adopted.spec, by)?;
    change(tx, &mut run, adopted.past(), by, Some(keyed))?;
    Ok(performed(run))
}

/// A run that has begun and has no task yet.
fn insert(
    tx: &mut Transaction<'_>,
    id: RunId,
    project: ProjectId,
    spec: &RunSpec,
    by: &Caller,
) -> Result<Run, StoreError> {
    let run = Run::begin(id, project, spec.clone(), tx.now.wall);
    runs::insert(tx, &run)?;
    let begun = RunEvent::Begun {
        spec: Box::new(spec.clone()),
    };
    append(tx, &run, begun, by, None)?;
    Ok(run)
}

/// Tells a run something: what follows for its tasks happens with it.
pub(super) fn tell(
    tx: &mut Transaction<'_>,
    run: &RunRef,
    command: &RunCommand,
    by: &Caller,
    keyed: &Keyed<'_>,
) -> Result<Performed, StoreError> {
    let found = match run {
        RunRef::Id(id) => runs::get(tx, *id)?,
        RunRef::Named { project, name } => runs::named(tx, *project, name)?,
    };
    // The task before its run, as whoever ends a task has it: two who lock in different orders wait for each other.
    let task = at_work(&found).map(|id| tasks::lock(tx, id)).transpose()?;
    let batch = found.at.batch;
    batch.map(|id| fan_out::lock(tx, id)).transpose()?;
    let mut run = runs::lock(tx, found.id)?;
    if (at_work(&run), run.at.batch) != (at_work(&found), batch) {
        let cause = SqlError {
            kind: SqlErrorKind::Busy,
            source: "it went on meanwhile".into(),
        };
        return Err(StoreError::unavailable(
            "the run could not be looked at",
            cause,
        ));
    }
    let events = run.decide(command, by, tx.now.wall);
    let events = events.map_err(|refusal| said_no(&run, refusal))?;
    change(tx, &mut run, events, by, Some(keyed))?;
    if let Some(mut task) = task
        && at_work(&run) != Some(task.id)
        && task.state.ending().is_none()
    {
        let cancel = Command::Cancel { reason: None };
        command_task(tx, &mut task, &cancel, by, None)?;
    }
    if let Some(batch) = batch {
        fan_out::keep_up(tx, &run, batch, by)?;
    }
    Ok(performed(run))
}

/// Tells a run something that has no task at work, because it is paused.
pub(super) fn command_run(
    tx: &mut Transaction<'_>,
    mut run: Run,
    command: &RunCommand,
    by: &Caller,
) -> Result<(), StoreError> {
    let events = run.decide(command, by, tx.now.wall);
    let events = events.map_err(|refusal| said_no(&run, refusal))?;
    let batch = run.at.batch;
    change(tx, &mut run, events, by, None)?;
    match batch {
        Some(batch) => fan_out::keep_up(tx, &run, batch, by),
        None => Ok(()),
    }
}

fn at_work(run: &Run) -> Option<TaskId> {
    if let RunState::Working { task } = run.state {
        Some(task)
    } else {
        None
    }
}

fn said_no(run: &Run, refusal: RunRefusal) -> StoreError {
    if let RunRefusal::Forbidden(forbidden) = refusal {
        return StoreError::Forbidden(forbidden);
    }
    let name = run.spec.name.clone();
    StoreError::RunRefused { name, refusal }
}

/// Lets the run of a task hear what became of it.
pub(super) fn follow(tx: &mut Transaction<'_>, task: &Task, by: &Caller) -> Result<(), StoreError> {
    let Some(run) = task.spec.part.and_then(Part::run) else {
        return Ok(());
    };
    if task.state.ending().is_none() {
        return Ok(());
    }
    let mut run = runs::lock(tx, run)?;
    let events = run.follow(task, tx.now.wall);
    change(tx, &mut run, events, by, None)
}

/// Writes down what happened, and adds the tasks that it asks for. The key goes with the last event: the state right after it
/// is the answer.
pub(super) fn change(
    tx: &mut Transaction<'_>,
    run: &mut Run,
    events: Vec<RunEvent>,
    by: &Caller,
    keyed: Option<&Keyed<'_>>,
) -> Result<(), StoreError> {
    if events.is_empty() {
        return Ok(());
    }
    let from = run.version;
    let last = events.len() - 1;
    for (place, event) in events.into_iter().enumerate() {
        let event = fan_out::possible(tx, run, event)?;
        run.apply(event.clone(), tx.now.wall);
        append(tx, run, event.clone(), by, keyed.filter(|_| place == last))?;
        if let RunEvent::Opened { task, .. } = event {
            let spec = run.task_spec(run.phase(), run.tasks);
            let task = Task::begin(task, run.project, spec, tx.now.wall);
            record::publish(tx, task, by, None)?;
        }
    }
    runs::update(tx, run, from)?;
    fan_out::open(tx, run, by)
}

fn append(
    tx: &mut Transaction<'_>,
    run: &Run,
    event: RunEvent,
    by: &Caller,
    keyed: Option<&Keyed<'_>>,
) -> Result<(), StoreError> {
    let entry = Entry {
        stream: StreamId::Run(run.id),
        seq: run.version,
        project: Some(run.project),
        by,
        keyed,
        event: Event::Run(event),
    };
    events::append(tx, &entry)
}

fn performed(run: Run) -> Performed {
    Performed {
        answer: Answer::Run(Box::new(run)),
        is_recorded: true,
    }
}

/// The live run whose name is in the way of beginning this one.
pub(super) fn name_taken(
    tx: &mut Transaction<'_>,
    project: ProjectId,
    name: &RunName,
) -> Result<Option<StoreError>, StoreError> {
    let found = runs::named(tx, project, name).ok();
    let live = found.filter(|it| it.state.is_live());
    let name = name.clone();
    Ok(live.map(|run| StoreError::RunNameTaken { name, run: run.id }))
}
