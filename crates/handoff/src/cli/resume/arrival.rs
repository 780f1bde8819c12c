//! What a package is about in this store. A task or a batch that was paused in another one arrives with its package: it is taken
//! over as it stood there, and then goes on like one of our own.
//!
//! Nothing that stands in a package is run by itself: the commands that would prove the work are told, and a person accepts them.

use std::collections::BTreeSet;
use std::io::Read as _;

use handoff_api::ExitCode;
use handoff_core::batch::AdoptedBatch;
use handoff_core::{Action, CommitId, Fence, PackageId, Task, TaskId};
use handoff_engine::depot::Stored;
use handoff_operations::project::require_person;
use handoff_operations::{Failure, Project};
use handoff_package::KeyStanding;
use handoff_package::blobs::Content;
use handoff_package::bundle::{Unpacked, read_package};
use handoff_package::payload::{Attachment, BatchState, Payload};
use handoff_package::seal::LIMIT;
use handoff_store::queue::{ArrivingBatch, ArrivingTask, Change};
use handoff_store::{StoreError, read, tasks};

use crate::cli::baton;
use crate::cli::package::grasp::Grasp;
use crate::cli::package::receive;
use crate::context::Context;

/// What a package is about, as far as this store knows it.
pub(super) struct Subject {
    /// The task that goes on; of a batch its fan-in.
    pub(super) task: Option<Task>,
    /// The batch, under the ids that it has here.
    pub(super) batch: Option<BatchState>,
    /// The attempt after which the task was paused, counted as here.
    pub(super) attempt: Option<Fence>,
}

impl Subject {
    pub(super) fn find(stored: &Stored, desk: &mut Project) -> Result<Self, Failure> {
        let (label, payload) = (&stored.record.label, &stored.opened.package.payload);
        let batch = payload.batch.clone();
        let Some(task) = label.task else {
            return Ok(Self {
                task: None,
                batch,
                attempt: None,
            });
        };
        if let Some(task) = known(task, desk)? {
            return Ok(Self {
                task: Some(task),
                batch,
                attempt: payload.fence,
            });
        }
        Ok(Self {
            task: known(task.adopted(label.id), desk)?,
            batch: batch.map(|batch| batch.under(label.id)),
            attempt: Some(Fence::NONE),
        })
    }
}

fn known(id: TaskId, desk: &mut Project) -> Result<Option<Task>, Failure> {
    match read(&mut *desk.store, |tx| tasks::get(tx, id)) {
        Err(StoreError::NotFound { .. }) => Ok(None),
        found => Ok(Some(found?)),
    }
}

/// Takes over what a package brings, unless it brings nothing. `accepts` says that a person has read the commands in it.
pub(super) fn take_over(
    stored: &Stored,
    accepts: bool,
    grasp: &Grasp,
    desk: &mut Project,
    ctx: &Context,
) -> Result<(), Failure> {
    let payload = &stored.opened.package.payload;
    let whole = payload.batch.as_ref().and_then(|it| it.whole.as_ref());
    if whole.is_none() && payload.task.is_none() {
        return Ok(());
    }
    desk.caller.may(Action::Steer)?;
    receive::acceptable(stored, desk, ctx)?;
    whole.map_or(Ok(()), |whole| can_go_on(whole, desk, ctx))?;
    accepted(stored.record.label.id, payload, accepts, ctx)?;
    let parts = parts(payload, desk)?;
    // The ledger says whether it is in time and nobody else's: before anything is here that would have to go again.
    let fence = grasp.claim(desk)?;
    let taken = settle(&parts, stored, desk, ctx);
    if taken.is_err() {
        grasp.give_back(fence, desk);
    }
    taken
}

/// Whether what was done so far is here: a package brings no commits, git does.
fn can_go_on(whole: &AdoptedBatch, desk: &mut Project, ctx: &Context) -> Result<(), Failure> {
    if !whole.is_whole() {
        let text = "the batch in the package does not fit together";
        return Err(Failure::new(ExitCode::Damaged, text));
    }
    let clock = ctx.clock()?;
    let workshop = desk.workshop(ctx, &*clock)?;
    let is_here = |commit: &CommitId| {
        let found = workshop
            .git
            .commit_named(workshop.repository, commit.as_str());
        matches!(found, Ok(Some(_)))
    };
    let missing: Vec<_> = { whole.commits() }
        .into_iter()
        .filter(|it| !is_here(it))
        .collect();
    if missing.is_empty() {
        return Ok(());
    }
    let text = "commits that the batch goes on from are not in this repository";
    let mut failure = Failure::new(ExitCode::NotFound, text);
    failure.causes = missing.iter().map(ToString::to_string).collect();
    Err(failure
        .hint("fetch the branch that it began on, and its own: `git fetch REMOTE '+refs/heads/handoff/*:refs/heads/handoff/*'`"))
}

fn accepted(id: PackageId, payload: &Payload, accepts: bool, ctx: &Context) -> Result<(), Failure> {
    let commands = payload.commands();
    if commands.is_empty() {
        return Ok(());
    }
    if accepts {
        return require_person(Action::Trust, &ctx.ambient);
    }
    let text = "the package brings commands that would be run here to prove the work";
    let mut failure = Failure::new(ExitCode::Forbidden, text);
    failure.causes = commands.iter().map(|it| format!("`{it}`")).collect();
    Err(failure.hint(format!(
        "read them; a person accepts them: `handoff resume {id} --accept-commands`"
    )))
}

/// The packages of the parts of a batch, which are attached to its own. Each must be worth as much as any that is received.
fn parts(payload: &Payload, desk: &mut Project) -> Result<Vec<Unpacked>, Failure> {
    let names: BTreeSet<_> = { payload.batch.iter() }
        .flat_map(|batch| {
            let ended = batch.whole.iter().flat_map(AdoptedBatch::packages);
            batch.parts.iter().map(|it| it.package).chain(ended)
        })
        .map(BatchState::attachment)
        .collect();
    let mut depot = desk.depot();
    let mut found = vec![];
    for attachment in &payload.attachments {
        if !names.contains(attachment.name.as_str()) {
            continue;
        }
        let part = unpacked(attachment, &mut depot)?;
        if part.opened.package.is_foreign() {
            let text = format!(
                "`{}` in it comes from a file without a seal: nobody vouches for it",
                attachment.name
            );
            return Err(Failure::new(ExitCode::Forbidden, text));
        }
        let signer = &part.opened.signer;
        match depot.keyring().standing(signer)? {
            KeyStanding::Own | KeyStanding::Trusted(_) => found.push(part),
            KeyStanding::Revoked | KeyStanding::Unknown => {
                let text = format!(
                    "`{}` in it is signed by {}, which nobody trusts here",
                    attachment.name,
                    signer.id()
                );
                return Err(Failure::new(ExitCode::Forbidden, text)
                    .hint("a person can trust a key: `handoff keys trust`"));
            }
        }
    }
    Ok(found)
}

fn unpacked(
    attachment: &Attachment,
    depot: &mut handoff_engine::Depot<'_>,
) -> Result<Unpacked, Failure> {
    let damaged = || {
        let text = format!("`{}` in the package cannot be read", attachment.name);
        Failure::new(ExitCode::Damaged, text)
    };
    let mut blobs = depot.blobs();
    let mut bytes = vec![];
    let content = Content::new(&mut *blobs, attachment.clone());
    let read = content.take(LIMIT as u64).read_to_end(&mut bytes);
    read.map_err(|error| damaged().because(&error))?;
    read_package(&mut bytes.as_slice()).map_err(|error| damaged().because(&error))
}

/// Writes it down: the packages of its parts first, so that whatever the ledger names is there.
fn settle(
    parts: &[Unpacked],
    stored: &Stored,
    desk: &mut Project,
    ctx: &Context,
) -> Result<(), Failure> {
    for part in parts {
        let key = format!("import/{}", part.opened.package.label.id);
        let key: handoff_core::IdempotencyKey = key.parse().expect("an id makes a key");
        let (key, caller) = (key.in_project(desk.id), desk.caller.clone());
        desk.depot()
            .adopt(&part.opened, &part.bytes, &caller, &key)?;
    }
    let id = stored.record.label.id;
    let Some(change) = change(stored, desk) else {
        return Ok(());
    };
    let key = format!("adopt/{id}").parse().ok();
    let answer = desk.submit(change, key)?.receipt.answer;
    match (answer.clone().into_task(), answer.into_batch()) {
        (Some(task), _) => {
            let scene = baton::Scene::of(&desk.repository, ctx);
            baton::write(desk, &task, scene.survey(), ctx);
        }
        (None, Some(batch)) => baton::write_batch(desk, &batch, ctx),
        (None, None) => {}
    }
    Ok(())
}

fn change(stored: &Stored, desk: &Project) -> Option<Change> {
    let (label, payload) = (&stored.record.label, &stored.opened.package.payload);
    let (package, project) = (label.id, desk.id);
    let batch = payload.batch.as_ref();
    if let Some((batch, whole)) = batch.and_then(|it| Some((it, it.whole.clone()?))) {
        return Some(Change::AdoptBatch(ArrivingBatch {
            id: batch.id.adopted(package),
            project,
            batch: Box::new(whole),
            package,
        }));
    }
    Some(Change::AdoptTask(ArrivingTask {
        id: label.task?.adopted(package),
        project,
        task: Box::new(payload.task.clone()?),
    }))
}
