//! What waits for a person, as the ledger tells it. Whoever calls people asks here, however it came to be: a session said so, a
//! check failed, somebody reported for it, or what it waited for came to nothing.
//!
//! A phase of a run that failed is tried again, so of runs only the run itself counts. A part that never began because another one
//! came to nothing is told with that one.

use std::collections::HashMap;
use std::collections::hash_map::Entry;

use handoff_core::batch::BatchState;
use handoff_core::run::{Cause, Run, RunState};
use handoff_core::task::{Ending, Part, Reason};
use handoff_core::{
    Batch, BatchId, BatchName, ProjectId, RunName, Task, TaskId, TaskName, TaskState, Timestamp,
};
use handoff_store::{Store, StoreError, Transaction, batches, read, runs, tasks};

use crate::error::EngineError;

/// So many of the newest tasks in trouble are looked at; the attempts at a run's phases are among them.
const TROUBLED: u32 = 200;

/// Something that waits for a person.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Need {
    /// What for.
    pub want: Want,
    /// In a sentence.
    pub why: String,
    /// Since when.
    pub since: Timestamp,
    /// What has it.
    pub subject: Subject,
}

/// What a person is wanted for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Want {
    /// It cannot go on: this is what it needs.
    Help,
    /// It did not work: this is why.
    Look,
    /// It waits for somebody to agree.
    Agree,
}

/// What waits.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Subject {
    /// A task.
    Task {
        /// Which.
        task: Box<Task>,
        /// The batch that it is a part or the fan-in of.
        batch: Option<BatchName>,
        /// Others that did not begin because of it.
        behind: Vec<TaskName>,
        /// Whether its batch is done or called off: then it cannot be tried again, and what came of the batch counts.
        is_history: bool,
    },
    /// A run.
    Run(Box<Run>),
}

impl Need {
    /// A text that is the same for the same occasion, whoever sees it and whenever, and for no other one.
    pub fn occasion(&self) -> String {
        let since = self.since;
        match &self.subject {
            Subject::Task { task, .. } => format!("{}/{}/{since}", task.id, task.fence),
            Subject::Run(run) => format!("{}/{}/{since}", run.id, run.tasks),
        }
    }

    /// The run, if it is one.
    pub fn run(&self) -> Option<&RunName> {
        match &self.subject {
            Subject::Task { .. } => None,
            Subject::Run(run) => Some(&run.spec.name),
        }
    }
}

/// What of a project waits for a person, and did not before `since`: the oldest first.
pub fn needs(
    store: &mut dyn Store,
    project: ProjectId,
    since: Timestamp,
) -> Result<Vec<Need>, EngineError> {
    let mut found = read(store, |tx| {
        let troubled = tasks::in_trouble(tx, project, TROUBLED)?;
        let batches = batches_of(tx, &troubled)?;
        let runs = runs::live(tx, project)?;
        Ok(found(&troubled, &batches, runs))
    })?;
    found.retain(|need| need.since >= since);
    found.sort_by_key(|need| need.since);
    Ok(found)
}

fn batches_of(
    tx: &mut Transaction<'_>,
    tasks: &[Task],
) -> Result<HashMap<BatchId, Batch>, StoreError> {
    let mut found = HashMap::new();
    for id in tasks.iter().filter_map(|it| it.spec.part?.batch()) {
        if let Entry::Vacant(place) = found.entry(id) {
            place.insert(batches::get(tx, id)?);
        }
    }
    Ok(found)
}

fn found(troubled: &[Task], batches: &HashMap<BatchId, Batch>, runs: Vec<Run>) -> Vec<Need> {
    let of_tasks = troubled.iter().filter_map(|task| {
        let batch = { task.spec.part }
            .and_then(Part::batch)
            .and_then(|id| batches.get(&id));
        let is_told_otherwise = is_of_run(task, batch) || is_behind_another(task, troubled);
        let need = (!is_told_otherwise).then(|| of_task(task, batch))??;
        Some(need.with_behind(behind(task.id, troubled)))
    });
    of_tasks
        .chain(runs.into_iter().filter_map(of_run))
        .collect()
}

/// Whether a run tells of it: of its phases, and of what its batch came to.
fn is_of_run(task: &Task, batch: Option<&Batch>) -> bool {
    match task.spec.part {
        None | Some(Part::SubTask { .. }) => false,
        Some(Part::FanIn { .. }) => batch.is_some_and(|batch| batch.spec.run.is_some()),
        Some(Part::Phase { .. }) => true,
    }
}

/// Whether it never began, because another one that is told of came to nothing.
fn is_behind_another(task: &Task, troubled: &[Task]) -> bool {
    matches!(task.spec.part, Some(Part::SubTask { .. }))
        && matches!(task.state, TaskState::Blocked { .. })
        && { task.pending.iter() }.any(|it| {
            let is_it = |other: &Task| other.id == it.task && batch_id(other) == batch_id(task);
            troubled.iter().any(is_it)
        })
}

fn batch_id(task: &Task) -> Option<BatchId> {
    task.spec.part.and_then(Part::batch)
}

/// Those that did not begin because of this one, or of one that did not because of it.
fn behind(id: TaskId, troubled: &[Task]) -> Vec<TaskName> {
    let mut causes = vec![id];
    let mut names = vec![];
    let waits_for = |task: &Task, causes: &[TaskId]| {
        task.pending.iter().any(|it| causes.contains(&it.task)) && !causes.contains(&task.id)
    };
    while let Some(next) = troubled
        .iter()
        .find(|it| is_behind_another(it, troubled) && waits_for(it, &causes))
    {
        causes.push(next.id);
        names.push(next.spec.name.clone());
    }
    names.sort();
    names
}

fn of_task(task: &Task, batch: Option<&Batch>) -> Option<Need> {
    let (want, why, at) = match &task.state {
        TaskState::Blocked { reason, at } => (Want::Help, reason, at),
        TaskState::Failed { reason, at } => (Want::Look, reason, at),
        TaskState::Waiting
        | TaskState::Queued
        | TaskState::Leased { .. }
        | TaskState::Running { .. }
        | TaskState::Done { .. }
        | TaskState::Cancelled { .. } => return None,
    };
    Some(Need {
        want,
        why: why.to_string(),
        since: *at,
        subject: Subject::Task {
            task: Box::new(task.clone()),
            batch: batch.map(|it| it.spec.name.clone()),
            behind: vec![],
            is_history: batch.is_some_and(is_settled),
        },
    })
}

const fn is_settled(batch: &Batch) -> bool {
    matches!(
        batch.state,
        BatchState::Cancelled { .. }
            | BatchState::Ended {
                ending: Ending::Done,
                ..
            }
    )
}

fn of_run(run: Run) -> Option<Need> {
    let (want, why, since) = match &run.state {
        RunState::Gated { .. } => {
            let why = format!("`{}` is proved, and you are asked", run.at.phase);
            (Want::Agree, why, run.state.gated_since()?)
        }
        RunState::Stopped { cause, reason, at } => {
            (want_of(*cause), stopped(&run, *cause, reason), *at)
        }
        RunState::Working { .. }
        | RunState::FannedOut { .. }
        | RunState::Paused { .. }
        | RunState::Done { .. }
        | RunState::Cancelled { .. } => return None,
    };
    Some(Need {
        want,
        why,
        since,
        subject: Subject::Run(Box::new(run)),
    })
}

const fn want_of(cause: Cause) -> Want {
    if matches!(cause, Cause::AskedPerson) {
        Want::Help
    } else {
        Want::Look
    }
}

fn stopped(run: &Run, cause: Cause, reason: &Reason) -> String {
    format!("stopped in `{}`, {}: {reason}", run.at.phase, cause.word())
}

impl Need {
    fn with_behind(mut self, names: Vec<TaskName>) -> Self {
        if let Subject::Task { behind, .. } = &mut self.subject {
            *behind = names;
        }
        self
    }
}
