//! Changing a package: its row and its events, in one transaction; and receiving one, with the context that takes it in.

use std::collections::BTreeMap;

use handoff_core::caller::Action;
use handoff_core::context::{Restoration, restore};
use handoff_core::lease::Ttl;
use handoff_core::package::{
    KeyId, PackageCommand, PackageRefusal, PackageState, Receipt, Recipient,
};
use handoff_core::{Caller, Event, HoldScope, PackageEvent, PackageId, PackageRecord, StreamId};

use super::change::{PauseOf, Receiving};
use super::{Answer, Performed, context, departure};
use crate::error::StoreError;
use crate::events::{self, Entry, Keyed};
use crate::store::Transaction;
use crate::{contexts, holds, packages, tasks};

pub(super) fn seal(
    tx: &mut Transaction<'_>,
    package: &PackageRecord,
    (sealed, pausing): (Option<&str>, Option<PauseOf>),
    by: &Caller,
    keyed: &Keyed<'_>,
) -> Result<Performed, StoreError> {
    by.may(Action::Receive)?;
    still_paused(tx, package.label.id, pausing)?;
    packages::keep_time(tx)?;
    packages::insert(tx, package, sealed)?;
    let created = PackageEvent::Created {
        label: Box::new(package.label.clone()),
        digest: package.digest.clone(),
        origin: package.origin,
    };
    append(tx, package, vec![created], by, Some(keyed))?;
    Ok(performed(package.clone()))
}

/// Refuses to seal a pause of something that was handed out again since: whoever took that long was taken for dead, or a person
/// has decided otherwise.
fn still_paused(
    tx: &mut Transaction<'_>,
    id: PackageId,
    pausing: Option<PauseOf>,
) -> Result<(), StoreError> {
    let held = match pausing {
        None => return Ok(()),
        Some(PauseOf::Task(task)) => tasks::lock(tx, task)?.hold,
        Some(PauseOf::Batch(batch)) => holds::load(tx, HoldScope::Batch(batch))?.hold,
    };
    if held.is_some_and(|hold| hold.keeps_for(id)) {
        return Ok(());
    }
    let refusal = PackageRefusal::NotPaused;
    Err(StoreError::PackageRefused { id, refusal })
}

pub(super) fn change(
    tx: &mut Transaction<'_>,
    id: PackageId,
    command: &PackageCommand,
    by: &Caller,
    keyed: &Keyed<'_>,
) -> Result<Performed, StoreError> {
    let wall = packages::keep_time(tx)?;
    let package = packages::lock(tx, id)?;
    if matches!(command, PackageCommand::Claim { .. })
        && let Some(expired) = package.expiry(wall, &tx.now)
    {
        by.may(Action::Receive)?;
        // What was refused because of its age stays refused: the refusal is recorded, and so it is an answer.
        return record(tx, package, vec![expired], by, Some(keyed));
    }
    let events = package.decide(command, by, wall, &tx.now);
    let events = events.map_err(refused(id))?;
    let performed = record(tx, package, events, by, Some(keyed))?;
    if let PackageCommand::Transfer { to, .. } = command {
        departure::of(tx, id, to, by)?;
    }
    Ok(performed)
}

/// Another store decides about a package from now on that went there inside another one.
pub(super) fn give_away(
    tx: &mut Transaction<'_>,
    id: PackageId,
    to: &Recipient,
    by: &Caller,
) -> Result<(), StoreError> {
    let package = packages::lock(tx, id)?;
    if package.state != PackageState::Created {
        return Ok(());
    }
    let to = to.clone();
    record(
        tx,
        package,
        vec![PackageEvent::Transferred { to }],
        by,
        None,
    )
    .map(drop)
}

pub(super) fn receive(
    tx: &mut Transaction<'_>,
    receiving: &Receiving,
    by: &Caller,
    keyed: &Keyed<'_>,
) -> Result<Performed, StoreError> {
    by.may(Action::Receive)?;
    let (id, into, policy) = (receiving.id, receiving.into, receiving.policy);
    context::may_write(by, into)?;
    let wall = packages::keep_time(tx)?;
    let package = packages::lock(tx, id)?;
    // Whoever writes into this context waits until we are done.
    contexts::lock(tx, receiving.project, into)?;
    let restoration = restoration(tx, receiving)?;
    let receipt = Receipt {
        by: by.clone(),
        into,
        policy,
        report: restoration.report.clone(),
        machine: package.claimant().cloned(),
    };
    let events = package.consume(receiving.fence, receipt, wall, &tx.now);
    let events = events.map_err(refused(id))?;
    context::take_in(tx, receiving.project, into, id, restoration, by)?;
    record(tx, package, events, by, Some(keyed))
}

/// What a package would change in the context that it is received into.
fn restoration(tx: &mut Transaction<'_>, receiving: &Receiving) -> Result<Restoration, StoreError> {
    let (into, policy) = (receiving.into, receiving.policy);
    let there = contexts::matching(tx, into, None)?;
    let there: BTreeMap<_, _> = there.into_iter().map(|(key, (_, it))| (key, it)).collect();
    restore(&there, &receiving.entries, policy).map_err(context::refused(into))
}

/// Refuses what could not be claimed and received by this machine now. Looks only: whoever receives several packages in one act
/// asks this of each before the first is claimed. The claim in `receiving` is not looked at.
pub fn would_receive(
    tx: &mut Transaction<'_>,
    receiving: &Receiving,
    machine: &KeyId,
    by: &Caller,
) -> Result<(), StoreError> {
    let id = receiving.id;
    let (wall, now) = (packages::clock(tx)?, tx.now.clone());
    let package = packages::get(tx, id)?;
    if package.expiry(wall, &now).is_some() {
        let at = package.label.expires_at;
        return Err(refused(id)(PackageRefusal::Expired { at }));
    }
    let claim = PackageCommand::Claim {
        ttl: Ttl::default(),
        machine: Some(machine.clone()),
    };
    let claimed = package.decide(&claim, by, wall, &now);
    claimed.map_err(refused(id))?;
    context::may_write(by, receiving.into)?;
    restoration(tx, receiving).map(drop)
}

fn refused(id: PackageId) -> impl Fn(PackageRefusal) -> StoreError {
    move |refusal| match refusal {
        PackageRefusal::Forbidden(forbidden) => StoreError::Forbidden(forbidden),
        PackageRefusal::Claimed { .. }
        | PackageRefusal::Consumed { .. }
        | PackageRefusal::Transferred { .. }
        | PackageRefusal::Cancelled { .. }
        | PackageRefusal::Expired { .. }
        | PackageRefusal::FromTheFuture { .. }
        | PackageRefusal::ClaimLost { .. }
        | PackageRefusal::NotPaused
        | PackageRefusal::NotClaimed => StoreError::PackageRefused { id, refusal },
    }
}

/// Writes events and row, if there is anything to write.
pub(super) fn record(
    tx: &mut Transaction<'_>,
    mut package: PackageRecord,
    events: Vec<PackageEvent>,
    by: &Caller,
    keyed: Option<&Keyed<'_>>,
) -> Result<Performed, StoreError> {
    if events.is_empty() {
        return Ok(Performed::unrecorded(Answer::Package(Box::new(package))));
    }
    let from = package.version;
    for event in &events {
        package.apply(event.clone(), tx.now.wall);
    }
    packages::update(tx, &package, from)?;
    append(tx, &package, events, by, keyed)?;
    Ok(performed(package))
}

fn performed(package: PackageRecord) -> Performed {
    Performed {
        answer: Answer::Package(Box::new(package)),
        is_recorded: true,
    }
}

/// Appends the events that led to the package's version. The key goes with the last one.
fn append(
    tx: &mut Transaction<'_>,
    package: &PackageRecord,
    events: Vec<PackageEvent>,
    by: &Caller,
    keyed: Option<&Keyed<'_>>,
) -> Result<(), StoreError> {
    let first = package.version + 1 - events.len() as u64;
    let entries: Vec<_> = (first..)
        .zip(events)
        .map(|(seq, event)| Entry {
            stream: StreamId::Package(package.label.id),
            seq,
            project: Some(package.project),
            by,
            keyed: keyed.filter(|_| seq == package.version),
            event: Event::Package(event),
        })
        .collect();
    let act = events::appending(tx, &entries)?;
    tx.execute_all(&[act]).map(drop)
}
