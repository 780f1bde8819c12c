//! A batch is published whole, its fan-in becomes ready once, and what follows for its tasks happens with it.

use handoff_core::batch::{
    BatchCommand, BatchEvent, BatchRefusal, BatchState, Manifest, Opening, Rules,
};
use handoff_core::hold::HoldScope;
use handoff_core::task::{Command, Ending, Phase, Refusal, View};
use handoff_core::{Batch, BatchId, Event, PackageId, StreamId, Task, TaskId, TaskState};
use handoff_store::queue::{BatchRef, Change, TaskRef, submit};
use handoff_store::{StoreError, batches, events, read, tasks};

use super::on_both_stores;
use crate::fixture::{Door, Fixture, TTL, complete, request, spec, tell, uuid};

on_both_stores! {
    a_batch_is_opened_whole_or_not_at_all,
    opening_again_with_the_same_key_opens_nothing_new,
    the_fan_in_waits_for_the_end_of_every_part,
    racing_finishers_make_one_fan_in_ready,
    a_late_or_repeated_report_changes_nothing,
    a_part_that_needs_one_that_failed_does_not_keep_the_fan_in_waiting,
    a_held_batch_hands_out_none_of_its_parts,
    a_cancelled_batch_ends_everything_in_it,
    what_waits_in_a_cancelled_batch_is_called_off_and_asks_for_nobody,
    a_batch_is_handed_out_again_with_all_that_its_pause_holds,
    a_retried_batch_goes_on_and_comes_to_its_fan_in_again,
    no_part_is_opened_again_under_a_fan_in_at_work,
    parts_that_want_the_same_paths_run_one_after_the_other,
    a_batch_is_found_by_name_and_listed_newest_first,
}

/// Three parts, of which `last` needs `first`.
const THREE: &str = r#"
schema_version = 2
batch_id = "b"
fan_in_task = "merge"
next_after_fanin = { task = "announce", brief = "Tell them." }
[[sub_tasks]]
id = "first"
brief = "x"
file_ownership = ["a/"]
estimated_minutes = 9
[[sub_tasks]]
id = "other"
brief = "x"
file_ownership = ["b/"]
estimated_minutes = 5
[[sub_tasks]]
id = "last"
brief = "x"
file_ownership = ["a/"]
estimated_minutes = 3
depends_on = ["first"]
"#;

fn opening(text: &str, fixture: &Fixture) -> Change {
    let manifest = Manifest::read(text, Rules::default()).unwrap();
    let id = || TaskId::from_uuid(uuid());
    let opening = Opening {
        batch: BatchId::from_uuid(uuid()),
        parts: manifest.parts.iter().map(|_| id()).collect(),
        fan_in: id(),
        next: id(),
        base: "a".repeat(40).parse().unwrap(),
        after: None,
        run: None,
    };
    Change::OpenBatch {
        opening: Box::new(opening),
        project: fixture.project,
        manifest: Box::new(manifest),
    }
}

pub(super) fn open(fixture: &mut Fixture) -> Batch {
    let change = opening(THREE, fixture);
    fixture.submit(change).unwrap().answer.into_batch().unwrap()
}

pub(super) fn ask(
    fixture: &mut Fixture,
    batch: &Batch,
    command: BatchCommand,
) -> Result<Batch, StoreError> {
    let batch = BatchRef::Id(batch.id);
    let receipt = fixture.submit(Change::Batch { batch, command })?;
    Ok(receipt.answer.into_batch().unwrap())
}

fn retry() -> BatchCommand {
    BatchCommand::Retry { parts: vec![] }
}

pub(super) fn named(fixture: &mut Fixture, name: &str) -> Task {
    let (project, name) = (fixture.project, name.parse().unwrap());
    read(&mut *fixture.store, |tx| tasks::named(tx, project, &name)).unwrap()
}

pub(super) fn state(fixture: &mut Fixture, name: &str) -> Phase {
    let task = named(fixture, name);
    let now = read(&mut *fixture.store, |tx| Ok(tx.now.clone())).unwrap();
    task.phase(&View::at(&now.moment))
}

pub(super) fn states(fixture: &mut Fixture) -> [Phase; 5] {
    ["b.first", "b.other", "b.last", "merge", "announce"].map(|name| state(fixture, name))
}

pub(super) fn now_of(fixture: &mut Fixture, batch: &Batch) -> Batch {
    read(&mut *fixture.store, |tx| batches::get(tx, batch.id)).unwrap()
}

fn readied(fixture: &mut Fixture, batch: &Batch) -> usize {
    let stream = StreamId::Batch(batch.id);
    let history = read(&mut *fixture.store, |tx| {
        events::history(tx, stream, u64::MAX)
    })
    .unwrap();
    let is_ready = |event: &Event| *event == Event::Batch(BatchEvent::FanInReady);
    history.iter().filter(|it| is_ready(&it.event)).count()
}

#[track_caller]
fn finish(fixture: &mut Fixture, name: &str) {
    let claimed = fixture.claim().unwrap();
    assert_eq!(claimed.spec.name.as_str(), name);
    fixture.complete(&claimed).unwrap();
}

fn fail(fixture: &mut Fixture, name: &str) {
    let task = named(fixture, name);
    let reason = "no".parse().unwrap();
    let fence = None;
    fixture
        .tell(&task, Command::Fail { fence, reason })
        .unwrap();
}

#[track_caller]
fn audited(fixture: &mut Fixture) {
    assert_eq!(fixture.audit().faults, []);
}

fn a_batch_is_opened_whole_or_not_at_all(fixture: &mut Fixture) {
    let taken = fixture.add(spec("b.last"));
    let change = opening(THREE, fixture);
    let refused = fixture.submit(change.clone());
    assert!(
        matches!(&refused, Err(StoreError::NameTaken { name, .. }) if name.as_str() == "b.last"),
        "{refused:?}"
    );
    let project = fixture.project;
    let none = read(&mut *fixture.store, |tx| {
        batches::page(tx, project, None, 9)
    })
    .unwrap();
    assert_eq!(none, []);
    fixture
        .tell(&taken, Command::Cancel { reason: None })
        .unwrap();
    fixture.submit(change).unwrap();
    use Phase::{Queued, Waiting};
    assert_eq!(states(fixture), [Queued, Queued, Waiting, Waiting, Waiting]);
    let again = opening(THREE, fixture);
    let refused = fixture.submit(again);
    assert!(
        matches!(refused, Err(StoreError::BatchNameTaken { .. })),
        "{refused:?}"
    );
    audited(fixture);
}

fn opening_again_with_the_same_key_opens_nothing_new(fixture: &mut Fixture) {
    let first = request(opening(THREE, fixture));
    let opened = submit(&mut *fixture.store, &first).unwrap().answer;
    let mut second = request(opening(THREE, fixture));
    second.key = first.key;
    let repeated = submit(&mut *fixture.store, &second).unwrap();
    assert_eq!((repeated.answer, repeated.is_repeat), (opened, true));
}

fn the_fan_in_waits_for_the_end_of_every_part(fixture: &mut Fixture) {
    let batch = open(fixture);
    finish(fixture, "b.first");
    finish(fixture, "b.other");
    assert_eq!(now_of(fixture, &batch).state, BatchState::Open);
    finish(fixture, "b.last");
    assert!(matches!(
        now_of(fixture, &batch).state,
        BatchState::FanIn { .. }
    ));
    finish(fixture, "merge");
    let ended = now_of(fixture, &batch).state;
    assert!(
        matches!(
            ended,
            BatchState::Ended {
                ending: Ending::Done,
                ..
            }
        ),
        "{ended:?}"
    );
    finish(fixture, "announce");
    let refused = ask(fixture, &batch, BatchCommand::Cancel { reason: None });
    assert!(matches!(
        refused,
        Err(StoreError::BatchRefused {
            refusal: BatchRefusal::Done,
            ..
        })
    ));
    audited(fixture);
}

/// Each of these ends its part from a process of its own, and says so twice.
fn racing_finishers_make_one_fan_in_ready(fixture: &mut Fixture) {
    let parts: String = (0..6)
        .map(|it| {
            format!("[[sub_tasks]]\nid = \"p{it}\"\nbrief = \"x\"\nfile_ownership = [\"d{it}/\"]\n")
        })
        .collect();
    for round in 0..3 {
        let head =
            format!("schema_version = 2\nbatch_id = \"r{round}\"\nfan_in_task = \"m{round}\"\n");
        let change = opening(&format!("{head}{parts}"), fixture);
        let batch = fixture.submit(change).unwrap().answer.into_batch().unwrap();
        let claimed: Vec<_> = (0..6).map(|_| fixture.claim().unwrap()).collect();
        let door = fixture.door();
        std::thread::scope(|scope| {
            for task in &claimed {
                let door: Door = door.clone();
                scope.spawn(move || {
                    let mut store = door.open();
                    let first = request(tell(task, complete(task.fence)));
                    submit(&mut *store, &first).unwrap();
                    assert!(submit(&mut *store, &first).unwrap().is_repeat);
                    let again = request(tell(task, complete(task.fence)));
                    submit(&mut *store, &again).unwrap_err();
                });
            }
        });
        assert_eq!(readied(fixture, &batch), 1);
        let merge = fixture.claim().unwrap();
        assert_eq!(merge.id, batch.spec.fan_in);
        assert_eq!(fixture.claim(), None);
        fixture.complete(&merge).unwrap();
    }
    audited(fixture);
}

fn a_late_or_repeated_report_changes_nothing(fixture: &mut Fixture) {
    let batch = open(fixture);
    let late = fixture.claim().unwrap();
    fixture.pass(TTL * 2);
    finish(fixture, "b.first");
    finish(fixture, "b.other");
    finish(fixture, "b.last");
    let refused = fixture.complete(&late);
    assert!(
        matches!(
            &refused,
            Err(StoreError::Refused {
                refusal: Refusal::LeaseLost { .. },
                ..
            })
        ),
        "{refused:?}"
    );
    assert_eq!(readied(fixture, &batch), 1);
    audited(fixture);
}

fn a_part_that_needs_one_that_failed_does_not_keep_the_fan_in_waiting(fixture: &mut Fixture) {
    let batch = open(fixture);
    fail(fixture, "b.first");
    use Phase::{Blocked, Done, Failed, Queued, Waiting};
    assert_eq!(states(fixture), [Failed, Queued, Blocked, Waiting, Waiting]);
    let TaskState::Blocked { reason, .. } = named(fixture, "b.last").state else {
        panic!("it is not blocked");
    };
    assert_eq!(reason.as_str(), "it needs `b.first`, which is failed");
    finish(fixture, "b.other");
    assert_eq!(states(fixture), [Failed, Done, Blocked, Queued, Waiting]);
    assert_eq!(readied(fixture, &batch), 1);
    // Opening only the one that needs it would wait for ever.
    let last = named(fixture, "b.last");
    fixture.tell(&last, Command::Retry).unwrap();
    assert_eq!(states(fixture), [Failed, Done, Blocked, Queued, Waiting]);
    audited(fixture);
}

fn a_held_batch_hands_out_none_of_its_parts(fixture: &mut Fixture) {
    let batch = open(fixture);
    fixture.add(spec("ordinary"));
    let scope = HoldScope::Batch(batch.id);
    let reason = None;
    fixture.submit(Change::Hold { scope, reason }).unwrap();
    finish(fixture, "ordinary");
    assert_eq!(fixture.claim(), None);
    fixture.submit(Change::Unhold { scope }).unwrap();
    finish(fixture, "b.first");
}

fn a_cancelled_batch_ends_everything_in_it(fixture: &mut Fixture) {
    let batch = open(fixture);
    finish(fixture, "b.first");
    let at_work = fixture.claim().unwrap();
    let reason = Some("not now".parse().unwrap());
    let cancelled = ask(fixture, &batch, BatchCommand::Cancel { reason }).unwrap();
    assert!(matches!(cancelled.state, BatchState::Cancelled { .. }));
    use Phase::{Cancelled, Done};
    assert_eq!(
        states(fixture),
        [Done, Cancelled, Cancelled, Cancelled, Cancelled]
    );
    assert!(fixture.complete(&at_work).is_err());
    assert_eq!((readied(fixture, &batch), fixture.claim()), (0, None));
    let reopened = ask(fixture, &batch, retry()).unwrap();
    assert_eq!(reopened.state, BatchState::Open);
    use Phase::{Queued, Waiting};
    assert_eq!(states(fixture), [Done, Queued, Queued, Waiting, Waiting]);
    audited(fixture);
}

fn what_waits_in_a_cancelled_batch_is_called_off_and_asks_for_nobody(fixture: &mut Fixture) {
    let batch = open(fixture);
    ask(fixture, &batch, BatchCommand::Cancel { reason: None }).unwrap();
    assert_eq!(states(fixture), [Phase::Cancelled; 5]);
    audited(fixture);
}

fn a_batch_is_handed_out_again_with_all_that_its_pause_holds(fixture: &mut Fixture) {
    let batch = open(fixture);
    let scope = HoldScope::Batch(batch.id);
    let [whole, part, alone] = [(); 3].map(|()| PackageId::from_uuid(uuid()));
    let package = whole;
    fixture.submit(Change::Pause { scope, package }).unwrap();
    for (name, package, whole) in [("b.first", part, Some(whole)), ("b.other", alone, None)] {
        let task = TaskRef::Id(named(fixture, name).id);
        let command = Command::Pause { package, whole };
        fixture.submit(Change::Tell { task, command }).unwrap();
    }
    fixture.submit(Change::Unhold { scope }).unwrap();
    let pauses = ["b.first", "b.other"].map(|name| {
        let hold = named(fixture, name).hold;
        hold.and_then(|it| it.pause)
    });
    assert_eq!(pauses, [None, Some(alone)], "that one was paused by itself");
    audited(fixture);
}

fn a_retried_batch_goes_on_and_comes_to_its_fan_in_again(fixture: &mut Fixture) {
    let batch = open(fixture);
    fail(fixture, "b.first");
    finish(fixture, "b.other");
    let first = || vec!["first".parse().unwrap()];
    let retried = ask(fixture, &batch, BatchCommand::Retry { parts: first() }).unwrap();
    assert_eq!(retried.state, BatchState::Open);
    use Phase::{Done, Queued, Waiting};
    assert_eq!(states(fixture), [Queued, Done, Waiting, Waiting, Waiting]);
    finish(fixture, "b.first");
    finish(fixture, "b.last");
    fail(fixture, "merge");
    assert_eq!(readied(fixture, &batch), 2);
    let (before, named) = (states(fixture), BatchCommand::Retry { parts: first() });
    let refused = ask(fixture, &batch, named).unwrap_err().to_string();
    assert!(refused.contains("`first` has not ended"), "{refused}");
    assert_eq!(states(fixture), before);
    let retried = ask(fixture, &batch, retry()).unwrap();
    assert!(
        matches!(retried.state, BatchState::FanIn { .. }),
        "{retried:?}"
    );
    finish(fixture, "merge");
    let stranger = BatchCommand::Retry {
        parts: vec!["x".parse().unwrap()],
    };
    assert!(ask(fixture, &batch, stranger).is_err());
    audited(fixture);
}

fn no_part_is_opened_again_under_a_fan_in_at_work(fixture: &mut Fixture) {
    let batch = open(fixture);
    fail(fixture, "b.first");
    finish(fixture, "b.other");
    let merge = fixture.claim().unwrap();
    let part = named(fixture, "b.first");
    let refused = fixture.tell(&part, Command::Retry);
    assert!(
        matches!(
            &refused,
            Err(StoreError::Refused {
                refusal: Refusal::Gathering { .. },
                ..
            })
        ),
        "{refused:?}"
    );
    let refused = ask(fixture, &batch, retry());
    assert!(
        matches!(
            &refused,
            Err(StoreError::BatchRefused {
                refusal: BatchRefusal::Gathering(_),
                ..
            })
        ),
        "{refused:?}"
    );
    assert_eq!(state(fixture, "b.first"), Phase::Failed);
    fixture.complete(&merge).unwrap();
    audited(fixture);
}

fn parts_that_want_the_same_paths_run_one_after_the_other(fixture: &mut Fixture) {
    let text = "schema_version = 2\nbatch_id = \"s\"\nfan_in_task = \"m\"\noverlap = \"serialise\"\n\
        [[sub_tasks]]\nid = \"one\"\nbrief = \"x\"\nfile_ownership = [\"a/\"]\n\
        [[sub_tasks]]\nid = \"two\"\nbrief = \"x\"\nfile_ownership = [\"a/x\"]\n";
    let change = opening(text, fixture);
    fixture.submit(change).unwrap();
    let one = fixture.claim().unwrap();
    assert_eq!(fixture.claim(), None);
    fixture.complete(&one).unwrap();
    finish(fixture, "s.two");
}

fn a_batch_is_found_by_name_and_listed_newest_first(fixture: &mut Fixture) {
    let first = open(fixture);
    ask(fixture, &first, BatchCommand::Cancel { reason: None }).unwrap();
    fixture.pass(std::time::Duration::from_millis(5));
    let second = open(fixture);
    let project = fixture.project;
    let found = read(&mut *fixture.store, |tx| {
        let named = batches::named(tx, project, &second.spec.name)?;
        let page = batches::page(tx, project, None, 1)?;
        let rest = batches::page(tx, project, page.first(), 9)?;
        Ok((
            named.id,
            page[0].id,
            rest[0].id,
            tasks::of_batch(tx, second.id)?.len(),
        ))
    });
    assert_eq!(found.unwrap(), (second.id, second.id, first.id, 4));
}
