//! A context is written key by key, by whoever saw the version that is there.

use handoff_core::context::{ContextCommand, ContextPattern, ContextRefusal, Expected, Writing};
use handoff_core::{Caller, ContextKey, ContextScope, JsonText, Role, SessionId, TaskId};
use handoff_store::queue::{Answer, Change, submit};
use handoff_store::{StoreError, contexts, read};

use super::on_both_stores;
use crate::fixture::{Fixture, request, uuid};

on_both_stores! {
    a_value_is_kept_as_it_was_written,
    a_change_of_another_version_is_refused,
    a_version_is_never_used_again,
    a_repeated_change_is_made_once,
    eight_writers_of_one_key_take_turns,
    a_sub_task_writes_into_its_own_task_only,
}

fn key(text: &str) -> ContextKey {
    text.parse().unwrap()
}

fn scope(fixture: &Fixture) -> ContextScope {
    ContextScope::Project(fixture.project)
}

fn setting(fixture: &Fixture, name: &str, value: &str, expected: Expected) -> Change {
    let writing = Writing {
        key: key(name),
        value: JsonText::parse(value).unwrap(),
        source: Some("test".parse().unwrap()),
        tags: vec!["a".parse().unwrap()],
    };
    changing(fixture, ContextCommand::Set { writing, expected })
}

fn changing(fixture: &Fixture, command: ContextCommand) -> Change {
    Change::Context {
        project: fixture.project,
        scope: scope(fixture),
        command,
    }
}

fn set(fixture: &mut Fixture, name: &str, value: &str) -> u64 {
    let change = setting(fixture, name, value, Expected::Anything);
    let Answer::Context { version, .. } = fixture.submit(change).unwrap().answer else {
        panic!("the answer is not about a context")
    };
    version
}

fn value(fixture: &mut Fixture, name: &str) -> Option<(u64, String)> {
    let (scope, key) = (scope(fixture), key(name));
    let found = read(&mut *fixture.store, |tx| contexts::get(tx, scope, &key)).unwrap();
    found.map(|(version, entry)| (version, entry.value.to_string()))
}

fn a_value_is_kept_as_it_was_written(fixture: &mut Fixture) {
    let exact = r#"{"n": 123456789012345678901234567890, "x": 1.0}"#;
    set(fixture, "phase.a", exact);
    set(fixture, "phase.b", "2");
    set(fixture, "other", "\"ü\"");
    assert_eq!(value(fixture, "phase.a"), Some((1, exact.to_owned())));
    let (scope, pattern) = (scope(fixture), "phase.*".parse::<ContextPattern>().unwrap());
    let found = read(&mut *fixture.store, |tx| {
        contexts::matching(tx, scope, Some(&pattern))
    });
    let keys: Vec<_> = found.unwrap().into_keys().collect();
    assert_eq!(keys, [key("phase.a"), key("phase.b")]);
    assert_eq!(set(fixture, "phase.b", "2"), 2, "it was so already");
    let audit = fixture.audit();
    assert_eq!((audit.contexts, audit.events, audit.faults), (1, 3, vec![]));
}

fn a_change_of_another_version_is_refused(fixture: &mut Fixture) {
    let first = setting(fixture, "a", "1", Expected::Nothing);
    fixture.submit(first).unwrap();
    let late = setting(fixture, "a", "2", Expected::Nothing);
    let refused = fixture.submit(late);
    assert!(matches!(
        refused,
        Err(StoreError::ContextRefused {
            refusal: ContextRefusal::Changed { found: Some(1), .. },
            ..
        })
    ));
    let informed = setting(fixture, "a", "2", Expected::Version(1));
    fixture.submit(informed).unwrap();
    assert_eq!(value(fixture, "a"), Some((2, "2".to_owned())));
}

fn a_version_is_never_used_again(fixture: &mut Fixture) {
    set(fixture, "a", "1");
    let remove = ContextCommand::Remove {
        key: key("a"),
        expected: Expected::Version(1),
    };
    let change = changing(fixture, remove);
    fixture.submit(change.clone()).unwrap();
    assert_eq!(value(fixture, "a"), None);
    assert!(matches!(
        fixture.submit(change),
        Err(StoreError::ContextRefused { .. })
    ));
    assert_eq!(set(fixture, "a", "1"), 3);
    assert_eq!(fixture.audit().faults, []);
}

fn a_repeated_change_is_made_once(fixture: &mut Fixture) {
    let change = request(setting(fixture, "a", "1", Expected::Nothing));
    let first = submit(&mut *fixture.store, &change).unwrap();
    set(fixture, "a", "2");
    let again = submit(&mut *fixture.store, &change).unwrap();
    assert!(again.is_repeat);
    assert_eq!(first.answer, again.answer);
    assert_eq!(value(fixture, "a"), Some((2, "2".to_owned())));
}

fn eight_writers_of_one_key_take_turns(fixture: &mut Fixture) {
    let door = fixture.door();
    let changes: Vec<_> = (0..8)
        .map(|n| setting(fixture, "a", &n.to_string(), Expected::Anything))
        .collect();
    std::thread::scope(|scope| {
        for change in changes {
            let door = &door;
            scope.spawn(move || submit(&mut *door.open(), &request(change)).unwrap());
        }
    });
    let audit = fixture.audit();
    assert_eq!((audit.contexts, audit.events, audit.faults), (1, 8, vec![]));
}

fn a_sub_task_writes_into_its_own_task_only(fixture: &mut Fixture) {
    let own = TaskId::from_uuid(uuid());
    let by = Caller::Session {
        session: SessionId::from_uuid(uuid()),
        role: Role::SubTask,
        task: Some(own),
    };
    let allowed = |fixture: &mut Fixture, scope| {
        let Change::Context { command, .. } = setting(fixture, "a", "1", Expected::Anything) else {
            unreachable!("it is about a context")
        };
        let project = fixture.project;
        let mut asked = request(Change::Context {
            project,
            scope,
            command,
        });
        asked.by = by.clone();
        submit(&mut *fixture.store, &asked).is_ok()
    };
    assert!(allowed(fixture, ContextScope::Task(own)));
    let foreign = ContextScope::Task(TaskId::from_uuid(uuid()));
    assert!(!allowed(fixture, foreign));
    let project = scope(fixture);
    assert!(!allowed(fixture, project));
}
