//! What happened to a feature is written down once, in order, and the row follows.

use handoff_core::feature::Mark;
use handoff_core::{FeatureEvent, FeatureId, FeatureRecord, TreeState};
use handoff_store::queue::{Answer, Change, submit};
use handoff_store::{StoreError, features, read};

use super::on_both_stores;
use crate::fixture::{Fixture, request, uuid};

on_both_stores! {
    the_first_record_begins_the_feature,
    an_archived_name_is_free_for_another_feature,
    a_repeated_record_is_written_once,
    a_sub_task_may_not_write,
    eight_writers_at_once_lose_nothing,
}

fn recording(fixture: &Fixture, event: FeatureEvent) -> Change {
    Change::Record {
        id: FeatureId::from_uuid(uuid()),
        project: fixture.project,
        name: "login".parse().unwrap(),
        event,
    }
}

fn finished(step: &str) -> FeatureEvent {
    let tree = TreeState {
        branch: None,
        commit: None,
        dirty: None,
    };
    FeatureEvent::StepFinished {
        step: step.parse().unwrap(),
        mark: Mark { tree, plan: None },
    }
}

fn known(fixture: &mut Fixture) -> Option<FeatureRecord> {
    let (project, name) = (fixture.project, "login".parse().unwrap());
    read(&mut *fixture.store, |tx| {
        features::named(tx, project, &name)
    })
    .unwrap()
}

fn the_first_record_begins_the_feature(fixture: &mut Fixture) {
    assert_eq!(known(fixture), None);
    let receipt = fixture.submit(recording(fixture, finished("one"))).unwrap();
    let record = known(fixture).unwrap();
    assert_eq!(receipt.answer, Answer::Feature(Box::new(record.clone())));
    assert_eq!((record.version, record.finished.len()), (2, 1));
    let audit = fixture.audit();
    assert_eq!((audit.features, audit.events, audit.faults), (1, 2, vec![]));
}

fn an_archived_name_is_free_for_another_feature(fixture: &mut Fixture) {
    fixture.submit(recording(fixture, finished("one"))).unwrap();
    let first = known(fixture).unwrap();
    fixture
        .submit(recording(fixture, FeatureEvent::Archived))
        .unwrap();
    assert_eq!(known(fixture), None);
    fixture.submit(recording(fixture, finished("two"))).unwrap();
    let second = known(fixture).unwrap();
    assert_ne!(first.id, second.id);
    assert_eq!(second.finished.len(), 1);
    assert_eq!(fixture.audit().faults, []);
}

fn a_repeated_record_is_written_once(fixture: &mut Fixture) {
    let request = request(recording(fixture, finished("one")));
    let first = submit(&mut *fixture.store, &request).unwrap();
    fixture.submit(recording(fixture, finished("two"))).unwrap();
    let again = submit(&mut *fixture.store, &request).unwrap();
    assert!(again.is_repeat);
    assert_eq!(first.answer, again.answer);
    assert_eq!(known(fixture).unwrap().finished.len(), 2);
}

fn a_sub_task_may_not_write(fixture: &mut Fixture) {
    let mut request = request(recording(fixture, finished("one")));
    request.by = handoff_core::Caller::Session {
        session: handoff_core::SessionId::from_uuid(uuid()),
        role: handoff_core::Role::SubTask,
        task: None,
    };
    let refused = submit(&mut *fixture.store, &request);
    assert!(matches!(refused, Err(StoreError::Forbidden(_))));
    assert_eq!(known(fixture), None);
}

fn eight_writers_at_once_lose_nothing(fixture: &mut Fixture) {
    let door = fixture.door();
    let changes: Vec<_> = (0..8)
        .map(|n| recording(fixture, finished(&format!("step {n}"))))
        .collect();
    std::thread::scope(|scope| {
        for change in changes {
            let door = &door;
            scope.spawn(move || submit(&mut *door.open(), &request(change)).unwrap());
        }
    });
    assert_eq!(known(fixture).unwrap().finished.len(), 8);
    let audit = fixture.audit();
    assert_eq!((audit.features, audit.events, audit.faults), (1, 9, vec![]));
}
