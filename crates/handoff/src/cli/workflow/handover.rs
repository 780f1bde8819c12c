//! A run is paused with a package, and goes on from it: here, or in another clone with another store.
//!
//! A package brings the run with its workflow and its proofs, but no commits: those come by git. And nothing that stands in it is run:
//! the workflow must be the one that is trusted here, word for word.

use handoff_api::{ExitCode, RunDocument};
use handoff_core::context::{Author, Entry};
use handoff_core::package::{Origin, PackageKind, PackageState};
use handoff_core::run::{Run, RunCommand, RunState};
use handoff_core::{
    Action, ContextScope, IdempotencyKey, JsonText, PackageId, PackageRecord, RunId, Task, TaskId,
};
use handoff_engine::depot::Stored;
use handoff_engine::{PauseNote, phase};
use handoff_operations::project::Recorded;
use handoff_operations::{Failure, Project, fresh_key};
use handoff_package::payload::PausedRun;
use handoff_store::queue::{Change, RunRef};
use handoff_store::{StoreError, read, runs, tasks};

use super::ending::AtWork;
use super::source::Source;
use super::status;
use super::steer::RunArgs;
use crate::cli::package::draft::{DraftArgs, Material};
use crate::cli::package::fresh_id;
use crate::cli::package::grasp::Grasp;
use crate::cli::package::receive::{self, PolicyArg};
use crate::cli::package::scrub::{self, Secrets};
use crate::cli::package::tree_look::TreeLook;
use crate::cli::pause::{begin, settle, unreceived, withdraw};
use crate::context::Context;

/// Stops a run, and seals where it stands.
pub(super) fn pause(args: &RunArgs, ctx: &mut Context) -> Result<ExitCode, Failure> {
    let mut desk = Project::open(ctx)?;
    desk.undo_broken_pauses();
    let run = desk.run(&args.run)?;
    let note = PauseNote {
        run: Some(run.id),
        ..PauseNote::of(fresh_id())
    };
    let at_work = AtWork::of(&run, &mut desk)?;
    let pausing = begin(&note, &run.id, &desk)?;
    let paused = tell(run.id, RunCommand::Pause, args.key.key.clone(), &mut desk);
    let (run, recorded) = match paused {
        Ok(paused) => paused,
        Err(failure) => {
            // Nothing was done, so that nothing has to be undone.
            pausing.end().ok();
            return Err(failure);
        }
    };
    at_work.end(&mut desk, ctx)?;
    let sealed = seal(&run, note.package, &recorded, &mut desk, ctx);
    let record = settle(pausing, &note, sealed, &mut desk)?;
    let package = record.label.id;
    let document = RunDocument {
        package: Some(package.to_string()),
        ..status::document(&run, ctx)?
    };
    let shown = status::tell(&document, ctx).and_then(|code| {
        ctx.out.note(format!(
            "It goes on with `handoff workflow resume {package}`, also in another clone."
        ))?;
        Ok(code)
    });
    shown.map_err(|failure| recorded.untold(failure))
}

fn tell(
    id: RunId,
    command: RunCommand,
    key: Option<IdempotencyKey>,
    desk: &mut Project,
) -> Result<(Run, Recorded), Failure> {
    let run = RunRef::Id(id);
    let recorded = desk.submit(Change::Run { run, command }, key)?;
    let run = recorded.receipt.answer.clone().into_run();
    let run = run.ok_or_else(|| Failure::new(ExitCode::Internal, "the answer is not a run"))?;
    Ok((run, recorded))
}

/// The task that a run had when it was paused: its package is found by it.
fn last_task(run: &Run) -> TaskId {
    Run::task_id(run.id, run.tasks)
}

fn seal(
    run: &Run,
    id: PackageId,
    recorded: &Recorded,
    desk: &mut Project,
    ctx: &Context,
) -> Result<PackageRecord, Failure> {
    if recorded.receipt.is_repeat {
        if let Some(earlier) = unreceived(last_task(run), desk)?.pop() {
            return Ok(earlier);
        }
        let now = read(&mut *desk.store, |tx| runs::get(tx, run.id))?;
        if !matches!(now.state, RunState::Paused { .. }) {
            let text = format!(
                "it was paused by this key and is {} since",
                now.state.word()
            );
            return Err(Failure::new(ExitCode::Conflict, text)
                .hint("to pause it again, use another key, or none"));
        }
    }
    let clock = ctx.clock()?;
    let list = phase::test_list(&desk.workshop(ctx, &*clock)?, run)?;
    let paused = PausedRun::of(run, list.and_then(|it| it.parse().ok()));
    let paused = paused.ok_or_else(|| Failure::failed("the workflow of the run is too long"))?;
    let draft = DraftArgs::resuming_run(&paused);
    let tree = TreeLook::begin(&desk.repository, ctx)?;
    let (kind, scope) = ((id, PackageKind::Pause), ContextScope::Run(run.id));
    let task = read(&mut *desk.store, |tx| tasks::get(tx, last_task(run)))?;
    let material = Material {
        more: results(run, desk)?,
        task: Some(task),
        run: Some(paused),
        ..Material::of(kind, scope, tree, ctx.config()?.package)
    };
    // Nobody is asked what a session handed over: what looks like a secret in it gets a mark.
    let (package, _) = scrub::clean(draft.package(material, desk)?, Secrets::Redact)?;
    let key = fresh_key().in_project(desk.id);
    let caller = desk.caller.clone();
    Ok(desk.depot().keep(&package, Origin::Made, &caller, &key)?)
}

/// What the sessions of proved phases handed over, as entries of the run's context.
fn results(run: &Run, desk: &mut Project) -> Result<Vec<Entry>, Failure> {
    let mut entries = vec![];
    for step in &run.steps {
        let is_last = run.last(&step.phase).is_some_and(|it| it.task == step.task);
        if !is_last {
            continue;
        }
        let found = read(&mut *desk.store, |tx| tasks::get(tx, step.task));
        let task: Task = match found {
            // It was worked on in another store, and is in the context already.
            Err(StoreError::NotFound { .. }) => continue,
            found => found?,
        };
        let at = task.created_at;
        let result = task.report.and_then(|it| it.result);
        let value = result.and_then(|it| JsonText::parse(&it.to_string()).ok());
        let author: Option<Author> = step.task.to_string().parse().ok();
        entries.extend(value.zip(author).map(|(value, author)| Entry {
            key: phase::result_key(&step.phase),
            value,
            source: "handoff".parse().ok(),
            tags: vec![],
            author,
            at,
        }));
    }
    Ok(entries)
}

/// The run that a name, an id or a package means. One that is not known here is taken over.
pub(super) fn find(
    text: &str,
    policy: PolicyArg,
    desk: &mut Project,
    ctx: &Context,
) -> Result<Run, Failure> {
    let is_package = text.starts_with(PackageId::PREFIX);
    match text.parse() {
        Ok(package) if is_package => from_package(package, policy, desk, ctx),
        Ok(_) | Err(_) => desk.run(text),
    }
}

fn from_package(
    id: PackageId,
    policy: PolicyArg,
    desk: &mut Project,
    ctx: &Context,
) -> Result<Run, Failure> {
    desk.caller.may(Action::Steer).map_err(StoreError::from)?;
    let stored = desk.depot().find(id)?;
    let paused = stored.opened.package.payload.run.clone();
    let paused = paused.ok_or_else(|| {
        Failure::usage(format!("{id} does not come from a run")).hint(format!(
            "go on with what it comes from: `handoff resume {id}`"
        ))
    })?;
    let grasp = Grasp::take(id, desk)?;
    let known = match known(paused.id, desk)? {
        Some(run) => Some(run),
        None => known(adopted_id(id), desk)?,
    };
    if known.is_none() {
        may_go_on(&paused, desk, ctx)?;
    }
    let run = known.as_ref().map_or_else(|| adopted_id(id), |run| run.id);
    if !was_received(&stored, run) {
        let asked = receive::Args::into_run(id, run, policy);
        receive::receive(&asked, &grasp, desk, ctx)?;
    }
    match known {
        Some(run) => Ok(run),
        None => adopt(id, &paused, desk),
    }
}

/// What a run is called in a store that takes it over. Its tasks are counted anew there and named after it: under the old id
/// they would be taken for those that were worked on elsewhere. Whoever repeats it finds the same one.
const fn adopted_id(package: PackageId) -> RunId {
    RunId::from_uuid(*package.as_uuid())
}

fn known(id: RunId, desk: &mut Project) -> Result<Option<Run>, Failure> {
    match read(&mut *desk.store, |tx| runs::get(tx, id)) {
        Err(StoreError::NotFound { .. }) => Ok(None),
        found => Ok(Some(found?)),
    }
}

/// Whether somebody received it for this run who did not live to go on.
fn was_received(stored: &Stored, run: RunId) -> bool {
    match &stored.record.state {
        PackageState::Consumed { receipt, .. } => receipt.into == ContextScope::Run(run),
        PackageState::Created
        | PackageState::Claimed { .. }
        | PackageState::Transferred { .. }
        | PackageState::Cancelled { .. }
        | PackageState::Expired { .. } => false,
    }
}

/// Whether a run that was begun elsewhere can go on here: looked at before anything is received.
fn may_go_on(paused: &PausedRun, desk: &mut Project, ctx: &Context) -> Result<(), Failure> {
    let adopted = paused.adopted().map_err(|error| unreadable(&error))?;
    let name = &adopted.spec.workflow.name;
    let source = Source::named(name, ctx)?;
    if source.workflow()? != adopted.spec.workflow || !source.is_trusted(ctx)? {
        let text =
            format!("the run follows another workflow `{name}` than the one that is trusted here");
        return Err(Failure::new(ExitCode::Forbidden, text).hint(format!(
            "bring its definition here, read it: `handoff workflow show {name}`, then `handoff workflow trust {name}`"
        )));
    }
    let (project, run) = (desk.id, &paused.name);
    let namesake = read(&mut *desk.store, |tx| runs::named(tx, project, run));
    if namesake.is_ok_and(|it| it.state.is_live()) {
        let text = format!("there is another run `{run}` here, which has not ended");
        return Err(Failure::new(ExitCode::Conflict, text)
            .hint(format!("end it first: `handoff workflow cancel {run}`")));
    }
    let clock = ctx.clock()?;
    let workshop = desk.workshop(ctx, &*clock)?;
    let head = paused.head();
    let found = workshop
        .git
        .commit_named(workshop.repository, head.as_str());
    if !matches!(found, Ok(Some(_))) {
        let text = format!("commit {head}, from which the run goes on, is not in this repository");
        return Err(Failure::new(ExitCode::NotFound, text).hint(format!(
            "fetch its branch first: `git fetch REMOTE handoff/{}`",
            paused.name
        )));
    }
    Ok(())
}

fn unreadable(error: &serde_json::Error) -> Failure {
    Failure::new(
        ExitCode::Damaged,
        "the workflow in the package cannot be read",
    )
    .because(error)
}

fn adopt(package: PackageId, paused: &PausedRun, desk: &mut Project) -> Result<Run, Failure> {
    let change = Change::AdoptRun {
        id: adopted_id(package),
        project: desk.id,
        run: Box::new(paused.adopted().map_err(|error| unreadable(&error))?),
    };
    let key = format!("adopt/{package}").parse().ok();
    let recorded = desk.submit(change, key)?;
    let run = recorded.receipt.answer.into_run();
    run.ok_or_else(|| Failure::new(ExitCode::Internal, "the answer is not a run"))
}

/// Lets a paused run go on. What it was paused with and nobody received is not true any more.
pub(super) fn go_on(
    run: Run,
    key: Option<IdempotencyKey>,
    desk: &mut Project,
) -> Result<Run, Failure> {
    if !matches!(run.state, RunState::Paused { .. }) {
        return Ok(run);
    }
    let left = unreceived(last_task(&run), desk)?;
    let (run, _) = tell(run.id, RunCommand::Resume, key, desk)?;
    withdraw(&left, "it went on without it", desk);
    Ok(run)
}
