//! Repeating a request is harmless.

use std::collections::BTreeSet;
use std::sync::{Arc, Barrier};

use handoff_core::task::Command;
use handoff_core::{HoldScope, TaskId};
use handoff_store::StoreError;
use handoff_store::queue::{Answer, Change, Receipt, Request, rehearse, submit};

use super::on_both_stores;
use crate::fixture::{Fixture, claim_next, request, spec, task_of, tell};

on_both_stores! {
    a_repeated_request_gets_the_first_answer,
    a_repeated_claim_gets_the_same_lease_while_others_are_ready,
    a_repeated_claim_gets_its_lease_when_nothing_else_is_ready,
    a_repeat_that_would_change_nothing_still_knows_its_key,
    a_key_stands_for_one_request_only,
    a_repeat_answers_with_the_state_right_after_the_act,
    fifty_at_once_with_one_key_add_one_task,
    many_at_once_with_one_key_claim_the_last_task,
    a_rehearsal_is_answered_as_the_act_would_be_and_undone,
}

fn a_rehearsal_is_answered_as_the_act_would_be_and_undone(fixture: &mut Fixture) {
    let add = request(fixture.adding(spec("one")));
    let rehearsed = rehearse(&mut *fixture.store, &add).unwrap();
    assert_eq!(fixture.audit().tasks, 0);
    let added = submit(&mut *fixture.store, &add).unwrap();
    let spec_of = |receipt: Receipt| receipt.answer.into_task().unwrap().spec;
    assert_eq!(spec_of(rehearsed), spec_of(added));
    let repeated = rehearse(&mut *fixture.store, &add).unwrap();
    assert!(repeated.is_repeat);
    let other = request(fixture.adding(spec("one")));
    let refused = rehearse(&mut *fixture.store, &other).unwrap_err();
    assert!(matches!(refused, StoreError::NameTaken { .. }), "{refused}");
    let reused = Request {
        change: fixture.adding(spec("two")),
        ..add
    };
    let refused = rehearse(&mut *fixture.store, &reused).unwrap_err();
    assert!(matches!(refused, StoreError::KeyReused { .. }), "{refused}");
    assert_eq!(fixture.audit().tasks, 1);
}

fn a_repeated_request_gets_the_first_answer(fixture: &mut Fixture) {
    let add = request(fixture.adding(spec("one")));
    let first = submit(&mut *fixture.store, &add).unwrap();
    let again = Request {
        change: fixture.adding(spec("one")),
        ..add
    };
    let second = submit(&mut *fixture.again(), &again).unwrap();
    assert_eq!((first.is_repeat, second.is_repeat), (false, true));
    assert_eq!(second.answer, first.answer);
    assert_eq!(fixture.audit().tasks, 1);
}

fn a_repeated_claim_gets_the_same_lease_while_others_are_ready(fixture: &mut Fixture) {
    fixture.add(spec("one"));
    fixture.add(spec("two"));
    let claim = request(fixture.claiming());
    let first = submit(&mut *fixture.store, &claim).unwrap();
    let second = submit(&mut *fixture.store, &claim).unwrap();
    assert_eq!(second.answer, first.answer);
    assert_eq!(fixture.claim().unwrap().spec.name.as_str(), "two");
}

/// The answer to the first claim was lost; the queue has been empty since.
fn a_repeated_claim_gets_its_lease_when_nothing_else_is_ready(fixture: &mut Fixture) {
    fixture.add(spec("one"));
    let claim = request(fixture.claiming());
    let first = submit(&mut *fixture.store, &claim).unwrap();
    let second = submit(&mut *fixture.store, &claim).unwrap();
    assert!(second.is_repeat);
    assert_eq!(second.answer, first.answer);
}

fn a_repeat_that_would_change_nothing_still_knows_its_key(fixture: &mut Fixture) {
    let hold = request(Change::Hold {
        scope: HoldScope::Everything,
        reason: None,
    });
    submit(&mut *fixture.store, &hold).unwrap();
    assert!(submit(&mut *fixture.store, &hold).unwrap().is_repeat);
    let other = Request {
        change: Change::Hold {
            scope: HoldScope::Project(fixture.project),
            reason: None,
        },
        ..hold
    };
    let reused = submit(&mut *fixture.store, &other);
    assert!(
        matches!(reused, Err(StoreError::KeyReused { .. })),
        "{reused:?}"
    );
}

fn a_key_stands_for_one_request_only(fixture: &mut Fixture) {
    let add = request(fixture.adding(spec("one")));
    submit(&mut *fixture.store, &add).unwrap();
    let other = Request {
        change: fixture.adding(spec("two")),
        ..add
    };
    let refused = submit(&mut *fixture.store, &other);
    assert!(
        matches!(refused, Err(StoreError::KeyReused { .. })),
        "{refused:?}"
    );
    assert_eq!(fixture.audit().tasks, 1);
}

fn a_repeat_answers_with_the_state_right_after_the_act(fixture: &mut Fixture) {
    let task = fixture.add(spec("one"));
    let hold = request(tell(&task, Command::Hold { reason: None }));
    let held = submit(&mut *fixture.store, &hold).unwrap();
    fixture.tell(&task, Command::Unhold).unwrap();
    let claimed = fixture.claim().unwrap();
    fixture.complete(&claimed).unwrap();
    let repeat = submit(&mut *fixture.store, &hold).unwrap();
    assert!(repeat.is_repeat);
    assert_eq!(task_of(repeat), task_of(held));

    let scope = HoldScope::Everything;
    let hold = request(Change::Hold {
        scope,
        reason: None,
    });
    let held = submit(&mut *fixture.store, &hold).unwrap();
    fixture.submit(Change::Unhold { scope }).unwrap();
    let repeat = submit(&mut *fixture.store, &hold).unwrap();
    assert_eq!((repeat.is_repeat, repeat.answer), (true, held.answer));
}

fn fifty_at_once_with_one_key_add_one_task(fixture: &mut Fixture) {
    let add = request(fixture.adding(spec("one")));
    let ids = at_once(50, fixture, &add, || fixture.adding(spec("one")));
    assert_eq!(ids.len(), 1);
    assert_eq!((fixture.audit().tasks, fixture.audit().events), (1, 1));
    let answer = fixture.submit(claim_next(fixture.project)).unwrap().answer;
    assert!(matches!(answer, Answer::Task(task) if task.id == ids[0]));
}

/// Nobody is told that nothing is ready while the first one has the task and has not committed.
fn many_at_once_with_one_key_claim_the_last_task(fixture: &mut Fixture) {
    for round in 0..5 {
        let last = fixture.add(spec(&format!("last-{round}")));
        let claim = request(fixture.claiming());
        let ids = at_once(12, fixture, &claim, || fixture.claiming());
        assert_eq!(ids, [last.id]);
        fixture
            .tell(&last, Command::Cancel { reason: None })
            .unwrap();
    }
}

/// The tasks that so many callers get who carry the key of `first` and ask at the same moment, each once.
fn at_once(
    count: usize,
    fixture: &Fixture,
    first: &Request,
    change: impl Fn() -> Change,
) -> Vec<TaskId> {
    let start = Arc::new(Barrier::new(count));
    let ask = |_| {
        let (door, start) = (fixture.door(), Arc::clone(&start));
        let request = Request {
            change: change(),
            by: first.by.clone(),
            key: first.key.clone(),
        };
        std::thread::spawn(move || {
            let mut store = door.open();
            start.wait();
            task_of(submit(&mut *store, &request).unwrap()).id
        })
    };
    let callers: Vec<_> = (0..count).map(ask).collect();
    let ids: BTreeSet<_> = callers
        .into_iter()
        .map(|caller| caller.join().unwrap())
        .collect();
    ids.into_iter().collect()
}
