//! A machine of a team dies with the pause that it was making: whoever comes by undoes it when no pause takes that long.

use std::time::Duration;

use handoff_core::batch::{Manifest, Opening, Rules};
use handoff_core::package::{
    Label, Origin, PackageCommand, PackageKind, PackageRefusal, PackageState,
};
use handoff_core::task::Command;
use handoff_core::{
    BatchId, Caller, Digest, Hold, HoldScope, IdempotencyKey, PackageId, PackageRecord, Task,
    TaskId,
};
use handoff_engine::reconcile;
use handoff_process::mint;
use handoff_store::queue::{Agents, Change, PauseOf, Request, TaskRef, TenureWish, submit};
use handoff_store::{StoreError, holds, packages, read};

use crate::stage::{Stage, spec};

fn try_submit(stage: &mut Stage, change: Change) -> Result<(), StoreError> {
    let key = mint().to_string().parse().unwrap();
    let by = Caller::Person;
    submit(&mut stage.store, &Request { by, key, change }).map(drop)
}

fn package() -> PackageId {
    PackageId::from_uuid(mint())
}

fn claim(stage: &mut Stage) -> Task {
    let change = Change::ClaimNext {
        project: stage.project,
        tenure: TenureWish::Timed {
            ttl: handoff_core::lease::Ttl::default(),
        },
        agents: Agents::default(),
    };
    stage.submit(Caller::Worker, change)
}

/// As far as a pause comes before it is sealed.
fn pause(stage: &mut Stage, task: &Task, package: PackageId, whole: Option<PackageId>) {
    stage.tell(task, Command::Pause { package, whole });
    let (fence, reason) = (task.fence, None);
    stage.tell(task, Command::Release { fence, reason });
}

fn seal(
    stage: &mut Stage,
    id: PackageId,
    task: TaskId,
    pausing: PauseOf,
) -> Result<(), StoreError> {
    let created_at = read(&mut stage.store, packages::clock).unwrap();
    let label = Label {
        id,
        kind: PackageKind::Pause,
        created_at,
        expires_at: None,
        project: stage.project,
        session_id: None,
        subject_id: None,
        task: Some(task),
        feature: None,
        source_phase: None,
        target_phase: None,
        commit: None,
        audience: vec![],
        single_use: true,
        provenance: None,
    };
    let digest = Digest::of(b"header");
    let package = PackageRecord::begin(stage.project, label, digest.clone(), Origin::Made);
    let change = Change::Seal {
        package: Box::new(package),
        content: digest,
        sealed: Some("bytes".to_owned()),
        pausing: Some(pausing),
    };
    try_submit(stage, change)
}

fn undone(stage: &mut Stage) -> usize {
    let project = stage.project;
    reconcile::stale_pauses(&mut stage.store, project).unwrap()
}

fn is_held(stage: &mut Stage, task: &Task) -> bool {
    stage.task(task.id).hold.is_some()
}

#[test]
fn a_task_whose_pause_was_never_sealed_is_handed_out_again_and_not_before() {
    let mut stage = Stage::new();
    let mut tasks = vec![];
    for name in ["lost", "whole", "withdrawn", "held"] {
        stage.add(spec(name));
        tasks.push(claim(&mut stage));
    }
    let ids = [package(), package(), package()];
    for (task, id) in tasks.iter().zip(ids) {
        pause(&mut stage, task, id, None);
    }
    stage.tell(&tasks[3], Command::Hold { reason: None });
    for (task, id) in tasks.iter().zip(ids).skip(1) {
        seal(&mut stage, id, task.id, PauseOf::Task(task.id)).unwrap();
    }
    let (id, command) = (ids[2], PackageCommand::Cancel { reason: None });
    try_submit(&mut stage, Change::Package { id, command }).unwrap();
    stage.pass(Hold::PAUSE_TAKES - Duration::from_secs(1));
    assert_eq!(undone(&mut stage), 0);
    stage.pass(Duration::from_secs(1));
    assert_eq!((undone(&mut stage), undone(&mut stage)), (1, 0));
    let held: Vec<_> = tasks.iter().map(|it| is_held(&mut stage, it)).collect();
    assert_eq!(held, [false, true, true, true]);
    // Its maker was only slow: it finds that there is nothing to seal any more.
    let late = seal(&mut stage, ids[0], tasks[0].id, PauseOf::Task(tasks[0].id));
    let refusal = PackageRefusal::NotPaused;
    assert!(
        matches!(&late, Err(StoreError::PackageRefused { refusal: it, .. }) if *it == refusal),
        "{late:?}"
    );
}

#[test]
fn a_pause_that_cannot_be_undone_keeps_nobody_from_the_others() {
    let mut stage = Stage::new();
    let mut tasks = vec![];
    for name in ["stuck", "lost"] {
        stage.add(spec(name));
        let (task, id) = (claim(&mut stage), package());
        pause(&mut stage, &task, id, None);
        tasks.push((task, id));
    }
    // The key under which it would be undone is taken.
    let (stuck, id) = &tasks[0];
    let key: IdempotencyKey = format!("unpause/{id}/{}", stuck.id).parse().unwrap();
    let change = Change::Tell {
        task: TaskRef::Id(stage.add(spec("other")).id),
        command: Command::Hold { reason: None },
    };
    let request = Request {
        by: Caller::Person,
        key: key.in_project(stage.project),
        change,
    };
    submit(&mut stage.store, &request).unwrap();
    stage.pass(Hold::PAUSE_TAKES);
    assert_eq!(undone(&mut stage), 1);
    let held: Vec<_> = { tasks.iter() }
        .map(|(task, _)| is_held(&mut stage, task))
        .collect();
    assert_eq!(held, [true, false]);
}

const MANIFEST: &str = r#"
schema_version = 2
batch_id = "b"
fan_in_task = "merge"
sub_tasks = [
    { id = "one", brief = "x", file_ownership = ["1/"] },
    { id = "two", brief = "x", file_ownership = ["2/"] },
    { id = "three", brief = "x", file_ownership = ["3/"] },
]
"#;

/// An open batch, and its fan-in.
fn open(stage: &mut Stage) -> (BatchId, TaskId) {
    let manifest = Manifest::read(MANIFEST, Rules::default()).unwrap();
    let id = || TaskId::from_uuid(mint());
    let opening = Opening {
        batch: BatchId::from_uuid(mint()),
        parts: vec![id(), id(), id()],
        fan_in: id(),
        next: id(),
        base: "a".repeat(40).parse().unwrap(),
        after: None,
        run: None,
    };
    let opened = (opening.batch, opening.fan_in);
    let open = Change::OpenBatch {
        opening: Box::new(opening),
        project: stage.project,
        manifest: Box::new(manifest),
    };
    try_submit(stage, open).unwrap();
    opened
}

#[test]
fn a_batch_that_is_paused_can_be_paused_again() {
    let mut stage = Stage::new();
    let (batch, fan_in) = open(&mut stage);
    let scope = HoldScope::Batch(batch);
    for package in [package(), package()] {
        try_submit(&mut stage, Change::Pause { scope, package }).unwrap();
        seal(&mut stage, package, fan_in, PauseOf::Batch(batch)).unwrap();
    }
}

#[test]
fn a_batch_whose_pause_was_never_sealed_goes_on_with_the_parts_that_were() {
    let mut stage = Stage::new();
    let (batch, fan_in) = open(&mut stage);
    let (whole, parts) = (package(), [package(), package()]);
    let [one, two, alone] = [(); 3].map(|()| claim(&mut stage));
    let (scope, package) = (HoldScope::Batch(batch), whole);
    try_submit(&mut stage, Change::Pause { scope, package }).unwrap();
    for (part, package) in [&one, &two].into_iter().zip(parts) {
        pause(&mut stage, part, package, Some(whole));
        seal(&mut stage, package, part.id, PauseOf::Task(part.id)).unwrap();
    }
    // Somebody had paused this one by itself: it stays paused.
    let own = self::package();
    pause(&mut stage, &alone, own, None);
    seal(&mut stage, own, alone.id, PauseOf::Task(alone.id)).unwrap();
    stage.pass(Hold::PAUSE_TAKES);
    assert_eq!(undone(&mut stage), 3);
    let held = [&one, &two, &alone].map(|it| is_held(&mut stage, it));
    assert_eq!(held, [false, false, true]);
    let left = read(&mut stage.store, |tx| holds::in_force(tx, &[scope])).unwrap();
    assert_eq!(left, None);
    let states = parts.map(|id| {
        read(&mut stage.store, |tx| packages::get(tx, id))
            .unwrap()
            .state
    });
    assert!(
        states
            .iter()
            .all(|it| matches!(it, PackageState::Cancelled { .. })),
        "{states:?}"
    );
    let late = seal(&mut stage, whole, fan_in, PauseOf::Batch(batch));
    assert!(
        matches!(late, Err(StoreError::PackageRefused { .. })),
        "{late:?}"
    );
}
