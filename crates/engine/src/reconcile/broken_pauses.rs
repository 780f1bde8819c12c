//! A pause whose maker died in the middle never was one: what it held is handed out again, and its package is withdrawn.

use handoff_core::package::{PackageCommand, PackageState};
use handoff_core::run::{Run, RunCommand, RunState};
use handoff_core::task::{Command, Reason};
use handoff_core::{Caller, HoldScope, IdempotencyKey, PackageId, ProjectId, RunId, Task, TaskId};
use handoff_files::Lock;
use handoff_store::queue::{Change, Request, RunRef, TaskRef, submit};
use handoff_store::{Store, StoreError, packages, read, runs, tasks};

use crate::error::EngineError;
use crate::pausing::{PauseFacts, PauseNote, Pausing};
use crate::places::Places;

/// Undoes what such pauses have done, and says how many there were. One that is whole stays: only its maker's last words are
/// missing.
pub fn broken_pauses(
    store: &mut dyn Store,
    project: ProjectId,
    places: &Places,
) -> Result<usize, EngineError> {
    let mut undone = 0;
    for pausing in Pausing::broken(places, project)? {
        // One that cannot be undone now is kept for the next look, and keeps nobody from the others.
        undone += usize::from(settled(pausing, store, project, places).unwrap_or(false));
    }
    Ok(undone)
}

/// Undoes one pause, unless it is whole; says whether there was something to undo.
fn settled(
    pausing: Pausing,
    store: &mut dyn Store,
    project: ProjectId,
    places: &Places,
) -> Result<bool, EngineError> {
    let broken = match pausing.note()? {
        Some(note) if !note.is_whole(facts(&note, store, places)?) => Some(note),
        Some(_) | None => None,
    };
    if let Some(note) = &broken {
        undo_pause(note, store, project)?;
    }
    pausing.end()?;
    Ok(broken.is_some())
}

fn facts(
    note: &PauseNote,
    store: &mut dyn Store,
    places: &Places,
) -> Result<PauseFacts, EngineError> {
    let lives = note
        .session
        .map(|it| Lock::is_held(&places.holder_lock(it)));
    let mut holds = true;
    for id in &note.tasks {
        let task = known(read(store, |tx| tasks::get(tx, *id)))?;
        holds &= task.is_some_and(|task: Task| task.hold.is_some());
    }
    Ok(PauseFacts {
        is_sealed: is_sealed(note.package, store)?,
        lives: lives.transpose()?.unwrap_or(false),
        holds,
    })
}

fn is_sealed(id: PackageId, store: &mut dyn Store) -> Result<bool, EngineError> {
    let package = known(read(store, |tx| packages::get(tx, id)))?;
    Ok(package.is_some_and(|it| !matches!(it.state, PackageState::Cancelled { .. })))
}

fn known<T>(found: Result<T, StoreError>) -> Result<Option<T>, StoreError> {
    match found {
        Err(StoreError::NotFound { .. }) => Ok(None),
        found => found.map(Some),
    }
}

/// Undoes what a pause has done so far. Everything goes under a key of its own: what somebody holds again later stays held.
pub fn undo_pause(
    note: &PauseNote,
    store: &mut dyn Store,
    project: ProjectId,
) -> Result<(), EngineError> {
    let id = note.package;
    if is_sealed(id, store)? {
        let command = PackageCommand::Cancel { reason: reason() };
        tell(
            note,
            "package",
            Change::Package { id, command },
            store,
            project,
        )?;
    }
    for task in &note.tasks {
        unhold(note, *task, store, project)?;
    }
    if let Some(batch) = note.batch {
        let scope = HoldScope::Batch(batch);
        tell(note, "batch", Change::Unhold { scope }, store, project)?;
    }
    if let Some(run) = note.run {
        go_on(note, run, store, project)?;
    }
    Ok(())
}

fn go_on(
    note: &PauseNote,
    run: RunId,
    store: &mut dyn Store,
    project: ProjectId,
) -> Result<(), EngineError> {
    let found = known(read(store, |tx| runs::get(tx, run)))?;
    let is_paused = found.is_some_and(|it: Run| matches!(it.state, RunState::Paused { .. }));
    if !is_paused {
        return Ok(());
    }
    let change = Change::Run {
        run: RunRef::Id(run),
        command: RunCommand::Resume,
    };
    tell(note, "run", change, store, project)
}

fn unhold(
    note: &PauseNote,
    task: TaskId,
    store: &mut dyn Store,
    project: ProjectId,
) -> Result<(), EngineError> {
    let found = known(read(store, |tx| tasks::get(tx, task)))?;
    if found.is_none_or(|task: Task| task.hold.is_none()) {
        return Ok(());
    }
    let change = Change::Tell {
        task: TaskRef::Id(task),
        command: Command::Unhold,
    };
    tell(note, &task.to_string(), change, store, project)
}

fn tell(
    note: &PauseNote,
    what: &str,
    change: Change,
    store: &mut dyn Store,
    project: ProjectId,
) -> Result<(), EngineError> {
    let key: IdempotencyKey = format!("unpause/{}/{what}", note.package)
        .parse()
        .expect("ids and words make a key");
    let request = Request {
        by: Caller::Reconciler,
        key: key.in_project(project),
        change,
    };
    submit(store, &request)?;
    Ok(())
}

fn reason() -> Option<Reason> {
    "whoever paused it did not come to the end".parse().ok()
}
