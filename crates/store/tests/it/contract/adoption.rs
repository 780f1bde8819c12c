//! What is paused goes to another store with its package and arrives there as it stood. Here it goes and comes back: to a store that
//! has let go of something, it is something new.

use handoff_core::batch::{AdoptedBatch, BatchCommand, BatchState};
use handoff_core::hold::HoldScope;
use handoff_core::package::{Label, PackageCommand, PackageKind, PackageState};
use handoff_core::task::{AdoptedTask, Command, Dependency, Evidence, Part, Phase, Reason, Until};
use handoff_core::{Batch, BatchId, CommitId, PackageId, Task, TaskId};
use handoff_store::queue::{ArrivingBatch, ArrivingTask, Change};
use handoff_store::{StoreError, holds, packages, read, tasks};

use super::batches::{ask, named, now_of, open, state, states};
use super::on_both_stores;
use super::packages::{label, seal, telling};
use crate::fixture::{Fixture, spec, uuid};

on_both_stores! {
    a_batch_goes_with_its_package_and_arrives_as_it_stood,
    a_batch_that_was_held_by_a_person_goes_too,
    a_task_goes_with_its_package_and_arrives_as_it_stood,
    what_is_not_paused_with_it_any_more_stays,
    a_package_goes_though_there_is_nothing_left_to_call_off,
    an_adoption_is_one_act_and_needs_its_names,
}

/// What a pause seals for a task.
fn sealed(fixture: &mut Fixture, id: PackageId, task: TaskId) {
    let label = Label {
        id,
        kind: PackageKind::Transfer,
        task: Some(task),
        ..label(fixture)
    };
    seal(fixture, label);
}

fn package() -> PackageId {
    PackageId::from_uuid(uuid())
}

fn send(fixture: &mut Fixture, id: PackageId) -> Result<(), StoreError> {
    let to = "there".parse().unwrap();
    let fence = None;
    let command = PackageCommand::Transfer { to, fence };
    fixture.submit(telling(id, command)).map(drop)
}

fn whereabouts(fixture: &mut Fixture, id: PackageId) -> PackageState {
    read(&mut *fixture.store, |tx| packages::get(tx, id))
        .unwrap()
        .state
}

fn pause(fixture: &mut Fixture, task: &Task, package: PackageId) {
    let reason: Option<Reason> = None;
    let whole = None;
    fixture
        .tell(task, Command::Pause { package, whole })
        .unwrap();
    let fence = task.fence;
    fixture
        .tell(task, Command::Release { fence, reason })
        .unwrap();
    sealed(fixture, package, task.id);
}

/// A batch of which one part is done, one is paused and one waits; its package, that of the part, and what they carry.
fn paused(fixture: &mut Fixture) -> (Batch, [PackageId; 2], AdoptedBatch) {
    let (batch, whole, part) = (open(fixture), package(), package());
    let first = fixture.claim().unwrap();
    let evidence = Evidence::Committed {
        branch: "handoff/first".parse().unwrap(),
        commit: commit(),
    };
    let fence = first.fence;
    fixture
        .tell(&first, Command::Prove { fence, evidence })
        .unwrap();
    fixture.complete(&first).unwrap();
    let other = fixture.claim().unwrap();
    assert_eq!(other.spec.name.as_str(), "b.other");
    let (scope, package) = (HoldScope::Batch(batch.id), whole);
    fixture.submit(Change::Pause { scope, package }).unwrap();
    pause(fixture, &other, part);
    sealed(fixture, whole, batch.spec.fan_in);
    let carried = read(&mut *fixture.store, |tx| {
        let mut members = tasks::of_batch(tx, batch.id)?;
        members.push(tasks::get(tx, batch.spec.next.unwrap())?);
        Ok(AdoptedBatch::of(&batch, &members))
    });
    let carried = carried.unwrap();
    assert!(carried.is_whole(), "{carried:?}");
    (batch, [whole, part], carried)
}

fn commit() -> CommitId {
    "c".repeat(40).parse().unwrap()
}

fn adopting(fixture: &Fixture, batch: &Batch, package: PackageId, it: &AdoptedBatch) -> Change {
    Change::AdoptBatch(ArrivingBatch {
        id: batch.id.adopted(package),
        project: fixture.project,
        batch: Box::new(it.clone()),
        package,
    })
}

/// The pauses that hold tasks, and those that hold batches.
type Pauses = (Vec<Option<PackageId>>, Vec<(BatchId, Option<PackageId>)>);

fn held(fixture: &mut Fixture) -> Pauses {
    let project = fixture.project;
    let found = read(&mut *fixture.store, |tx| {
        let tasks = tasks::held(tx, project)?.into_iter();
        let batches = holds::of_batches(tx, project)?.into_iter();
        Ok((
            tasks
                .map(|it| it.hold.and_then(|hold| hold.pause))
                .collect(),
            batches.map(|(id, hold)| (id, hold.pause)).collect(),
        ))
    });
    found.unwrap()
}

const GONE: [Phase; 5] = [
    Phase::Done,
    Phase::Cancelled,
    Phase::Cancelled,
    Phase::Cancelled,
    Phase::Cancelled,
];

fn a_batch_goes_with_its_package_and_arrives_as_it_stood(fixture: &mut Fixture) {
    let (batch, [whole, part], carried) = paused(fixture);
    assert_eq!(
        held(fixture),
        (vec![Some(part)], vec![(batch.id, Some(whole))])
    );
    send(fixture, whole).unwrap();
    assert_eq!(held(fixture), (vec![], vec![]));
    assert_eq!(states(fixture), GONE);
    for id in [whole, part] {
        let state = whereabouts(fixture, id);
        assert!(
            matches!(state, PackageState::Transferred { .. }),
            "{state:?}"
        );
    }
    let over = now_of(fixture, &batch).state;
    assert!(matches!(over, BatchState::Cancelled { .. }), "{over:?}");
    let change = adopting(fixture, &batch, whole, &carried);
    let here = fixture.submit(change).unwrap().answer.into_batch().unwrap();
    assert_eq!(here.spec.name, batch.spec.name);
    assert_ne!(here.id, batch.id);
    let (held, waiting) = (Phase::Held, Phase::Waiting);
    assert_eq!(
        states(fixture),
        [Phase::Done, held, Phase::Queued, waiting, waiting]
    );
    let first = named(fixture, "b.first");
    assert_eq!(
        first.evidence.first().and_then(Evidence::commit),
        Some(&commit())
    );
    // Nothing of it is handed out before its package is received.
    assert_eq!(fixture.claim(), None);
    let scope = HoldScope::Batch(here.id);
    fixture.submit(Change::Unhold { scope }).unwrap();
    let last = fixture.claim().unwrap();
    assert_eq!(last.spec.name.as_str(), "b.last");
    fixture.complete(&last).unwrap();
    let other = named(fixture, "b.other");
    fixture.tell(&other, Command::Unhold).unwrap();
    let other = fixture.claim().unwrap();
    fixture.complete(&other).unwrap();
    assert!(matches!(
        now_of(fixture, &here).state,
        BatchState::FanIn { .. }
    ));
    for name in ["merge", "announce"] {
        let task = fixture.claim().unwrap();
        assert_eq!(task.spec.name.as_str(), name);
        fixture.complete(&task).unwrap();
    }
    assert_eq!(fixture.audit().faults, []);
}

fn a_batch_that_was_held_by_a_person_goes_too(fixture: &mut Fixture) {
    let (batch, [whole, _], _) = paused(fixture);
    let scope = HoldScope::Batch(batch.id);
    let reason = None;
    fixture.submit(Change::Hold { scope, reason }).unwrap();
    send(fixture, whole).unwrap();
    assert_eq!(states(fixture), GONE);
    let hold = read(&mut *fixture.store, |tx| holds::in_force(tx, &[scope])).unwrap();
    assert!(hold.is_some(), "what a person holds stays held");
}

fn a_task_goes_with_its_package_and_arrives_as_it_stood(fixture: &mut Fixture) {
    fixture.add(spec("fix"));
    let task = fixture.claim().unwrap();
    let id = package();
    pause(fixture, &task, id);
    let carried = AdoptedTask::alone(&task, id).unwrap();
    send(fixture, id).unwrap();
    assert_eq!(state(fixture, "fix"), Phase::Cancelled);
    let here = task.id.adopted(id);
    let project = fixture.project;
    let change = |task: &AdoptedTask| {
        Change::AdoptTask(ArrivingTask {
            id: here,
            project,
            task: Box::new(task.clone()),
        })
    };
    let (mut part, mut late) = (carried.clone(), carried.clone());
    let batch = BatchId::from_uuid(uuid());
    part.spec.part = Some(Part::SubTask { batch });
    let until = Until::Ended;
    late.spec.after = vec![Dependency {
        task: task.id,
        until,
    }];
    for bound in [part, late] {
        let refused = fixture.submit(change(&bound));
        assert!(
            matches!(refused, Err(StoreError::NotFound { .. })),
            "{refused:?}"
        );
    }
    let here = fixture
        .submit(change(&carried))
        .unwrap()
        .answer
        .into_task()
        .unwrap();
    assert_eq!(here.spec, task.spec);
    assert_eq!(state(fixture, "fix"), Phase::Held);
    fixture
        .tell(&here, Command::Unpause { package: id })
        .unwrap();
    assert_eq!(fixture.claim().map(|it| it.id), Some(here.id));
    assert_eq!(fixture.audit().faults, []);
}

fn what_is_not_paused_with_it_any_more_stays(fixture: &mut Fixture) {
    fixture.add(spec("fix"));
    let task = fixture.claim().unwrap();
    let (old, new) = (package(), package());
    pause(fixture, &task, old);
    fixture.tell(&task, Command::Unhold).unwrap();
    let task = fixture.claim().unwrap();
    pause(fixture, &task, new);
    send(fixture, old).unwrap();
    assert_eq!(state(fixture, "fix"), Phase::Held);
    send(fixture, new).unwrap();
    assert_eq!(state(fixture, "fix"), Phase::Cancelled);
    // A part of a batch is awaited here.
    let (_, [_, part], _) = paused(fixture);
    send(fixture, part).unwrap();
    assert_eq!(state(fixture, "b.other"), Phase::Held);
    assert_eq!(fixture.audit().faults, []);
}

fn a_package_goes_though_there_is_nothing_left_to_call_off(fixture: &mut Fixture) {
    fixture.add(spec("fix"));
    let (task, id) = (fixture.claim().unwrap(), package());
    pause(fixture, &task, id);
    let (fence, summary) = (None, None);
    fixture
        .tell(&task, Command::Complete { fence, summary })
        .unwrap();
    send(fixture, id).unwrap();
    assert_eq!(state(fixture, "fix"), Phase::Done);
    let (batch, [whole, _], _) = paused(fixture);
    ask(fixture, &batch, BatchCommand::Cancel { reason: None }).unwrap();
    send(fixture, whole).unwrap();
    for id in [id, whole] {
        let state = whereabouts(fixture, id);
        assert!(
            matches!(state, PackageState::Transferred { .. }),
            "{state:?}"
        );
    }
    assert_eq!(held(fixture), (vec![], vec![]));
    assert_eq!(fixture.audit().faults, []);
}

fn an_adoption_is_one_act_and_needs_its_names(fixture: &mut Fixture) {
    let (batch, [whole, _], carried) = paused(fixture);
    let change = adopting(fixture, &batch, whole, &carried);
    let taken = fixture.submit(change.clone());
    assert!(
        matches!(taken, Err(StoreError::BatchNameTaken { .. })),
        "{taken:?}"
    );
    send(fixture, whole).unwrap();
    fixture.add(spec("announce"));
    let taken = fixture.submit(change.clone());
    assert!(
        matches!(&taken, Err(StoreError::NameTaken { name, .. }) if name.as_str() == "announce"),
        "{taken:?}"
    );
    let announce = named(fixture, "announce");
    let cancel = Command::Cancel { reason: None };
    fixture.tell(&announce, cancel).unwrap();
    fixture.submit(change).unwrap();
    assert_eq!(fixture.audit().faults, []);
}
