//! Pausing a batch: nothing of it is handed out any more, the parts that are worked on are paused one by one, and one package names
//! theirs.
//!
//! If a part cannot be paused, the batch is handed out again, and the parts that were paused go on from their packages. Whoever is
//! killed in between can say the same again: parts that are paused already are named as they are.

use handoff_api::ExitCode;
use handoff_core::caller::Action;
use handoff_core::package::{Origin, PackageKind, PackageState};
use handoff_core::task::{Command, Part};
use handoff_core::{Batch, ContextScope, HoldScope, PackageRecord, Task, TaskId, TaskState};
use handoff_package::payload::{BatchState, PausedPart};
use handoff_store::queue::Change;
use handoff_store::{packages, read, tasks};

use super::{Pausing, reason, tell_task};
use crate::cli::package::draft::{DraftArgs, Material, tree_at};
use crate::cli::package::scrub::{self, Secrets};
use crate::context::{Context, fresh_key};
use crate::desk::Desk;
use crate::failure::Failure;

/// A batch that is to be paused.
pub(super) struct BatchPausing {
    pub(super) batch: Batch,
    pub(super) kind: PackageKind,
    pub(super) secrets: Secrets,
}

impl BatchPausing {
    /// Pauses it. On any failure the work goes on, or is handed out again.
    pub(super) fn pause(
        &self,
        draft: DraftArgs,
        desk: &mut Desk,
        ctx: &Context,
    ) -> Result<PackageRecord, Failure> {
        desk.caller.may(Action::Hold)?;
        self.refuse_what_is_over()?;
        let scope = HoldScope::Batch(self.batch.id);
        let reason = reason();
        desk.submit(Change::Hold { scope, reason }, None)?;
        let mut parts = vec![];
        let paused = self.parts(&mut parts, desk, ctx);
        let sealed = paused.and_then(|fan_in| self.seal(draft, &parts, fan_in, desk, ctx));
        if sealed.is_err() {
            // Nobody is told that it is paused, and so it must not look so.
            for part in &parts {
                let task = read(&mut *desk.store, |tx| tasks::get(tx, part.task));
                task.ok()
                    .map(|task| tell_task(&task, Command::Unhold, desk).ok());
            }
            desk.submit(Change::Unhold { scope }, None).ok();
        }
        sealed
    }

    fn refuse_what_is_over(&self) -> Result<(), Failure> {
        if self.batch.state.is_live() {
            return Ok(());
        }
        let (name, state) = (&self.batch.spec.name, self.batch.state.word());
        let text = format!("batch `{name}` is {state}, so there is nothing to pause");
        Err(Failure::new(ExitCode::Conflict, text)
            .hint(format!("look at it: `handoff batch show {name}`")))
    }

    /// Pauses whatever is worked on. Returns the fan-in, whose context is that of the batch.
    fn parts(
        &self,
        parts: &mut Vec<PausedPart>,
        desk: &mut Desk,
        ctx: &Context,
    ) -> Result<TaskId, Failure> {
        let members = read(&mut *desk.store, |tx| tasks::of_batch(tx, self.batch.id))?;
        let mut fan_in = None;
        for task in members {
            if matches!(task.spec.part, Some(Part::FanIn { .. })) {
                fan_in = Some(task.id);
            }
            let package = self.part(&task, desk, ctx)?;
            parts.extend(package.map(|package| PausedPart {
                task: task.id,
                name: task.spec.name.clone(),
                package: package.label.id,
            }));
        }
        fan_in.ok_or_else(|| Failure::new(ExitCode::Damaged, "the batch has no fan-in"))
    }

    /// The package that a part goes on from; none if nobody works on it.
    fn part(
        &self,
        task: &Task,
        desk: &mut Desk,
        ctx: &Context,
    ) -> Result<Option<PackageRecord>, Failure> {
        match &task.state {
            TaskState::Leased { .. } | TaskState::Running { .. } => {
                self.pause_part(task, desk, ctx)
            }
            TaskState::Waiting | TaskState::Queued if task.hold.is_some() => left(task, desk),
            TaskState::Waiting
            | TaskState::Queued
            | TaskState::Done { .. }
            | TaskState::Failed { .. }
            | TaskState::Blocked { .. }
            | TaskState::Cancelled { .. } => Ok(None),
        }
    }

    fn pause_part(
        &self,
        task: &Task,
        desk: &mut Desk,
        ctx: &Context,
    ) -> Result<Option<PackageRecord>, Failure> {
        let pausing = Pausing {
            task: task.clone(),
            kind: self.kind,
            secrets: self.secrets,
        };
        let paused = pausing.pause(DraftArgs::default(), desk, ctx);
        let now = read(&mut *desk.store, |tx| tasks::get(tx, task.id))?;
        match paused {
            // It was finished before anybody could stop it.
            Err(_) if now.state.ending().is_some() => Ok(None),
            paused => paused.map(Some),
        }
    }

    fn seal(
        &self,
        draft: DraftArgs,
        parts: &[PausedPart],
        fan_in: TaskId,
        desk: &mut Desk,
        ctx: &Context,
    ) -> Result<PackageRecord, Failure> {
        let state = BatchState {
            id: self.batch.id,
            name: self.batch.spec.name.clone(),
            parts: parts.to_vec(),
        };
        let draft = draft.or_resuming_batch(&state, "paused");
        let material = Material {
            kind: self.kind,
            scope: ContextScope::Task(fan_in),
            claims: vec![],
            task: None,
            tree: tree_at(&desk.repository, ctx)?,
            settings: ctx.config()?.package,
            session: None,
            batch: Some(state),
            plan: None,
        };
        let (package, _) = scrub::clean(draft.package(material, desk)?, self.secrets)?;
        let key = fresh_key().in_project(desk.project);
        let caller = desk.caller.clone();
        Ok(desk.depot().keep(&package, Origin::Made, &caller, &key)?)
    }
}

/// What a part was paused with that nobody has worked on since.
fn left(task: &Task, desk: &mut Desk) -> Result<Option<PackageRecord>, Failure> {
    let mut left = read(&mut *desk.store, |tx| packages::of_task(tx, task.id))?;
    left.retain(|it| {
        let is_pause = matches!(it.label.kind, PackageKind::Pause | PackageKind::Transfer);
        is_pause && it.state == PackageState::Created
    });
    Ok(left.pop())
}
