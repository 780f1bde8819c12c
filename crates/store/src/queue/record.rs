//! Writing down what was decided: events and rows together, then what follows for others.

use handoff_core::task::Command;
use handoff_core::{
    Batch, Caller, Envelope, Event, FeatureRecord, PackageRecord, Run, StreamId, Task, TaskEvent,
};

use super::change::Answer;
use super::{
    Performed, batch, batch_history, command_task, feature_history, package_history, run,
    run_history, task_history,
};
use crate::error::StoreError;
use crate::events::{self, Entry, Keyed};
use crate::sql::Act;
use crate::store::Transaction;
use crate::tasks;

/// Adds a task, and answers with it.
pub(super) fn add(
    tx: &mut Transaction<'_>,
    task: Task,
    by: &Caller,
    keyed: &Keyed<'_>,
) -> Result<Performed, StoreError> {
    let task = publish(tx, task, by, Some(keyed))?;
    Ok(Performed {
        answer: Answer::Task(Box::new(task)),
        is_recorded: true,
    })
}

/// Adds a task. Dependencies that have already come to what they must are settled at once.
pub(super) fn publish(
    tx: &mut Transaction<'_>,
    mut task: Task,
    by: &Caller,
    keyed: Option<&Keyed<'_>>,
) -> Result<Task, StoreError> {
    let mut events = vec![TaskEvent::Added {
        spec: task.spec.clone(),
    }];
    for dependency in task.spec.after.clone() {
        let other = tasks::lock(tx, dependency.task)?;
        if let Some(ending) = other
            .state
            .ending()
            .filter(|it| it.satisfies(dependency.until))
        {
            let event = TaskEvent::DependencyEnded {
                task: other.id,
                ending,
            };
            task.apply(event.clone(), tx.now.wall);
            events.push(event);
        }
    }
    let appending = appending_all(tx, &task, events, by, keyed)?;
    let mut acts = vec![tasks::inserting(&task)?, appending];
    acts.extend(tasks::inserting_dependencies(&task));
    tx.execute_all(&acts)?;
    Ok(task)
}

/// Applies events to a task, writes both, and tells the tasks that waited for its end. Says whether there
/// was anything to write.
pub(super) fn change(
    tx: &mut Transaction<'_>,
    task: &mut Task,
    events: Vec<TaskEvent>,
    by: &Caller,
    keyed: Option<&Keyed<'_>>,
) -> Result<bool, StoreError> {
    if events.is_empty() {
        return Ok(false);
    }
    let (from, had_ended) = (task.version, task.state.ending());
    for event in &events {
        task.apply(event.clone(), tx.now.wall);
    }
    let appending = appending_all(tx, task, events, by, keyed)?;
    let changed = tx.execute_all(&[tasks::updating(task, from)?, appending])?;
    if changed.first() != Some(&1) {
        let what = format!("{} changed under our lock", task.id);
        return Err(StoreError::Inconsistent(what));
    }
    if let Some(news) = task.news(had_ended) {
        tell_dependents(tx, task, &news, by)?;
    }
    if had_ended.is_some() && task.state.ending().is_none() {
        settle(tx, task, by)?;
    }
    batch::follow(tx, task, by)?;
    run::follow(tx, task, by)?;
    Ok(true)
}

/// A task that is opened again hears once more of what it needs and will not come by itself.
fn settle(tx: &mut Transaction<'_>, task: &mut Task, by: &Caller) -> Result<(), StoreError> {
    for dependency in task.pending.clone() {
        let other = tasks::get(tx, dependency.task)?;
        if let Some(news) = other.news(None) {
            command_task(tx, task, &news, by, None)?;
        }
    }
    Ok(())
}

fn tell_dependents(
    tx: &mut Transaction<'_>,
    task: &Task,
    end: &Command,
    by: &Caller,
) -> Result<(), StoreError> {
    for id in tasks::dependents(tx, task.id)? {
        let mut dependent = tasks::lock(tx, id)?;
        command_task(tx, &mut dependent, end, by, None)?;
    }
    Ok(())
}

/// Appends the events that led to the task's version. The key goes with the last one: the state right
/// after it is the answer.
fn appending_all(
    tx: &Transaction<'_>,
    task: &Task,
    events: Vec<TaskEvent>,
    by: &Caller,
    keyed: Option<&Keyed<'_>>,
) -> Result<Act, StoreError> {
    let first = task.version + 1 - events.len() as u64;
    let entries: Vec<_> = (first..)
        .zip(events)
        .map(|(seq, event)| Entry {
            stream: StreamId::Task(task.id),
            seq,
            project: Some(task.project),
            by,
            keyed: keyed.filter(|_| seq == task.version),
            event: Event::Task(event),
        })
        .collect();
    events::appending(tx, &entries)
}

/// The state right after the last event of a history.
pub(super) fn answer(stream: StreamId, mut history: Vec<Envelope>) -> Result<Answer, StoreError> {
    let inconsistent = |what: String| StoreError::Inconsistent(format!("{stream}: {what}"));
    let project = history.first().and_then(|first| first.project);
    let project = project.ok_or_else(|| inconsistent("no project".to_owned()));
    match stream {
        StreamId::Hold(scope) => {
            let last = history.pop().map(|last| last.event);
            let Some(Event::Hold(event)) = last else {
                return Err(inconsistent("no hold in it".to_owned()));
            };
            let hold = event.in_force();
            Ok(Answer::Hold { scope, hold })
        }
        StreamId::Context(scope) => {
            let last = history.pop().map(|last| (last.seq, last.event));
            let Some((version, Event::Context(event))) = last else {
                return Err(inconsistent("no change in it".to_owned()));
            };
            Ok(Answer::Context {
                scope,
                version,
                event: Some(event),
            })
        }
        StreamId::Run(id) => {
            let run = Run::replay(id, project?, run_history(history))
                .map_err(|error| inconsistent(error.to_string()))?;
            Ok(Answer::Run(Box::new(run)))
        }
        StreamId::Repository(_) => {
            let last = history.pop().map(|last| last.event);
            let Some(Event::Repository(event)) = last else {
                return Err(inconsistent("nothing of a repository in it".to_owned()));
            };
            Ok(Answer::Repository { event })
        }
        StreamId::Batch(id) => {
            let batch = Batch::replay(id, project?, batch_history(history))
                .map_err(|error| inconsistent(error.to_string()))?;
            Ok(Answer::Batch(Box::new(batch)))
        }
        StreamId::Package(id) => {
            let package = PackageRecord::replay(id, project?, package_history(history))
                .map_err(|error| inconsistent(error.to_string()))?;
            Ok(Answer::Package(Box::new(package)))
        }
        StreamId::Feature(id) => {
            let feature = FeatureRecord::replay(id, project?, feature_history(history))
                .map_err(|error| inconsistent(error.to_string()))?;
            Ok(Answer::Feature(Box::new(feature)))
        }
        StreamId::Task(id) => {
            let task = Task::replay(id, project?, task_history(history))
                .map_err(|error| inconsistent(error.to_string()))?;
            Ok(Answer::Task(Box::new(task)))
        }
    }
}
