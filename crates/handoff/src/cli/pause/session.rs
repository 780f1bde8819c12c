//! Pausing a session: its agent is brought to rest and not asked; where it stands is sealed; then it is ended.
//!
//! In this order: the agent is interrupted, or comes to the end of its turn; what can be seen of it from outside is sealed; if it did
//! anything meanwhile, that is no longer true, and it is not paused; then its task is held, its lease is taken away and it is ended.
//! If anything fails before that, or we are killed, it lives on with its task, what was sealed is withdrawn, and an agent that was
//! interrupted is told to go on.

use std::time::Duration;

use handoff_api::ExitCode;
use handoff_core::caller::Action;
use handoff_core::package::{Origin, PackageKind};
use handoff_core::task::Command;
use handoff_core::{ContextScope, PackageId, PackageRecord, Task};
use handoff_engine::PauseNote;
use handoff_git::Repository;
use handoff_operations::{Failure, Project, agent_catalogue, fresh_key};
use handoff_session::Known;
use handoff_store::{read, tasks};

use super::{release, tell_task, wholly};
use crate::cli::package::draft::{DraftArgs, Material};
use crate::cli::package::fresh_id;
use crate::cli::package::scrub::{self, Secrets};
use crate::cli::package::tree_look::TreeLook;
use crate::cli::session::patience::Patience;
use crate::cli::session::{Manner, Rest, last_event, snapshot, stop_session};
use crate::context::Context;

/// What an agent takes to stop, at most.
const STOPPING_TAKES: Duration = Duration::from_secs(10);
/// What a turn takes, at most.
const TURN_TAKES: Duration = Duration::from_secs(600);

/// A session that is to be paused.
pub(super) struct SessionPausing {
    pub(super) known: Known,
    pub(super) kind: PackageKind,
    pub(super) secrets: Secrets,
    pub(super) manner: Manner,
    pub(super) patience: Option<Patience>,
}

impl SessionPausing {
    /// Pauses it. On any failure it lives on.
    pub(super) fn pause(
        &self,
        draft: DraftArgs,
        desk: &mut Project,
        ctx: &Context,
    ) -> Result<PackageRecord, Failure> {
        desk.caller.may(Action::Hold)?;
        let task = self.known.record.task_id;
        let task = task.map(|task| read(&mut *desk.store, |tx| tasks::get(tx, task)));
        let task = task.transpose()?;
        let note = PauseNote {
            tasks: task.iter().map(|task| task.id).collect(),
            session: Some(self.known.record.id),
            stopped_after: self.stops_after(ctx)?,
            ..PauseNote::of(fresh_id())
        };
        let paused = wholly(&note, &self.known.record.id, desk, |desk| {
            let rest = self.rest(ctx)?;
            let record = self.seal(draft, note.package, task.as_ref(), desk, ctx)?;
            self.still(rest)?;
            self.end(task.as_ref(), note.package, desk, ctx)?;
            Ok(record)
        });
        paused.map_err(|failure| {
            let name = &self.known.record.name;
            failure.hint(format!(
                "`{name}` lives: `handoff pane --id {name}` shows what it does"
            ))
        })
    }

    /// The last event before the agent is told to stop, if it is and can be told to go on: a shell would run that as a command.
    fn stops_after(&self, ctx: &Context) -> Result<Option<u64>, Failure> {
        let is_told =
            self.manner == Manner::Interrupt && agent_catalogue::reads_words(&self.known, ctx)?;
        is_told.then(|| last_event(&self.known)).transpose()
    }

    fn rest(&self, ctx: &Context) -> Result<Rest, Failure> {
        let usual = match self.manner {
            Manner::Interrupt => STOPPING_TAKES,
            Manner::Drain => TURN_TAKES,
        };
        let patience = self.patience.map_or(usual, |patience| patience.0);
        Rest::bring(&self.known, self.manner, patience, ctx)
    }

    fn seal(
        &self,
        draft: DraftArgs,
        id: PackageId,
        task: Option<&Task>,
        desk: &mut Project,
        ctx: &Context,
    ) -> Result<PackageRecord, Failure> {
        let known = &self.known;
        let state = snapshot(known);
        let turns = state.as_ref().map_or(0, |state| state.turns);
        let at = Repository::discover(&known.record.cwd).ok();
        let tree = TreeLook::begin(at.as_ref().unwrap_or(&desk.repository), ctx)?;
        let scope = task.map_or(ContextScope::Session(known.record.id), |task| {
            ContextScope::Task(task.id)
        });
        let material = Material {
            task: task.cloned(),
            session: state,
            ..Material::of((id, self.kind), scope, tree, ctx.config()?.package)
        };
        let draft = draft.or_resuming_session(known, turns, "paused");
        let (package, _) = scrub::clean(draft.package(material, desk)?, self.secrets)?;
        let key = fresh_key().in_project(desk.id);
        let caller = desk.caller.clone();
        Ok(desk.depot().keep(&package, Origin::Made, &caller, &key)?)
    }

    /// What was sealed is where it stands only if it did nothing since.
    fn still(&self, rest: Rest) -> Result<(), Failure> {
        if rest.holds(&self.known)? {
            return Ok(());
        }
        let name = &self.known.record.name;
        let text = format!("somebody gave `{name}` something to do meanwhile, so it is not paused");
        Err(Failure::new(ExitCode::Conflict, text))
    }

    /// Nobody else gets its task, nothing counts from now on that it says, and it ends. Until here its lease has kept the task.
    fn end(
        &self,
        task: Option<&Task>,
        package: PackageId,
        desk: &mut Project,
        ctx: &Context,
    ) -> Result<(), Failure> {
        let Some(task) = task else {
            return stop_session(self.known.record.id, ctx);
        };
        let whole = None;
        tell_task(task, Command::Pause { package, whole }, desk)?;
        release(task, desk)?;
        stop_session(self.known.record.id, ctx)
    }
}
