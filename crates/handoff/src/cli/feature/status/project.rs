//! What goes on in a project besides its feature, and what of it waits for a person.

use std::collections::HashSet;

use handoff_api::{
    BatchRow, CensusDocument, NeedDocument, ProjectDocument, RunRow, SessionDocument, SessionRow,
};
use handoff_core::run::{Run, RunState};
use handoff_core::task::Part;
use handoff_core::{Batch, BatchId, ProjectId, Task, TaskState};
use handoff_store::tasks::Census;
use handoff_store::{StoreError, Transaction, batches, read, runs, tasks};

use crate::cli::batch::row;
use crate::cli::session::ps;
use crate::cli::worker;
use crate::context::Context;
use crate::desk::Desk;
use crate::failure::Failure;

/// So many tasks are counted: whoever has more wants to know that, not how many.
const COUNTED: u32 = 1_000;
/// So many of the newest tasks in trouble are looked at; the attempts at a run's phases are among them.
const TROUBLED: u32 = 200;

/// What the ledger says of a project.
struct Ledger {
    census: Census,
    runs: Vec<Run>,
    batches: Vec<(Batch, BatchRow)>,
    in_trouble: Vec<Task>,
}

pub(super) fn look(desk: &mut Desk, ctx: &Context) -> Result<ProjectDocument, Failure> {
    let project = desk.project;
    let sessions = ps::living(project, ctx)?;
    let workers = worker::living(desk, ctx)?.len();
    let ledger = read(&mut *desk.store, |tx| Ledger::read(tx, project))?;
    Ok(ProjectDocument {
        needs: needs(&sessions, &ledger),
        sessions: sessions.into_iter().map(session_row).collect(),
        tasks: counted(ledger.census),
        workers,
        runs: ledger.runs.iter().map(run_row).collect(),
        batches: ledger.batches.into_iter().map(|(_, row)| row).collect(),
    })
}

impl Ledger {
    fn read(tx: &mut Transaction<'_>, project: ProjectId) -> Result<Self, StoreError> {
        let live = batches::live(tx, project)?;
        let batches = live.into_iter().map(|batch| {
            let row = row(tx, &batch)?;
            Ok((batch, row))
        });
        let batches = batches.collect::<Result<_, StoreError>>()?;
        Ok(Self {
            batches,
            census: tasks::census(tx, project, COUNTED)?,
            runs: runs::live(tx, project)?,
            in_trouble: tasks::in_trouble(tx, project, TROUBLED)?,
        })
    }
}

fn needs(sessions: &[SessionDocument], ledger: &Ledger) -> Vec<NeedDocument> {
    let live: HashSet<BatchId> = ledger.batches.iter().map(|(batch, _)| batch.id).collect();
    let sessions = sessions.iter().filter_map(session_need);
    let runs = ledger.runs.iter().filter_map(run_need);
    let tasks = ledger.in_trouble.iter();
    let tasks = tasks.filter(|task| is_of_interest(task, &live));
    sessions
        .chain(runs)
        .chain(tasks.filter_map(task_need))
        .collect()
}

/// Of an attempt at a phase its run tells, and a part of a batch that is over is history: what came of the batch counts then.
fn is_of_interest(task: &Task, live: &HashSet<BatchId>) -> bool {
    match task.spec.part {
        None | Some(Part::FanIn { .. }) => true,
        Some(Part::SubTask { batch }) => live.contains(&batch),
        Some(Part::Phase { .. }) => false,
    }
}

fn session_need(session: &SessionDocument) -> Option<NeedDocument> {
    let kind = session.kind.as_deref()?;
    let name = &session.name;
    let command = match kind {
        "permission" | "question" | "trust" => format!("handoff answer --id {name}"),
        _ => format!("handoff attach --id {name}"),
    };
    Some(NeedDocument {
        kind: "session",
        name: name.clone(),
        why: format!("{} is blocked: {kind}", session.agent),
        command,
    })
}

fn run_need(run: &Run) -> Option<NeedDocument> {
    let name = run.spec.name.to_string();
    let (why, command) = match &run.state {
        RunState::Gated { .. } => (
            format!("`{}` is proved, and you are asked", run.at.phase),
            format!("handoff workflow status {name}"),
        ),
        RunState::Stopped { cause, reason, .. } => (
            format!("stopped in `{}`, {}: {reason}", run.at.phase, cause.word()),
            format!("handoff workflow status {name}"),
        ),
        RunState::Working { .. }
        | RunState::FannedOut { .. }
        | RunState::Paused { .. }
        | RunState::Done { .. }
        | RunState::Cancelled { .. } => return None,
    };
    Some(NeedDocument {
        kind: "run",
        name,
        why,
        command,
    })
}

fn task_need(task: &Task) -> Option<NeedDocument> {
    let why = match &task.state {
        TaskState::Blocked { reason, .. } => format!("blocked: {reason}"),
        TaskState::Failed { reason, .. } => format!("failed: {reason}"),
        TaskState::Waiting
        | TaskState::Queued
        | TaskState::Leased { .. }
        | TaskState::Running { .. }
        | TaskState::Done { .. }
        | TaskState::Cancelled { .. } => return None,
    };
    let name = task.spec.name.to_string();
    Some(NeedDocument {
        kind: "task",
        command: format!("handoff queue show {name}"),
        name,
        why,
    })
}

fn session_row(session: SessionDocument) -> SessionRow {
    SessionRow {
        name: session.name,
        agent: session.agent,
        state: session.state,
        kind: session.kind,
        task: session.task,
        description: session.description,
    }
}

const fn counted(census: Census) -> CensusDocument {
    let Census {
        waiting,
        queued,
        held,
        at_work,
        has_more,
    } = census;
    CensusDocument {
        waiting,
        queued,
        held,
        at_work,
        has_more,
    }
}

fn run_row(run: &Run) -> RunRow {
    RunRow {
        name: run.spec.name.to_string(),
        workflow: run.spec.workflow.name.to_string(),
        state: run.state.word(),
        phase: run.at.phase.to_string(),
        attempt: run.at.number,
        proved: run.steps.len(),
    }
}
