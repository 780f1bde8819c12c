//! A pause whose maker died in the middle never was one: what it held is handed out again, and its packages are withdrawn. What
//! a person holds stays held, whenever they said so.

use handoff_core::package::{PackageCommand, PackageState};
use handoff_core::run::{Run, RunCommand, RunState};
use handoff_core::task::{Command, Reason};
use handoff_core::{Caller, HoldScope, IdempotencyKey, PackageId, ProjectId, RunId, Task, TaskId};
use handoff_files::Lock;
use handoff_store::queue::{Change, Request, RunRef, TaskRef, submit};
use handoff_store::{Store, StoreError, packages, read, runs, tasks};

use super::stale_pauses::is_sealed;
use super::stopped_agents::let_go_on;
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
        let_go_on(note, places);
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
        is_sealed: read(store, |tx| is_sealed(tx, note.package))?,
        lives: lives.transpose()?.unwrap_or(false),
        holds,
    })
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
    let mut undoing = Undoing {
        note,
        store,
        project,
    };
    undoing.withdraw(note.package)?;
    for task in &note.tasks {
        undoing.hand_out(*task, note.package)?;
    }
    for part in &note.parts {
        undoing.withdraw(part.package)?;
        undoing.hand_out(part.task, part.package)?;
    }
    if let Some(batch) = note.batch {
        let (scope, package) = (HoldScope::Batch(batch), note.package);
        undoing.tell("batch", Change::Unpause { scope, package })?;
    }
    if let Some(run) = note.run {
        undoing.go_on(run)?;
    }
    Ok(())
}

/// One who undoes a pause.
struct Undoing<'a> {
    note: &'a PauseNote,
    store: &'a mut dyn Store,
    project: ProjectId,
}

impl Undoing<'_> {
    /// Takes a package back that nobody has taken up.
    fn withdraw(&mut self, id: PackageId) -> Result<(), EngineError> {
        let package = known(read(self.store, |tx| packages::get(tx, id)))?;
        if package.is_none_or(|it| it.state != PackageState::Created) {
            return Ok(());
        }
        let command = PackageCommand::Cancel { reason: reason() };
        self.tell(&id.to_string(), Change::Package { id, command })
    }

    /// Hands a task out again that nobody but the pause with this package keeps.
    fn hand_out(&mut self, task: TaskId, package: PackageId) -> Result<(), EngineError> {
        let found = known(read(self.store, |tx| tasks::get(tx, task)))?;
        if found.is_none_or(|task: Task| task.hold.is_none()) {
            return Ok(());
        }
        let change = Change::Tell {
            task: TaskRef::Id(task),
            command: Command::Unpause { package },
        };
        self.tell(&task.to_string(), change)
    }

    fn go_on(&mut self, run: RunId) -> Result<(), EngineError> {
        let found = known(read(self.store, |tx| runs::get(tx, run)))?;
        let is_paused = found.is_some_and(|it: Run| matches!(it.state, RunState::Paused { .. }));
        if !is_paused {
            return Ok(());
        }
        let change = Change::Run {
            run: RunRef::Id(run),
            command: RunCommand::Resume,
        };
        self.tell("run", change)
    }

    fn tell(&mut self, what: &str, change: Change) -> Result<(), EngineError> {
        let key: IdempotencyKey = format!("unpause/{}/{what}", self.note.package)
            .parse()
            .expect("ids and words make a key");
        let request = Request {
            by: Caller::Reconciler,
            key: key.in_project(self.project),
            change,
        };
        submit(self.store, &request)?;
        Ok(())
    }
}

fn reason() -> Option<Reason> {
    "whoever paused it did not come to the end".parse().ok()
}
