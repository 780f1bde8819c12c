//! Every change to the ledger goes through [`submit`]: one request, one transaction, one result.
//!
//! A request carries its caller and an idempotency key. The key is kept with the event it caused, so a repeated request
//! finds that event and answers with the state right after it, whatever has happened since. The way that
//! succeeds never looks the key up: a repeat runs into the unique key, or into a refusal, and only then looks.

mod adoption;
mod batch;
mod change;
mod claim;
mod clock;
mod context;
mod departure;
mod fan_out;
mod feature;
mod package;
mod record;
mod rehearsal;
mod repository;
mod restoration;
mod run;

pub use change::{
    Agents, Answer, ArrivingBatch, ArrivingTask, BatchRef, Change, PauseOf, Proved, Receipt,
    Receiving, Request, RunRef, TaskRef, TenureWish,
};

pub use clock::set_clock_right;
pub use package::would_receive;
pub use rehearsal::rehearse;
pub use restoration::{Beginning, Voided, begin_again};

use handoff_core::caller::Action;
use handoff_core::hold::{HoldScope, HoldWish};
use handoff_core::task::Command;
use handoff_core::{
    BatchEvent, Caller, Confinement, ContextEvent, Event, FeatureEvent, Now, PackageEvent,
    ProjectId, RepositoryEvent, RunEvent, StreamId, Task, TaskEvent, TaskId,
};

use self::batch::Wanted;
use crate::error::StoreError;
use crate::events::{self, Entry, Keyed};
use crate::holds;
use crate::sql::{SqlError, SqlErrorKind};
use crate::store::{Store, StoreKind, Transaction, read, write};
use crate::tasks;

/// Carries out a request, or finds that it was carried out before.
pub fn submit(store: &mut dyn Store, request: &Request) -> Result<Receipt, StoreError> {
    let digest = request.change.digest()?;
    let keyed = Keyed {
        key: &request.key,
        digest: &digest,
    };
    let is_server = store.info().kind == StoreKind::Postgres;
    let (mut patience, mut unknown) = (RETRIES, None);
    loop {
        match attempt(store, request, &keyed) {
            Err(error) if patience > 0 && is_worth_another_try(&error) => patience -= 1,
            // The key tells what came of it, as soon as the server answers again.
            Err(error @ StoreError::OutcomeUnknown { .. }) if is_server && patience > 0 => {
                unknown = Some(error);
                patience -= 1;
            }
            Err(error) => return Err(unknown.filter(|_| !is_decided(&error)).unwrap_or(error)),
            Ok(receipt) => return Ok(receipt),
        }
    }
}

/// Whether an error is an answer to the request: then it has changed nothing, whatever was unknown before.
fn is_decided(error: &StoreError) -> bool {
    !matches!(
        error,
        StoreError::OutcomeUnknown { .. }
            | StoreError::Unavailable { .. }
            | StoreError::NoSpace { .. }
            | StoreError::Damaged { .. }
            | StoreError::Inconsistent(_)
    )
}

/// How often a request that lost a race is tried again.
const RETRIES: u32 = 5;

fn attempt(
    store: &mut dyn Store,
    request: &Request,
    keyed: &Keyed<'_>,
) -> Result<Receipt, StoreError> {
    let performed = write(store, |tx| {
        let performed = perform(tx, request, keyed)?;
        Ok((performed, tx.now.clone()))
    });
    let receipt = |answer, now, is_repeat| Receipt {
        answer,
        now,
        is_repeat,
    };
    match performed {
        Ok((done, now)) if done.is_recorded => Ok(receipt(done.answer, now, false)),
        Ok((done, now)) => match repeated(store, keyed)? {
            Some((answer, now)) => Ok(receipt(answer, now, true)),
            None => Ok(receipt(done.answer, now, false)),
        },
        Err(error) if may_be_repeat(&error) => match repeated(store, keyed)? {
            Some((answer, now)) => Ok(receipt(answer, now, true)),
            None => {
                let named = read(store, |tx| name_taken(tx, &request.change, &error))?;
                Err(named.unwrap_or(error))
            }
        },
        Err(error) => Err(error),
    }
}

/// What came of a request, and whether anything was recorded under its key.
struct Performed {
    answer: Answer,
    is_recorded: bool,
}

impl Performed {
    /// It was so already, or there was nothing to do.
    fn unrecorded(answer: Answer) -> Self {
        Self {
            answer,
            is_recorded: false,
        }
    }
}

fn perform(
    tx: &mut Transaction<'_>,
    request: &Request,
    keyed: &Keyed<'_>,
) -> Result<Performed, StoreError> {
    let by = &request.by;
    match &request.change {
        Change::Add { id, project, spec } => {
            by.may(Action::Add)?;
            if spec.sandbox == Some(Confinement::None) {
                by.may(Action::LeaveSandbox)?;
            }
            let task = Task::begin(*id, *project, spec.clone(), tx.now.wall);
            record::add(tx, task, by, keyed)
        }
        Change::ClaimNext {
            project,
            tenure,
            agents,
        } => {
            by.may(Action::Claim)?;
            claim::next(tx, &claim::Line::of(*project, agents), tenure, by, keyed)
        }
        Change::Claim { task, tenure } => {
            by.may(Action::Claim)?;
            claim::this(tx, task, tenure, by, keyed)
        }
        Change::Tell { task, command } => tell(tx, task, command, by, keyed),
        Change::Hold { scope, reason } => hold(
            tx,
            *scope,
            &HoldWish::Hold(reason.as_ref()),
            by,
            Some(keyed),
        ),
        Change::Unhold { scope } => unhold(tx, *scope, by, keyed),
        Change::Pause { scope, package } => {
            hold(tx, *scope, &HoldWish::paused(*package), by, Some(keyed))
        }
        Change::Unpause { scope, package } => {
            hold(tx, *scope, &HoldWish::Unpause(*package), by, Some(keyed))
        }
        Change::Record {
            id,
            project,
            name,
            event,
        } => {
            let named = feature::Named {
                id: *id,
                project: *project,
                name,
            };
            feature::record(tx, &named, event, by, keyed)
        }
        Change::Context {
            project,
            scope,
            command,
        } => context::change(tx, *project, *scope, command, by, keyed),
        Change::Seal {
            package,
            sealed,
            pausing,
            ..
        } => package::seal(tx, package, (sealed.as_deref(), *pausing), by, keyed),
        Change::Package { id, command } => package::change(tx, *id, command, by, keyed),
        Change::Receive(receiving) => package::receive(tx, receiving, by, keyed),
        Change::OpenBatch {
            opening,
            project,
            manifest,
        } => batch::open(tx, &Wanted::of(*project, manifest, opening), by, keyed),
        Change::Batch { batch, command } => batch::tell(tx, batch, command, by, keyed),
        Change::BeginRun { id, project, spec } => run::begin(tx, *id, *project, spec, by, keyed),
        Change::AdoptRun { id, project, run } => run::adopt(tx, *id, *project, run, by, keyed),
        Change::AdoptTask(arriving) => adoption::task(tx, arriving, by, keyed),
        Change::AdoptBatch(arriving) => adoption::batch(tx, arriving, by, keyed),
        Change::Run { run, command } => run::tell(tx, run, command, by, keyed),
        Change::SetBaseline(proved) => repository::set_baseline(tx, proved, by, keyed),
        Change::NoteMove { project, moved } => {
            repository::note_move(tx, *project, moved, by, keyed)
        }
    }
}

fn tell(
    tx: &mut Transaction<'_>,
    task: &TaskRef,
    command: &Command,
    by: &Caller,
    keyed: &Keyed<'_>,
) -> Result<Performed, StoreError> {
    let id = resolve(tx, task)?;
    let mut task = tasks::lock(tx, id)?;
    let is_recorded = command_task(tx, &mut task, command, by, Some(keyed))?;
    let answer = Answer::Task(Box::new(task));
    Ok(Performed {
        answer,
        is_recorded,
    })
}

/// Decides a command and records what follows from it. Says whether anything does.
fn command_task(
    tx: &mut Transaction<'_>,
    task: &mut Task,
    command: &Command,
    by: &Caller,
    keyed: Option<&Keyed<'_>>,
) -> Result<bool, StoreError> {
    let events = task
        .decide(command, by, &tx.now)
        .map_err(|refusal| StoreError::Refused {
            name: task.spec.name.clone(),
            refusal,
        })?;
    record::change(tx, task, events, by, keyed)
}

fn resolve(tx: &mut Transaction<'_>, task: &TaskRef) -> Result<TaskId, StoreError> {
    match task {
        TaskRef::Id(id) => Ok(*id),
        TaskRef::Named { project, name } => tasks::named(tx, *project, name).map(|task| task.id),
    }
}

fn hold(
    tx: &mut Transaction<'_>,
    scope: HoldScope,
    wish: &HoldWish<'_>,
    by: &Caller,
    keyed: Option<&Keyed<'_>>,
) -> Result<Performed, StoreError> {
    by.may(Action::Hold)?;
    let mut held = holds::load(tx, scope)?;
    let Some(event) = wish.decide(held.hold.as_ref(), by, tx.now.wall) else {
        let hold = held.hold;
        return Ok(Performed::unrecorded(Answer::Hold { scope, hold }));
    };
    held.version += 1;
    held.hold = event.clone().in_force();
    holds::save(tx, scope, &held)?;
    let entry = Entry {
        stream: StreamId::Hold(scope),
        seq: held.version,
        project: project_of(scope),
        by,
        keyed,
        event: Event::Hold(event),
    };
    events::append(tx, &entry)?;
    let answer = Answer::Hold {
        scope,
        hold: held.hold,
    };
    Ok(Performed {
        answer,
        is_recorded: true,
    })
}

/// Takes a hold away. What the pause of a batch holds in its parts goes with it: nobody could let all of it go on otherwise, if
/// its package is out of time.
fn unhold(
    tx: &mut Transaction<'_>,
    scope: HoldScope,
    by: &Caller,
    keyed: &Keyed<'_>,
) -> Result<Performed, StoreError> {
    if let HoldScope::Batch(id) = scope {
        for mut member in batch::lock_tasks(tx, id)? {
            let held = member.hold.as_ref().filter(|it| it.whole.is_some());
            if let Some(package) = held.and_then(|it| it.pause) {
                command_task(tx, &mut member, &Command::Unpause { package }, by, None)?;
            }
        }
    }
    hold(tx, scope, &HoldWish::Unhold, by, Some(keyed))
}

fn project_of(scope: HoldScope) -> Option<ProjectId> {
    match scope {
        HoldScope::Project(project) => Some(project),
        HoldScope::Everything | HoldScope::Batch(_) => None,
    }
}

/// Whether an error may come from the request having been carried out before.
fn may_be_repeat(error: &StoreError) -> bool {
    matches!(
        error,
        StoreError::Refused { .. }
            | StoreError::PackageRefused { .. }
            | StoreError::ContextRefused { .. }
            | StoreError::BatchRefused { .. }
            | StoreError::RunRefused { .. }
            | StoreError::Held { .. }
            | StoreError::OwnershipTaken { .. }
    ) || is_taken(error)
}

/// Two first holds of one scope, a deadlock: whoever tries again finds the other's work done.
fn is_worth_another_try(error: &StoreError) -> bool {
    let is_race = |cause: &SqlError| matches!(cause.kind, SqlErrorKind::Taken | SqlErrorKind::Busy);
    matches!(error, StoreError::Unavailable { cause, .. } if is_race(cause))
}

fn is_taken(error: &StoreError) -> bool {
    matches!(error, StoreError::Unavailable { cause, .. } if cause.kind == SqlErrorKind::Taken)
}

/// The answer that a request with this key got.
fn repeated(store: &mut dyn Store, keyed: &Keyed<'_>) -> Result<Option<(Answer, Now)>, StoreError> {
    let answer = read(store, |tx| recorded_answer(tx, keyed))?;
    let Some(answer) = answer else {
        return Ok(None);
    };
    // Whoever recorded it may have been killed before it was durable. A commit of ours makes durable
    // all that was written before it.
    let now = write(store, |tx| {
        tx.execute("UPDATE meta SET value = value WHERE name = 'store_id'", &[])?;
        Ok(tx.now.clone())
    })?;
    Ok(Some((answer, now)))
}

fn recorded_answer(
    tx: &mut Transaction<'_>,
    keyed: &Keyed<'_>,
) -> Result<Option<Answer>, StoreError> {
    let Some(recorded) = events::recorded_under(tx, keyed.key)? else {
        return Ok(None);
    };
    if recorded.digest != keyed.digest {
        return Err(StoreError::KeyReused {
            key: keyed.key.clone(),
        });
    }
    let history = events::history(tx, recorded.stream, recorded.seq)?;
    record::answer(recorded.stream, history).map(Some)
}

/// Turns "some unique value is taken" into the name that is, where it is the name.
fn name_taken(
    tx: &mut Transaction<'_>,
    change: &Change,
    error: &StoreError,
) -> Result<Option<StoreError>, StoreError> {
    if !is_taken(error) {
        return Ok(None);
    }
    let (project, name) = match change {
        Change::Add { project, spec, .. } => (*project, spec.name.clone()),
        Change::Tell { task, .. } => {
            let id = resolve(tx, task)?;
            let task = tasks::get(tx, id)?;
            (task.project, task.spec.name)
        }
        Change::ClaimNext { .. }
        | Change::Claim { .. }
        | Change::Hold { .. }
        | Change::Unhold { .. }
        | Change::Pause { .. }
        | Change::Unpause { .. }
        | Change::Record { .. }
        | Change::Context { .. }
        | Change::Seal { .. }
        | Change::Package { .. }
        | Change::Batch { .. }
        | Change::Run { .. }
        | Change::SetBaseline(_)
        | Change::NoteMove { .. }
        | Change::Receive(_) => {
            return Ok(None);
        }
        Change::OpenBatch {
            opening,
            project,
            manifest,
        } => return batch::name_taken(tx, &Wanted::of(*project, manifest, opening)),
        Change::BeginRun { project, spec, .. } => {
            return run::name_taken(tx, *project, &spec.name);
        }
        Change::AdoptRun { project, run, .. } => {
            return run::name_taken(tx, *project, &run.spec.name);
        }
        Change::AdoptTask(arriving) => (arriving.project, arriving.task.spec.name.clone()),
        Change::AdoptBatch(arriving) => return adoption::names_taken(tx, arriving),
    };
    let holder = tasks::named(tx, project, &name)?;
    let is_live = holder.state.ending().is_none();
    let task = holder.id;
    Ok(is_live.then_some(StoreError::NameTaken { name, task }))
}

/// The events of one kind, as a replay wants them.
fn events_of<T>(
    history: Vec<handoff_core::Envelope>,
    pick: fn(Event) -> Option<T>,
) -> impl Iterator<Item = (u64, handoff_core::Timestamp, T)> {
    history
        .into_iter()
        .filter_map(move |it| Some((it.seq, it.at, pick(it.event)?)))
}

macro_rules! histories {
    ($($(#[$doc:meta])* $name:ident, $kind:ident, $event:ty;)*) => {$(
        $(#[$doc])*
        pub(crate) fn $name(
            history: Vec<handoff_core::Envelope>,
        ) -> impl Iterator<Item = (u64, handoff_core::Timestamp, $event)> {
            events_of(history, |event| if let Event::$kind(event) = event { Some(event) } else { None })
        }
    )*};
}

histories! {
    /// Those of a task.
    task_history, Task, TaskEvent;
    /// Those of a feature.
    feature_history, Feature, FeatureEvent;
    /// Those of a package.
    package_history, Package, PackageEvent;
    /// Those of a batch.
    batch_history, Batch, BatchEvent;
    /// Those of a run.
    run_history, Run, RunEvent;
}

/// Those of a context, which knows no time.
pub(crate) fn context_history(
    history: Vec<handoff_core::Envelope>,
) -> impl Iterator<Item = (u64, ContextEvent)> {
    let events = events_of(history, |event| {
        if let Event::Context(event) = event {
            Some(event)
        } else {
            None
        }
    });
    events.map(|(seq, _, event)| (seq, event))
}

/// The same of a repository.
pub(crate) fn repository_history(
    history: Vec<handoff_core::Envelope>,
) -> impl Iterator<Item = (u64, RepositoryEvent)> {
    let events = events_of(history, |event| {
        if let Event::Repository(event) = event {
            Some(event)
        } else {
            None
        }
    });
    events.map(|(seq, _, event)| (seq, event))
}
