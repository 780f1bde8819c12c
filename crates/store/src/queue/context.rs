//! Changing a context: the key's row, the sum's row and the event, in one transaction.

use handoff_core::caller::Action;
use handoff_core::context::{ContextCommand, ContextRefusal, Entry, Restoration};
use handoff_core::{Caller, ContextEvent, ContextScope, Event, PackageId, ProjectId, StreamId};

use super::{Answer, Performed};
use crate::contexts::{self, Sum};
use crate::error::StoreError;
use crate::events::{self, Entry as EventEntry, Keyed};
use crate::store::Transaction;

pub(super) fn change(
    tx: &mut Transaction<'_>,
    project: ProjectId,
    scope: ContextScope,
    command: &ContextCommand,
    by: &Caller,
    keyed: &Keyed<'_>,
) -> Result<Performed, StoreError> {
    may_write(by, scope)?;
    let mut sum = contexts::lock(tx, project, scope)?;
    let there = contexts::get(tx, scope, command.key())?;
    let decided = command.decide(there.as_ref(), sum.totals, by, &tx.now);
    let Some(event) = decided.map_err(refused(scope))? else {
        let version = there.map_or(sum.version, |(version, _)| version);
        let answer = Answer::Context {
            scope,
            version,
            event: None,
        };
        return Ok(Performed::unrecorded(answer));
    };
    sum.version += 1;
    let there = there.as_ref().map(|(_, entry)| entry);
    sum.totals = sum.totals.with(event.about(command.key()).flatten(), there);
    apply(tx, scope, sum, &event)?;
    append(
        tx,
        (project, scope),
        sum.version,
        event.clone(),
        by,
        Some(keyed),
    )?;
    let answer = Answer::Context {
        scope,
        version: sum.version,
        event: Some(event),
    };
    Ok(Performed {
        answer,
        is_recorded: true,
    })
}

/// Whether this caller may write into this context. A session writes into its own.
pub(super) fn may_write(by: &Caller, scope: ContextScope) -> Result<(), StoreError> {
    let own_session = match by {
        Caller::Session { session, .. } => Some(*session),
        Caller::Person | Caller::Worker | Caller::Reconciler | Caller::Check | Caller::Unknown => {
            None
        }
    };
    match scope {
        ContextScope::Task(task) => by.may(Action::Share(Some(task)))?,
        ContextScope::Session(session) if own_session == Some(session) => {}
        ContextScope::Session(_) | ContextScope::Project(_) | ContextScope::Run(_) => {
            by.may(Action::Share(None))?;
        }
    }
    Ok(())
}

pub(super) fn refused(scope: ContextScope) -> impl Fn(ContextRefusal) -> StoreError {
    move |refusal| StoreError::ContextRefused { scope, refusal }
}

/// Takes what was decided about a package's content into a context. Nothing to write is nothing recorded.
pub(super) fn take_in(
    tx: &mut Transaction<'_>,
    project: ProjectId,
    scope: ContextScope,
    package: PackageId,
    restoration: Restoration,
    by: &Caller,
) -> Result<(), StoreError> {
    let Restoration {
        written, removed, ..
    } = restoration;
    if written.is_empty() && removed.is_empty() {
        return Ok(());
    }
    let mut sum = contexts::lock(tx, project, scope)?;
    sum.version += 1;
    for entry in &written {
        let there = contexts::get(tx, scope, &entry.key)?;
        sum.totals = sum.totals.with(Some(entry), there.as_ref().map(|it| &it.1));
    }
    for key in &removed {
        let there = contexts::get(tx, scope, key)?;
        sum.totals = sum.totals.with(None, there.as_ref().map(|it| &it.1));
    }
    let event = ContextEvent::Restored {
        package,
        entries: written,
        removed,
    };
    apply(tx, scope, sum, &event)?;
    append(tx, (project, scope), sum.version, event, by, None)
}

fn apply(
    tx: &mut Transaction<'_>,
    scope: ContextScope,
    sum: Sum,
    event: &ContextEvent,
) -> Result<(), StoreError> {
    match event {
        ContextEvent::Set { entry } => contexts::write(tx, scope, sum.version, entry)?,
        ContextEvent::Removed { key } => contexts::remove(tx, scope, key)?,
        ContextEvent::Restored {
            entries, removed, ..
        } => {
            for key in removed {
                contexts::remove(tx, scope, key)?;
            }
            write_all(tx, scope, sum.version, entries)?;
        }
    }
    contexts::save(tx, scope, sum)
}

fn write_all(
    tx: &mut Transaction<'_>,
    scope: ContextScope,
    version: u64,
    entries: &[Entry],
) -> Result<(), StoreError> {
    entries
        .iter()
        .try_for_each(|entry| contexts::write(tx, scope, version, entry))
}

fn append(
    tx: &mut Transaction<'_>,
    (project, scope): (ProjectId, ContextScope),
    seq: u64,
    event: ContextEvent,
    by: &Caller,
    keyed: Option<&Keyed<'_>>,
) -> Result<(), StoreError> {
    let entry = EventEntry {
        stream: StreamId::Context(scope),
        seq,
        project: Some(project),
        by,
        keyed,
        event: Event::Context(event),
    };
    events::append(tx, &entry)
}
