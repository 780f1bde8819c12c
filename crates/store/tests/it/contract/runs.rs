//! A run has one task at work or none, and goes on in the transaction in which that one ends.

use std::time::Duration;

use handoff_core::package::{Label, PackageCommand, PackageKind};
use handoff_core::run::{
    AdoptedRun, Cause, RunCommand, RunRefusal, RunSpec, RunState, Step, Verdict,
};
use handoff_core::task::{Command, Evidence, Reason};
use handoff_core::workflow::{BUILT_IN, Workflow};
use handoff_core::{Batch, Run, RunId, Task, TaskId, TaskState};
use handoff_store::queue::{Change, RunRef, submit};
use handoff_store::{StoreError, batches, read, runs, tasks};

use super::{on_both_stores, packages};
use crate::fixture::{Fixture, request, uuid};

on_both_stores! {
    a_run_begins_with_the_task_of_its_first_phase,
    a_proof_opens_the_next_phase_and_a_refusal_the_same_one,
    what_a_person_decides_reaches_the_tasks,
    a_run_that_was_handed_over_does_not_go_on_here,
    beginning_again_with_the_same_key_begins_nothing_new,
    a_run_is_found_by_name_and_listed_newest_first,
    a_run_of_another_store_goes_on_where_it_stood,
    a_phase_is_split_with_its_proof_and_joined_with_its_fan_in,
    a_batch_is_held_and_called_off_with_its_run,
    a_batch_that_is_in_the_way_stops_the_run_and_nothing_else,
}

fn beginning(fixture: &Fixture, name: &str) -> Change {
    let (_, text) = BUILT_IN
        .iter()
        .find(|(it, _)| *it == "plan-build-review")
        .unwrap();
    let workflow = Workflow::read("plan-build-review".parse().unwrap(), text).unwrap();
    let spec = RunSpec {
        name: name.parse().unwrap(),
        workflow,
        goal: "a goal".parse().unwrap(),
        feature: None,
        agent: None,
        base: "1".repeat(40).parse().unwrap(),
        is_interactive: false,
    };
    Change::BeginRun {
        id: RunId::from_uuid(uuid()),
        project: fixture.project,
        spec: Box::new(spec),
    }
}

fn begun(fixture: &mut Fixture) -> Run {
    let change = beginning(fixture, "r");
    fixture.submit(change).unwrap().answer.into_run().unwrap()
}

fn reload(fixture: &mut Fixture, run: &Run) -> Run {
    read(&mut *fixture.store, |tx| runs::get(tx, run.id)).unwrap()
}

fn told(fixture: &mut Fixture, run: &Run, command: RunCommand) -> Result<Run, StoreError> {
    let run = RunRef::Id(run.id);
    let receipt = fixture.submit(Change::Run { run, command })?;
    Ok(receipt.answer.into_run().unwrap())
}

fn verdict(outcome: &str) -> Verdict {
    Verdict::of(outcome.parse().unwrap(), "2".repeat(40).parse().unwrap())
}

fn prove(fixture: &mut Fixture, outcome: &str) -> Task {
    prove_with(fixture, verdict(outcome))
}

fn prove_with(fixture: &mut Fixture, verdict: Verdict) -> Task {
    let task = fixture.claim().unwrap();
    let prove = Command::Prove {
        fence: task.fence,
        evidence: Evidence::Judged { verdict },
    };
    fixture.tell(&task, prove).unwrap();
    fixture.complete(&task).unwrap()
}

fn stands(run: &Run) -> (&'static str, &str, u32) {
    (run.state.word(), run.at.phase.as_str(), run.at.number)
}

fn audited(fixture: &mut Fixture) {
    let audit = fixture.audit();
    assert_eq!((audit.runs > 0, audit.faults), (true, vec![]));
}

fn a_run_begins_with_the_task_of_its_first_phase(fixture: &mut Fixture) {
    let run = begun(fixture);
    assert_eq!(stands(&run), ("working", "plan", 1));
    let task = fixture.claim().unwrap();
    assert_eq!(run.state, RunState::Working { task: task.id });
    assert_eq!(task.spec.name.as_str(), "r.1-plan");
    let again = beginning(fixture, "r");
    let refused = fixture.submit(again);
    assert!(
        matches!(refused, Err(StoreError::RunNameTaken { .. })),
        "{refused:?}"
    );
    audited(fixture);
}

fn a_proof_opens_the_next_phase_and_a_refusal_the_same_one(fixture: &mut Fixture) {
    let run = begun(fixture);
    prove(fixture, "done");
    assert_eq!(reload(fixture, &run).state.word(), "gated");
    assert_eq!(fixture.claim(), None, "a person must agree first");
    told(fixture, &run, RunCommand::Approve).unwrap();
    let task = fixture.claim().unwrap();
    let reason: Reason = "the check failed".parse().unwrap();
    let fail = Command::Fail {
        fence: Some(task.fence),
        reason,
    };
    fixture.tell(&task, fail).unwrap();
    assert_eq!(stands(&reload(fixture, &run)), ("working", "build", 2));
    prove(fixture, "done");
    assert_eq!(stands(&reload(fixture, &run)), ("working", "review", 1));
    prove(fixture, "approved");
    assert_eq!(reload(fixture, &run).state.word(), "done");
    assert_eq!(fixture.claim(), None);
    audited(fixture);
}

fn what_a_person_decides_reaches_the_tasks(fixture: &mut Fixture) {
    let run = begun(fixture);
    let task = fixture.claim().unwrap();
    told(fixture, &run, RunCommand::Pause).unwrap();
    let now = read(&mut *fixture.store, |tx| tasks::get(tx, task.id)).unwrap();
    assert!(
        matches!(now.state, TaskState::Cancelled { .. }),
        "{:?}",
        now.state
    );
    assert!(fixture.complete(&task).is_err(), "its right is gone");
    assert_eq!(fixture.claim(), None);
    told(fixture, &run, RunCommand::Resume).unwrap();
    assert_eq!(fixture.claim().unwrap().spec.name.as_str(), "r.2-plan");
    let refused = told(fixture, &run, RunCommand::Approve);
    let Err(StoreError::RunRefused { refusal, .. }) = refused else {
        panic!("{refused:?}");
    };
    assert_eq!(refusal, RunRefusal::NoGate("working"));
    told(fixture, &run, RunCommand::Cancel { reason: None }).unwrap();
    assert_eq!(
        (reload(fixture, &run).state.word(), fixture.claim()),
        ("cancelled", None)
    );
    audited(fixture);
}

fn a_run_that_was_handed_over_does_not_go_on_here(fixture: &mut Fixture) {
    let pause_of = |fixture: &mut Fixture, run: &Run, kind| {
        let label = Label {
            kind,
            task: Some(Run::task_id(run.id, run.tasks)),
            ..packages::label(fixture)
        };
        packages::seal(fixture, label)
    };
    let transfer = |fixture: &mut Fixture, id| {
        let command = PackageCommand::Transfer {
            to: "elsewhere".parse().unwrap(),
            fence: None,
        };
        fixture.submit(Change::Package { id, command }).unwrap();
    };
    let run = begun(fixture);
    let run = told(fixture, &run, RunCommand::Pause).unwrap();
    // Neither what a person made of its task, nor an older pause, is the run.
    let manual = pause_of(fixture, &run, PackageKind::Manual);
    let older = pause_of(fixture, &run, PackageKind::Pause);
    fixture.pass(Duration::from_secs(1));
    let newest = pause_of(fixture, &run, PackageKind::Pause);
    for other in [manual, older] {
        transfer(fixture, other);
        assert_eq!(reload(fixture, &run).state.word(), "paused");
    }
    transfer(fixture, newest);
    let now = reload(fixture, &run);
    let RunState::Cancelled {
        reason: Some(reason),
        ..
    } = &now.state
    else {
        panic!("{:?}", now.state);
    };
    assert!(reason.as_str().contains("elsewhere"), "{reason}");
    for command in [RunCommand::Resume, RunCommand::Retry { from: None }] {
        assert!(told(fixture, &run, command).is_err());
    }
    assert_eq!(fixture.claim(), None);

    // One that went on since is no longer what the package is a pause of.
    let run = begun(fixture);
    let run = told(fixture, &run, RunCommand::Pause).unwrap();
    let left = pause_of(fixture, &run, PackageKind::Pause);
    told(fixture, &run, RunCommand::Resume).unwrap();
    transfer(fixture, left);
    assert_eq!(reload(fixture, &run).state.word(), "working");
    audited(fixture);
}

fn beginning_again_with_the_same_key_begins_nothing_new(fixture: &mut Fixture) {
    let first = request(beginning(fixture, "r"));
    let one = submit(&mut *fixture.store, &first).unwrap();
    let mut again = request(beginning(fixture, "r"));
    again.key = first.key;
    let two = submit(&mut *fixture.store, &again).unwrap();
    assert!(two.is_repeat);
    assert_eq!(one.answer, two.answer);
    assert!(fixture.claim().is_some());
    assert_eq!(fixture.claim(), None);
}

fn a_run_is_found_by_name_and_listed_newest_first(fixture: &mut Fixture) {
    let first = begun(fixture);
    told(fixture, &first, RunCommand::Cancel { reason: None }).unwrap();
    fixture.pass(std::time::Duration::from_millis(5));
    let second = begun(fixture);
    let project = fixture.project;
    let (named, page) = read(&mut *fixture.store, |tx| {
        let named = runs::named(tx, project, &"r".parse().unwrap())?;
        Ok((named, runs::page(tx, project, None, 10)?))
    })
    .unwrap();
    assert_eq!(named.id, second.id);
    let ids: Vec<_> = page.iter().map(|it| it.id).collect();
    assert_eq!(ids, [second.id, first.id]);
}

fn a_run_of_another_store_goes_on_where_it_stood(fixture: &mut Fixture) {
    let Change::BeginRun { spec, project, .. } = beginning(fixture, "r") else {
        panic!("that is how a run begins");
    };
    let elsewhere = Step {
        phase: "plan".parse().unwrap(),
        task: TaskId::from_uuid(uuid()),
        verdict: verdict("done"),
    };
    let adoption = |id| Change::AdoptRun {
        id: RunId::from_uuid(id),
        project,
        run: Box::new(AdoptedRun {
            spec: (*spec).clone(),
            steps: vec![elsewhere.clone()],
            next: "build".parse().unwrap(),
        }),
    };
    let adopted = fixture.submit(adoption(uuid())).unwrap();
    let run = adopted.answer.into_run().unwrap();
    assert_eq!(stands(&run), ("paused", "build", 0));
    assert_eq!(fixture.claim(), None, "it waits to be told");
    let run = told(fixture, &run, RunCommand::Resume).unwrap();
    assert_eq!(stands(&run), ("working", "build", 1));
    assert_eq!(run.head(), &elsewhere.verdict.commit);
    assert_eq!(fixture.claim().unwrap().spec.name.as_str(), "r.1-build");
    let again = fixture.submit(adoption(uuid()));
    assert!(
        matches!(again, Err(StoreError::RunNameTaken { .. })),
        "{again:?}"
    );
    audited(fixture);
}

const BATCH: &str = r#"{ "schema_version": 2, "batch_id": "b", "fan_in_task": "together", "sub_tasks": [
    { "id": "one", "brief": "B", "file_ownership": ["one/"] },
    { "id": "two", "brief": "B", "file_ownership": ["two/"] } ] }"#;

/// A run whose plan says that the work is to be split, and a person has agreed.
fn split(fixture: &mut Fixture) -> Run {
    let run = begun(fixture);
    let manifest = BATCH.parse().ok();
    prove_with(
        fixture,
        Verdict {
            manifest,
            ..verdict("split")
        },
    );
    told(fixture, &run, RunCommand::Approve).unwrap()
}

fn batch_of(fixture: &mut Fixture, run: &Run) -> Batch {
    let id = run.at.batch.unwrap();
    read(&mut *fixture.store, |tx| batches::get(tx, id)).unwrap()
}

fn a_phase_is_split_with_its_proof_and_joined_with_its_fan_in(fixture: &mut Fixture) {
    let run = split(fixture);
    assert_eq!(stands(&run), ("fanned-out", "plan", 0));
    let batch = batch_of(fixture, &run);
    assert_eq!(
        (batch.spec.run, &batch.spec.base),
        (Some(run.id), run.head())
    );
    for name in ["b.one", "b.two"] {
        let part = fixture.claim().unwrap();
        assert_eq!(part.spec.name.as_str(), name);
        fixture.complete(&part).unwrap();
    }
    prove(fixture, "done");
    let run = reload(fixture, &run);
    assert_eq!(stands(&run), ("working", "review", 1));
    assert_eq!(run.steps[1].verdict.batch, Some(batch.id));
    audited(fixture);
}

fn a_batch_is_held_and_called_off_with_its_run(fixture: &mut Fixture) {
    let run = split(fixture);
    let part = fixture.claim().unwrap();
    told(fixture, &run, RunCommand::Pause).unwrap();
    assert_eq!(fixture.claim(), None, "nothing of it is handed out");
    fixture.complete(&part).unwrap();
    let run = told(fixture, &run, RunCommand::Resume).unwrap();
    assert_eq!(run.state.word(), "fanned-out");
    let part = fixture.claim().unwrap();
    told(fixture, &run, RunCommand::Cancel { reason: None }).unwrap();
    let now = read(&mut *fixture.store, |tx| tasks::get(tx, part.id)).unwrap();
    assert!(
        matches!(now.state, TaskState::Cancelled { .. }),
        "{:?}",
        now.state
    );
    assert_eq!(batch_of(fixture, &run).state.word(), "cancelled");
    assert_eq!(
        (reload(fixture, &run).state.word(), fixture.claim()),
        ("cancelled", None)
    );
    audited(fixture);
}

fn a_batch_that_is_in_the_way_stops_the_run_and_nothing_else(fixture: &mut Fixture) {
    let first = split(fixture);
    let other = beginning(fixture, "other");
    let run = fixture.submit(other).unwrap().answer.into_run().unwrap();
    let held = handoff_core::HoldScope::Batch(first.at.batch.unwrap());
    let (scope, reason) = (held, None);
    fixture.submit(Change::Hold { scope, reason }).unwrap();
    let manifest = BATCH.parse().ok();
    prove_with(
        fixture,
        Verdict {
            manifest,
            ..verdict("split")
        },
    );
    let run = told(fixture, &run, RunCommand::Approve).unwrap();
    let RunState::Stopped { cause, .. } = run.state else {
        panic!("{:?}", run.state);
    };
    assert_eq!(cause, Cause::NameTaken);
    told(fixture, &first, RunCommand::Cancel { reason: None }).unwrap();
    let run = told(fixture, &run, RunCommand::Retry { from: None }).unwrap();
    assert_eq!(stands(&run), ("fanned-out", "plan", 0));
    audited(fixture);
}
