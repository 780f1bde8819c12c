//! Packages whose bytes nobody needs any more, and attachments that no package names. The rows stay: they are the record.

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;
use std::time::{Duration, SystemTime};

use handoff_core::package::PackageState;
use handoff_core::{ContextScope, Digest, PackageId, PackageRecord, RunId, TaskId, Timestamp};
use handoff_store::{Transaction, blobs, packages, read, runs, tasks};

use super::clearing::{Found, What};
use super::verdict::{Kind, Limits, PackageFact, TaskFact, Verdict, crowd_out, of_package};
use super::whose::task_fact;
use crate::depot::Depot;
use crate::error::EngineError;
use crate::workshop::Workshop;

/// So many rows are read in one go.
const PAGE: u32 = 500;

/// What there is of packages and attachments, and what becomes of it.
#[derive(Debug, Default)]
pub struct Parcels {
    /// Those whose bytes are here.
    pub found: Vec<Found>,
    /// Files that the ledger does not know. They are left as they are.
    pub unknown: Vec<PathBuf>,
    /// How much of dead writers was swept away.
    pub leftovers: usize,
}

/// Looks at all packages of a project, and changes nothing.
pub fn survey_packages(
    workshop: &mut Workshop<'_>,
    limits: Limits,
) -> Result<Parcels, EngineError> {
    let judged = judged(workshop, limits)?;
    let (unknown, unnamed) = unnamed(workshop, &judged)?;
    let mut found = judged;
    found.extend(unnamed);
    Ok(Parcels {
        found,
        unknown,
        leftovers: 0,
    })
}

/// Clears away what may go, and says what it was. What somebody uses by now stays, with all that is attached to it.
pub fn clear_packages(workshop: &mut Workshop<'_>, limits: Limits) -> Result<Parcels, EngineError> {
    let mut leftovers = workshop.depot().shelf().sweep()?;
    let mut found = judged(workshop, limits)?;
    for it in found.iter_mut().filter(|it| it.verdict.goes()) {
        if let What::Package(id) = it.what
            && !remove(workshop, id)?
        {
            it.verdict = Verdict::Live;
        }
    }
    let (unknown, unnamed) = unnamed(workshop, &found)?;
    leftovers += remove_contents(workshop, &unnamed)?;
    found.extend(unnamed);
    Ok(Parcels {
        found,
        unknown,
        leftovers,
    })
}

/// All packages that can be received, and those that are over and still here, newest first.
fn judged(workshop: &mut Workshop<'_>, limits: Limits) -> Result<Vec<Found>, EngineError> {
    let now = workshop.clock.now().wall;
    let sizes = sizes(&mut workshop.depot())?;
    let (project, mut after) = (workshop.project, None::<PackageRecord>);
    let mut found = vec![];
    loop {
        let page = read(workshop.store, |tx| {
            let rows = packages::page(tx, project, after.as_ref(), PAGE)?;
            let known = rows.into_iter().map(|(record, standing)| {
                let fact = fact(tx, &record, standing.is_active())?;
                Ok((record, fact))
            });
            known.collect::<Result<Vec<_>, _>>()
        })?;
        let Some((last, _)) = page.last() else {
            break;
        };
        after = Some(last.clone());
        let here = page.iter().filter_map(|(record, fact)| {
            let bytes = sizes.get(&record.label.id).copied();
            let is_shown = fact.is_active || bytes.is_some();
            is_shown.then(|| row(record.label.id, *fact, (now, limits), bytes))
        });
        found.extend(here);
    }
    if let Some(limit) = limits.package_bytes {
        let mut crowd: Vec<_> = found.iter().map(|it| (it.verdict, it.bytes)).collect();
        crowd_out(&mut crowd, limit);
        for (it, (verdict, _)) in found.iter_mut().zip(crowd) {
            it.verdict = verdict;
        }
    }
    Ok(found)
}

fn row(
    id: PackageId,
    fact: PackageFact,
    (now, limits): (Timestamp, Limits),
    bytes: Option<u64>,
) -> Found {
    Found {
        kind: Kind::Package,
        name: id.to_string(),
        verdict: of_package(fact, now, limits.packages),
        bytes: bytes.unwrap_or_default(),
        what: What::Package(id),
    }
}

/// How much of each package is here: on the shelf, or beside its row.
fn sizes(depot: &mut Depot<'_>) -> Result<BTreeMap<PackageId, u64>, EngineError> {
    if !depot.is_shared() {
        return Ok(depot.shelf().sizes()?);
    }
    let project = depot.project();
    Ok(read(depot.store(), |tx| {
        packages::sealed_sizes(tx, project)
    })?)
}

fn fact(
    tx: &mut Transaction<'_>,
    record: &PackageRecord,
    is_active: bool,
) -> Result<PackageFact, handoff_store::StoreError> {
    let (task, run) = (record.task(), received_by_run(record));
    let mut of = task.map_or(Ok(TaskFact::None), |task| task_fact(tx, task))?;
    if let Some(run) = run
        && runs::get(tx, run)?.state.is_live()
    {
        of = TaskFact::Open;
    }
    Ok(PackageFact {
        is_active,
        over_since: record.over_since(),
        of,
        is_awaited: task.map_or(Ok(false), |task| is_awaited(tx, task))?,
    })
}

fn received_by_run(record: &PackageRecord) -> Option<RunId> {
    let PackageState::Consumed { receipt, .. } = &record.state else {
        return None;
    };
    match receipt.into {
        ContextScope::Run(run) => Some(run),
        ContextScope::Project(_) | ContextScope::Session(_) | ContextScope::Task(_) => None,
    }
}

/// Whether a task comes after this one that has not ended: what it is told comes from here.
fn is_awaited(tx: &mut Transaction<'_>, task: TaskId) -> Result<bool, handoff_store::StoreError> {
    for after in tasks::dependents(tx, task)? {
        if task_fact(tx, after)? != TaskFact::Ended {
            return Ok(true);
        }
    }
    Ok(false)
}

/// Whether the bytes of a package are gone; if not, somebody does something with it, or needs it by now.
fn remove(workshop: &mut Workshop<'_>, id: PackageId) -> Result<bool, EngineError> {
    let Some(_grasp) = workshop.depot().grasp(id)? else {
        return Ok(false);
    };
    let now = workshop.clock.now();
    let record = read(workshop.store, |tx| {
        let record = packages::get(tx, id)?;
        let standing = record.standing(packages::clock(tx)?, &now.moment);
        let fact = fact(tx, &record, standing.is_active())?;
        // It was old enough when it was looked at.
        let verdict = of_package(fact, now.wall, Duration::ZERO);
        Ok(verdict.goes().then_some(record))
    })?;
    let Some(record) = record else {
        return Ok(false);
    };
    workshop.depot().forget(&record)
}

/// Files that the ledger does not know, and contents that no package has which stays. What cannot be read may have attachments:
/// nothing is taken away that it could need.
fn unnamed(
    workshop: &mut Workshop<'_>,
    packages: &[Found],
) -> Result<(Vec<PathBuf>, Vec<Found>), EngineError> {
    let kept = named(workshop, packages);
    let unknown = workshop.depot().unknown_files()?;
    let Some(kept) = kept.filter(|_| unknown.is_empty()) else {
        return Ok((unknown, vec![]));
    };
    let found = contents(workshop, &kept)?.into_iter();
    let found = found.map(|(digest, bytes)| Found {
        kind: Kind::Attachment,
        name: digest.to_string(),
        verdict: Verdict::Unnamed,
        bytes,
        what: What::Attachment(digest),
    });
    Ok((unknown, found.collect()))
}

/// What the packages have attached that stay; none if one of them cannot be read.
fn named(workshop: &mut Workshop<'_>, packages: &[Found]) -> Option<BTreeSet<Digest>> {
    let mut named = BTreeSet::new();
    for it in packages.iter().filter(|it| !it.verdict.goes()) {
        let What::Package(id) = it.what else {
            continue;
        };
        let stored = workshop.depot().find(id).ok()?;
        let attached = &stored.opened.package.payload.attachments;
        named.extend(attached.iter().map(|it| it.sha256.clone()));
    }
    Some(named)
}

/// Contents that nobody has wanted for a while: somebody may be about to name the others.
fn contents(
    workshop: &mut Workshop<'_>,
    kept: &BTreeSet<Digest>,
) -> Result<Vec<(Digest, u64)>, EngineError> {
    let (project, now) = (workshop.project, workshop.clock.now().wall);
    let depot = workshop.depot();
    if depot.is_shared() {
        return Ok(read(workshop.store, |tx| {
            blobs::unnamed(tx, project, kept)
        })?);
    }
    let before = now.checked_sub(blobs::GRACE).unwrap_or(now);
    let found = depot.shelf().unnamed_blobs(kept, SystemTime::from(before));
    Ok(found?)
}

/// Removes contents, and says how many pieces of dead uploaders went with them.
fn remove_contents(workshop: &mut Workshop<'_>, unnamed: &[Found]) -> Result<usize, EngineError> {
    let digest = |it: &Found| {
        let What::Attachment(digest) = &it.what else {
            return None;
        };
        Some(digest.clone())
    };
    let digests: Vec<_> = unnamed.iter().filter_map(digest).collect();
    let project = workshop.project;
    let depot = workshop.depot();
    if depot.is_shared() {
        let swept = blobs::sweep(workshop.store, project, &digests)?;
        return Ok(usize::try_from(swept.pieces).unwrap_or(usize::MAX));
    }
    depot.shelf().remove_blobs(&digests)?;
    Ok(0)
}
