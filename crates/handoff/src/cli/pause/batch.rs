//! Pausing a batch: nothing of it is handed out any more, the parts that are worked on are paused one by one, and one package names
//! theirs.
//!
//! If a part cannot be paused, or whoever pauses the batch dies, all of it is handed out again. A batch that is paused already is
//! told by the package that it was paused with.

use handoff_api::ExitCode;
use handoff_core::batch::AdoptedBatch;
use handoff_core::caller::Action;
use handoff_core::package::PackageKind;
use handoff_core::task::Part;
use handoff_core::{
    Batch, ContextScope, Digest, HoldScope, PackageId, PackageRecord, Task, TaskId, TaskState,
};
use handoff_engine::{PartPause, PauseNote};
use handoff_operations::{Failure, Project, fresh_key};
use handoff_package::payload::{Attachment, BatchState, PausedPart};
use handoff_store::queue::{Change, PauseOf};
use handoff_store::{holds, read, tasks};

use super::{TaskPausing, unreceived, wholly, withdraw};
use crate::cli::package::draft::{DraftArgs, Material};
use crate::cli::package::fresh_id;
use crate::cli::package::scrub::{self, Secrets};
use crate::cli::package::tree_look::TreeLook;
use crate::context::Context;

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
        desk: &mut Project,
        ctx: &Context,
    ) -> Result<PackageRecord, Failure> {
        desk.caller.may(Action::Hold)?;
        self.refuse_what_is_over()?;
        let members = read(&mut *desk.store, |tx| tasks::of_batch(tx, self.batch.id))?;
        let fan_in = fan_in(&members)?;
        let earlier = self.earlier(fan_in, desk)?;
        let scope = HoldScope::Batch(self.batch.id);
        let is_held = read(&mut *desk.store, |tx| holds::in_force(tx, &[scope]))?.is_some();
        if let Some((record, state)) = earlier.last()
            && is_held
            && is_still(state, &members)
        {
            return self.paused_already(record, &draft);
        }
        let note = PauseNote {
            parts: members.iter().map(part_pause).collect(),
            batch: Some(self.batch.id),
            ..PauseNote::of(fresh_id())
        };
        let record = wholly(&note, &self.batch.id, desk, |desk| {
            let package = note.package;
            desk.submit(Change::Pause { scope, package }, None)?;
            // From here on nothing of it is handed out any more.
            let members = read(&mut *desk.store, |tx| tasks::of_batch(tx, self.batch.id))?;
            let noted = (note.package, &*note.parts);
            let parts = self.parts(&members, noted, &draft, desk, ctx)?;
            self.seal(draft, &parts, (note.package, fan_in), desk, ctx)
        })?;
        let earlier: Vec<_> = earlier.into_iter().map(|(record, _)| record).collect();
        withdraw(&earlier, "paused again", desk);
        Ok(record)
    }

    /// The packages that it was paused with before and that nobody has received.
    fn earlier(
        &self,
        fan_in: TaskId,
        desk: &mut Project,
    ) -> Result<Vec<(PackageRecord, BatchState)>, Failure> {
        let mut earlier = vec![];
        for record in unreceived(fan_in, desk)? {
            // One that cannot be read says nothing, and is told by `package list`.
            let Ok(stored) = desk.depot().find(record.label.id) else {
                continue;
            };
            let state = stored.opened.package.payload.batch;
            let state = state.filter(|it| it.id == self.batch.id);
            earlier.extend(state.map(|state| (record, state)));
        }
        Ok(earlier)
    }

    /// It is told by the package that it was paused with. What somebody says now would go nowhere: that one is sealed.
    fn paused_already(
        &self,
        record: &PackageRecord,
        draft: &DraftArgs,
    ) -> Result<PackageRecord, Failure> {
        if draft.is_silent() {
            return Ok(record.clone());
        }
        let (name, package) = (&self.batch.spec.name, record.label.id);
        let text = format!(
            "batch `{name}` is paused already, with {package}, and what you say of it would go nowhere"
        );
        Err(Failure::new(ExitCode::Conflict, text).hint(format!(
            "it goes on with `handoff resume {package}`, and can be paused again when somebody works on it; `handoff package send` or \
             `export` hands it over as it is"
        )))
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

    /// Pauses whatever is worked on.
    fn parts(
        &self,
        members: &[Task],
        (whole, noted): (PackageId, &[PartPause]),
        draft: &DraftArgs,
        desk: &mut Project,
        ctx: &Context,
    ) -> Result<Vec<PausedPart>, Failure> {
        let mut parts = vec![];
        // Nothing is added to a batch that is open: whoever is in it now was noted.
        for (task, noted) in members
            .iter()
            .filter_map(|task| Some((task, noted.iter().find(|it| it.task == task.id)?)))
        {
            let package = self.part(task, (noted.package, whole), draft, desk, ctx)?;
            parts.extend(package.map(|package| PausedPart {
                task: task.id,
                name: task.spec.name.clone(),
                package: package.label.id,
            }));
        }
        Ok(parts)
    }

    /// The package that a part goes on from; none if nobody works on it. `package` is the one that it would get, and that of all.
    fn part(
        &self,
        task: &Task,
        package: (PackageId, PackageId),
        draft: &DraftArgs,
        desk: &mut Project,
        ctx: &Context,
    ) -> Result<Option<PackageRecord>, Failure> {
        match &task.state {
            TaskState::Leased { .. } | TaskState::Running { .. } => {
                self.pause_part(task, package, draft.of_part(), desk, ctx)
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
        (package, whole): (PackageId, PackageId),
        draft: DraftArgs,
        desk: &mut Project,
        ctx: &Context,
    ) -> Result<Option<PackageRecord>, Failure> {
        let pausing = TaskPausing {
            task: task.clone(),
            package,
            whole: Some(whole),
            kind: self.kind,
            secrets: self.secrets,
        };
        let paused = pausing.pause(draft, desk, ctx);
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
        (id, fan_in): (PackageId, TaskId),
        desk: &mut Project,
        ctx: &Context,
    ) -> Result<PackageRecord, Failure> {
        let state = BatchState {
            id: self.batch.id,
            name: self.batch.spec.name.clone(),
            parts: parts.to_vec(),
            whole: self.whole(desk)?,
        };
        let attached = attached(&state, desk)?;
        let draft = draft.or_resuming_batch(&state, "paused");
        let tree = TreeLook::begin(&desk.repository, ctx)?;
        let (kind, scope) = ((id, self.kind), ContextScope::Task(fan_in));
        let material = Material {
            batch: Some(state),
            ..Material::of(kind, scope, tree, ctx.config()?.package)
        };
        let mut package = draft.package(material, desk)?;
        package.payload.attachments = attached;
        let (package, _) = scrub::clean(package, self.secrets)?;
        let key = fresh_key().in_project(desk.id);
        let caller = desk.caller.clone();
        let pausing = PauseOf::Batch(self.batch.id);
        let mut depot = desk.depot();
        Ok(depot.keep_pause(&package, pausing, &caller, &key)?)
    }

    /// All of it as it stands now, for a store that does not know it. None if a run waits for it, or it goes on from another task:
    /// that stays here.
    fn whole(&self, desk: &mut Project) -> Result<Option<AdoptedBatch>, Failure> {
        if self.batch.spec.run.is_some() {
            return Ok(None);
        }
        let whole = read(&mut *desk.store, |tx| {
            let mut members = tasks::of_batch(tx, self.batch.id)?;
            let next = self.batch.spec.next.map(|next| tasks::get(tx, next));
            members.extend(next.transpose()?);
            let is_bound = AdoptedBatch::bond(&members).is_some();
            Ok((!is_bound).then(|| AdoptedBatch::of(&self.batch, &members)))
        })?;
        Ok(whole)
    }
}

/// The packages of its parts, as they are sealed: those that are paused, and those that others are told of.
fn attached(state: &BatchState, desk: &mut Project) -> Result<Vec<Attachment>, Failure> {
    let Some(whole) = &state.whole else {
        return Ok(vec![]);
    };
    let mut attached = vec![];
    for part in &state.parts {
        let stored = desk.depot().find(part.package)?;
        attached.push(kept(part.package, &stored.bytes, desk)?);
    }
    for id in whole.packages() {
        // What was cleared away would only have informed somebody.
        if let Ok(stored) = desk.depot().find(id) {
            attached.push(kept(id, &stored.bytes, desk)?);
        }
    }
    Ok(attached)
}

fn kept(id: PackageId, mut bytes: &[u8], desk: &mut Project) -> Result<Attachment, Failure> {
    let name = BatchState::attachment(id);
    let attachment = Attachment {
        name: name.parse().expect("an id is part of a name"),
        sha256: Digest::of(bytes),
        size: bytes.len() as u64,
    };
    let kept = desk.depot().blobs().take_in(&attachment, &mut bytes);
    kept.map_err(|error| Failure::failed(format!("cannot attach `{name}`")).because(&error))?;
    Ok(attachment)
}

/// The package that a part would have, noted before it is made.
fn part_pause(task: &Task) -> PartPause {
    PartPause {
        task: task.id,
        package: fresh_id(),
    }
}

/// The task whose context is that of the batch.
fn fan_in(members: &[Task]) -> Result<TaskId, Failure> {
    let is_fan_in = |task: &&Task| matches!(task.spec.part, Some(Part::FanIn { .. }));
    let found = members.iter().find(is_fan_in);
    let missing = || Failure::new(ExitCode::Damaged, "the batch has no fan-in");
    found.map(|task| task.id).ok_or_else(missing)
}

/// Whether a batch stands as it did when it was paused: its parts are held, and nobody works on anything.
fn is_still(state: &BatchState, members: &[Task]) -> bool {
    let is_part = |task: &Task| state.parts.iter().any(|part| part.task == task.id);
    members.iter().all(|task| {
        let is_at_work = task.state.lease().is_some();
        !is_at_work && (!is_part(task) || task.hold.is_some())
    })
}

/// What a part was paused with that nobody has worked on since.
fn left(task: &Task, desk: &mut Project) -> Result<Option<PackageRecord>, Failure> {
    Ok(unreceived(task.id, desk)?.pop())
}
