//! What goes on in a project besides its feature, and what of it waits for a person.

use std::path::Path;

use handoff_api::{
    BatchRow, CensusDocument, NeedDocument, PausedRow, ProjectDocument, RunRow, SessionDocument,
    SessionRow,
};
use handoff_core::batch::Outcome;
use handoff_core::run::Run;
use handoff_core::{Batch, BatchId, Hold, ProjectId, Task, Timestamp};
use handoff_engine::needs::{self, Need, Subject, Want};
use handoff_session::{SandboxOff, journal};
use handoff_store::tasks::Census;
use handoff_store::{StoreError, Transaction, batches, holds, read, runs, tasks};

use crate::batch::row;
use crate::failure::Failure;
use crate::project::Project;
use crate::sandbox_policy;
use crate::session::list;
use crate::worker;
use crate::workplace::Workplace;

/// So many tasks are counted: whoever has more wants to know that, not how many.
const COUNTED: u32 = 1_000;
/// So many of the newest batches are asked what came of them.
const ENDED: u32 = 20;

/// What the ledger says of a project.
struct Ledger {
    census: Census,
    runs: Vec<Run>,
    batches: Vec<(Batch, BatchRow)>,
    /// Batches that are over and have a result.
    results: Vec<(Batch, Outcome)>,
    held: Vec<Task>,
    held_batches: Vec<(BatchId, Hold)>,
}

pub(super) fn look(project: &mut Project, here: &Workplace) -> Result<ProjectDocument, Failure> {
    let id = project.id;
    let sessions = list::living(id, here)?;
    let workers = worker::living(project, here)?.len();
    let ledger = read(&mut *project.store, |tx| Ledger::read(tx, id))?;
    let waiting = needs::needs(&mut *project.store, id, Timestamp::UNIX_EPOCH)?;
    let asking = sessions.iter().filter_map(session_need);
    let asking = asking.chain(sessions.iter().filter_map(refused_need));
    // The newest first: of many, those are shown.
    let waiting = waiting.iter().rev().filter_map(ledger_need);
    let landings = landings(&ledger.results, project, here);
    Ok(ProjectDocument {
        needs: asking.chain(waiting).chain(landings).collect(),
        sessions: sessions.into_iter().map(session_row).collect(),
        tasks: counted(ledger.census),
        paused: paused(&ledger),
        workers,
        sandbox_off: sandbox_policy::off_for_tasks(here)?.map(SandboxOff::word),
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
            results: results(tx, project)?,
            held: tasks::held(tx, project)?,
            held_batches: holds::of_batches(tx, project)?,
        })
    }
}

/// What goes on with its package. A part that was paused with its batch goes on with that.
fn paused(ledger: &Ledger) -> Vec<PausedRow> {
    let batches = ledger.batches.iter().filter_map(|(batch, _)| {
        let mut holds = ledger.held_batches.iter();
        let (_, hold) = holds.find(|(id, _)| *id == batch.id)?;
        let name = &batch.spec.name;
        Some(PausedRow {
            kind: "batch",
            name: name.to_string(),
            package: hold.pause?.to_string(),
            command: format!("handoff resume --batch {name}"),
        })
    });
    let tasks = ledger.held.iter().filter_map(|task| {
        let hold = task.hold.as_ref().filter(|it| it.whole.is_none())?;
        let name = &task.spec.name;
        Some(PausedRow {
            kind: "task",
            name: name.to_string(),
            package: hold.pause?.to_string(),
            command: format!("handoff resume {name}"),
        })
    });
    batches.chain(tasks).collect()
}

/// What came of the newest batches that are done.
fn results(
    tx: &mut Transaction<'_>,
    project: ProjectId,
) -> Result<Vec<(Batch, Outcome)>, StoreError> {
    let mut results = vec![];
    for batch in batches::page(tx, project, None, ENDED)? {
        // A run goes on from the results of its batches by itself.
        let is_for_people = batch.spec.run.is_none() && !batch.state.is_live();
        if is_for_people && let Some(outcome) = Outcome::of(&tasks::get(tx, batch.spec.fan_in)?) {
            results.push((batch, outcome));
        }
    }
    Ok(results)
}

/// The results that are not in the branch that is checked out. That they cannot be looked for keeps nobody from the rest.
fn landings(
    results: &[(Batch, Outcome)],
    project: &Project,
    here: &Workplace,
) -> Vec<NeedDocument> {
    if results.iter().all(|(_, outcome)| outcome.result.is_none()) {
        return vec![];
    }
    let git = here.git(&project.repository);
    let unlanded = git
        .unlanded_branches(&project.repository)
        .unwrap_or_default();
    let is_unlanded = |(_, outcome): &&(Batch, Outcome)| {
        { unlanded.iter() }.any(|(_, commit)| outcome.result.as_ref() == Some(commit))
    };
    results.iter().filter(is_unlanded).map(landing).collect()
}

fn landing((batch, outcome): &(Batch, Outcome)) -> NeedDocument {
    let name = batch.spec.name.to_string();
    let (why, verb) = match outcome.left_out.len() {
        0 => ("it is done, and has not landed".to_owned(), "land"),
        1 => ("it is done without 1 of its parts".to_owned(), "batch show"),
        count => (
            format!("it is done without {count} of its parts"),
            "batch show",
        ),
    };
    NeedDocument {
        kind: "batch",
        command: format!("handoff {verb} {name}"),
        name,
        why,
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

/// Something that a session tried and that is for a person to do.
fn refused_need(session: &SessionDocument) -> Option<NeedDocument> {
    let directory = Path::new(&session.events_log_path).parent()?;
    let (by, act, times) = journal::last_refused(directory).ok()??;
    let by = match by == session.id {
        true => "it".to_owned(),
        false => by,
    };
    let name = &session.name;
    Some(NeedDocument {
        kind: "session",
        name: name.clone(),
        why: format!("{by} was refused `{act}`, {times} times"),
        command: format!("handoff events --id {name} --snapshot"),
    })
}

/// What the ledger says that waits for a person. A part of a batch that is over is history.
fn ledger_need(need: &Need) -> Option<NeedDocument> {
    let (kind, name, verb) = match &need.subject {
        Subject::Task {
            is_history: true, ..
        } => return None,
        Subject::Task { task, .. } => ("task", task.spec.name.to_string(), "queue show"),
        Subject::Run(run) => ("run", run.spec.name.to_string(), "workflow status"),
    };
    let why = match (&need.subject, need.want) {
        (Subject::Task { .. }, Want::Help) => format!("blocked: {}", need.why),
        (Subject::Task { .. }, Want::Look) => format!("failed: {}", need.why),
        (Subject::Task { .. } | Subject::Run(_), _) => need.why.clone(),
    };
    Some(NeedDocument {
        kind,
        command: format!("handoff {verb} {name}"),
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
        sandbox_off: session.sandbox_off,
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
