//! Order, endings, dependencies, names.

use std::time::Duration;

use handoff_core::task::{Command, Dependency, Phase, Priority, Refusal, TaskSpec, Until};
use handoff_core::{Caller, Fence, Role, SessionId, TaskState};
use handoff_store::queue::{Request, submit};
use handoff_store::tasks::{self, Census, Which};
use handoff_store::{Ring, StoreError, read};

use super::on_both_stores;
use crate::fixture::{Fixture, after, request, spec, task_of, uuid};

on_both_stores! {
    a_claimed_task_is_leased_with_the_first_fence,
    higher_priority_goes_first_and_equals_go_in_order,
    an_empty_queue_has_nothing_ready,
    a_done_task_stays_done,
    a_released_task_is_ready_again,
    a_failed_task_can_be_retried,
    a_cancelled_task_takes_the_lease_of_its_owner,
    a_live_name_is_taken_and_an_ended_one_is_free,
    retrying_a_task_whose_name_was_taken_since_is_refused,
    a_task_waits_until_another_is_done,
    a_fan_in_also_hears_of_failures,
    a_dependency_that_ended_before_is_not_waited_for,
    an_unknown_dependency_is_refused_and_adds_nothing,
    a_session_may_not_claim,
    a_session_may_block_its_task_but_not_complete_it,
    pages_follow_each_other,
    what_has_not_ended_is_counted_and_what_went_wrong_is_found,
    eight_claimers_get_each_task_once,
}

fn a_claimed_task_is_leased_with_the_first_fence(fixture: &mut Fixture) {
    let added = fixture.add(spec("one"));
    assert_eq!(added.state, TaskState::Queued);
    let claimed = fixture.claim().unwrap();
    assert_eq!((claimed.id, claimed.fence), (added.id, Fence::new(1)));
    assert_eq!(claimed.state.lease().unwrap().owner, Caller::Person);
    assert_eq!(fixture.claim(), None);
}

fn higher_priority_goes_first_and_equals_go_in_order(fixture: &mut Fixture) {
    for (name, level) in [("a", 0), ("b", 5), ("c", 0), ("d", -3), ("e", 5)] {
        fixture.add(TaskSpec {
            priority: Priority::new(level),
            ..spec(name)
        });
    }
    let order: Vec<_> = std::iter::from_fn(|| fixture.claim())
        .map(|task| task.spec.name.to_string())
        .collect();
    assert_eq!(order, ["b", "e", "a", "c", "d"]);
}

fn an_empty_queue_has_nothing_ready(fixture: &mut Fixture) {
    assert_eq!(fixture.claim(), None);
    assert_eq!(fixture.audit().events, 0);
}

fn a_done_task_stays_done(fixture: &mut Fixture) {
    fixture.add(spec("one"));
    let claimed = fixture.claim().unwrap();
    let done = fixture.complete(&claimed).unwrap();
    let cancel = Command::Cancel { reason: None };
    for command in [
        cancel,
        Command::Retry,
        crate::fixture::complete(claimed.fence),
    ] {
        let refused = fixture.tell(&claimed, command);
        assert!(
            matches!(refused, Err(StoreError::Refused { .. })),
            "{refused:?}"
        );
    }
    let row = read(&mut *fixture.store, |tx| tasks::get(tx, done.id)).unwrap();
    assert_eq!(row, done);
}

fn a_released_task_is_ready_again(fixture: &mut Fixture) {
    fixture.add(spec("one"));
    let first = fixture.claim().unwrap();
    fixture
        .tell(
            &first,
            Command::Release {
                fence: first.fence,
                reason: None,
            },
        )
        .unwrap();
    assert_eq!(fixture.claim().unwrap().fence, Fence::new(2));
}

fn a_failed_task_can_be_retried(fixture: &mut Fixture) {
    fixture.add(spec("one"));
    let first = fixture.claim().unwrap();
    let fail = Command::Fail {
        fence: Some(first.fence),
        reason: "broken".parse().unwrap(),
    };
    fixture.tell(&first, fail).unwrap();
    assert_eq!(fixture.claim(), None);
    fixture.tell(&first, Command::Retry).unwrap();
    assert_eq!(fixture.claim().unwrap().fence, Fence::new(2));
}

fn a_cancelled_task_takes_the_lease_of_its_owner(fixture: &mut Fixture) {
    fixture.add(spec("one"));
    let claimed = fixture.claim().unwrap();
    fixture
        .tell(&claimed, Command::Cancel { reason: None })
        .unwrap();
    let late = fixture.complete(&claimed);
    let ended = Refusal::Ended {
        phase: Phase::Cancelled,
    };
    assert!(
        matches!(&late, Err(StoreError::Refused { refusal, .. }) if *refusal == ended),
        "{late:?}"
    );
}

fn a_live_name_is_taken_and_an_ended_one_is_free(fixture: &mut Fixture) {
    let first = fixture.add(spec("one"));
    let again = fixture.adding(spec("one"));
    let taken = fixture.submit(again.clone());
    assert!(
        matches!(&taken, Err(StoreError::NameTaken { task, .. }) if *task == first.id),
        "{taken:?}"
    );
    let claimed = fixture.claim().unwrap();
    fixture.complete(&claimed).unwrap();
    let second = task_of(fixture.submit(again).unwrap());
    let project = fixture.project;
    let found = read(&mut *fixture.store, |tx| {
        tasks::named(tx, project, &second.spec.name)
    })
    .unwrap();
    assert_eq!(found.id, second.id);
}

fn retrying_a_task_whose_name_was_taken_since_is_refused(fixture: &mut Fixture) {
    let first = fixture.add(spec("one"));
    fixture
        .tell(&first, Command::Cancel { reason: None })
        .unwrap();
    let second = fixture.add(spec("one"));
    let retried = fixture.tell(&first, Command::Retry);
    assert!(
        matches!(&retried, Err(StoreError::NameTaken { task, .. }) if *task == second.id),
        "{retried:?}"
    );
}

fn a_task_waits_until_another_is_done(fixture: &mut Fixture) {
    let first = fixture.add(spec("first"));
    let waiting = fixture.add(after(
        "second",
        vec![Dependency {
            task: first.id,
            until: Until::Done,
        }],
    ));
    assert_eq!(waiting.state, TaskState::Waiting);
    let claimed = fixture.claim().unwrap();
    let fail = Command::Fail {
        fence: Some(claimed.fence),
        reason: "no".parse().unwrap(),
    };
    fixture.tell(&claimed, fail).unwrap();
    assert_eq!(fixture.claim(), None);
    fixture.tell(&claimed, Command::Retry).unwrap();
    let claimed = fixture.claim().unwrap();
    fixture.complete(&claimed).unwrap();
    assert_eq!(fixture.claim().unwrap().id, waiting.id);
}

fn a_fan_in_also_hears_of_failures(fixture: &mut Fixture) {
    let parts = [fixture.add(spec("a")), fixture.add(spec("b"))];
    let on = parts
        .iter()
        .map(|part| Dependency {
            task: part.id,
            until: Until::Ended,
        })
        .collect();
    let fan_in = fixture.add(after("fan-in", on));
    let block = Command::Block {
        fence: None,
        reason: "stuck".parse().unwrap(),
    };
    fixture.tell(&parts[0], block).unwrap();
    assert_eq!(fixture.claim().unwrap().id, parts[1].id);
    fixture
        .tell(&parts[1], Command::Cancel { reason: None })
        .unwrap();
    assert_eq!(fixture.claim().unwrap().id, fan_in.id);
    assert_eq!(fixture.audit().faults, []);
}

fn a_dependency_that_ended_before_is_not_waited_for(fixture: &mut Fixture) {
    fixture.add(spec("first"));
    let first = fixture.claim().unwrap();
    fixture.complete(&first).unwrap();
    let second = fixture.add(after(
        "second",
        vec![Dependency {
            task: first.id,
            until: Until::Done,
        }],
    ));
    assert_eq!(
        (second.state.clone(), second.version),
        (TaskState::Queued, 2)
    );
    assert_eq!(fixture.audit().faults, []);
}

fn an_unknown_dependency_is_refused_and_adds_nothing(fixture: &mut Fixture) {
    let ghost = Dependency {
        task: handoff_core::TaskId::from_uuid(uuid()),
        until: Until::Done,
    };
    let change = fixture.adding(after("x", vec![ghost]));
    let refused = fixture.submit(change);
    assert!(
        matches!(refused, Err(StoreError::NotFound { .. })),
        "{refused:?}"
    );
    assert_eq!(fixture.audit().events, 0);
}

fn a_session_may_not_claim(fixture: &mut Fixture) {
    fixture.add(spec("one"));
    let session = SessionId::from_uuid(uuid());
    let by = Caller::Session {
        session,
        role: Role::Main,
        task: None,
    };
    let claim = Request {
        by,
        ..request(fixture.claiming())
    };
    let refused = submit(&mut *fixture.store, &claim);
    assert!(
        matches!(refused, Err(StoreError::Forbidden(_))),
        "{refused:?}"
    );
}

fn a_session_may_block_its_task_but_not_complete_it(fixture: &mut Fixture) {
    fixture.add(spec("one"));
    let claimed = fixture.claim().unwrap();
    let by = Caller::Session {
        session: SessionId::from_uuid(uuid()),
        role: Role::Main,
        task: Some(claimed.id),
    };
    let told = |command| Request {
        by: by.clone(),
        ..request(crate::fixture::tell(&claimed, command))
    };
    let complete = told(crate::fixture::complete(claimed.fence));
    let refused = submit(&mut *fixture.store, &complete);
    let is_forbidden = |error: &StoreError| {
        matches!(
            error,
            StoreError::Refused {
                refusal: Refusal::Forbidden(_),
                ..
            }
        )
    };
    assert!(refused.as_ref().is_err_and(is_forbidden), "{refused:?}");
    let reason = "who decides?".parse().unwrap();
    let block = told(Command::Block {
        fence: Some(claimed.fence),
        reason,
    });
    submit(&mut *fixture.store, &block).unwrap();
}

fn pages_follow_each_other(fixture: &mut Fixture) {
    for number in 0..7 {
        fixture.add(TaskSpec {
            priority: Priority::new(number % 3),
            ..spec(&format!("t{number}"))
        });
    }
    let done = fixture.claim().unwrap();
    fixture.complete(&done).unwrap();
    let project = fixture.project;
    for (which, expected) in [
        (Which::Open, vec!["t5", "t1", "t4", "t0", "t3", "t6"]),
        (Which::All, vec!["t6", "t5", "t4", "t3", "t2", "t1", "t0"]),
    ] {
        let mut names = vec![];
        let mut last = None;
        loop {
            let page = read(&mut *fixture.store, |tx| {
                tasks::page(tx, project, which, last.as_ref(), 2)
            })
            .unwrap();
            names.extend(page.iter().map(|listed| listed.task.spec.name.to_string()));
            match page.into_iter().last() {
                Some(listed) => last = Some(listed),
                None => break,
            }
        }
        assert_eq!(names, expected, "{which:?}");
    }
}

fn what_has_not_ended_is_counted_and_what_went_wrong_is_found(fixture: &mut Fixture) {
    let project = fixture.project;
    let names = ["done", "failed", "blocked", "at-work", "held", "ready"];
    let [_, _, _, _, held, ready] = names.map(|name| fixture.add(spec(name)));
    fixture.add(after(
        "waiting",
        vec![Dependency {
            task: ready.id,
            until: Until::Done,
        }],
    ));
    fixture.tell(&held, Command::Hold { reason: None }).unwrap();
    let [done, failed, blocked, _] = [(); 4].map(|()| fixture.claim().unwrap());
    fixture.complete(&done).unwrap();
    let reason = || "which paper?".parse().unwrap();
    let fail = Command::Fail {
        fence: Some(failed.fence),
        reason: reason(),
    };
    fixture.tell(&failed, fail).unwrap();
    let block = Command::Block {
        fence: Some(blocked.fence),
        reason: reason(),
    };
    fixture.tell(&blocked, block).unwrap();
    let (all, some, troubled) = read(&mut *fixture.store, |tx| {
        Ok((
            tasks::census(tx, project, 4)?,
            tasks::census(tx, project, 3)?,
            tasks::in_trouble(tx, project, 9)?,
        ))
    })
    .unwrap();
    let one_each = Census {
        waiting: 1,
        queued: 1,
        held: 1,
        at_work: 1,
        has_more: false,
    };
    assert_eq!((all, some.has_more), (one_each, true));
    let troubled: Vec<_> = troubled.iter().map(|it| it.id).collect();
    assert_eq!(troubled, [blocked.id, failed.id]);
}

fn eight_claimers_get_each_task_once(fixture: &mut Fixture) {
    const TASKS: usize = 40;
    for number in 0..TASKS {
        fixture.add(spec(&format!("t{number}")));
    }
    let (door, project) = (fixture.door(), fixture.project);
    let claimers: Vec<_> = (0..8)
        .map(|_| {
            let door = door.clone();
            std::thread::spawn(move || {
                let mut store = door.open();
                let claim = || {
                    let receipt =
                        submit(&mut *store, &request(crate::fixture::claim_next(project)));
                    receipt.unwrap().answer.into_task().map(|task| task.id)
                };
                std::iter::from_fn(claim).collect::<Vec<_>>()
            })
        })
        .collect();
    let mut got: Vec<_> = claimers
        .into_iter()
        .flat_map(|it| it.join().unwrap())
        .collect();
    got.sort_unstable();
    got.dedup();
    assert_eq!(got.len(), TASKS);
    assert_eq!(fixture.audit().events, 2 * TASKS);
}

/// Whoever looks for work when the bell rings would wake itself, and all others, for ever.
#[test]
fn on_a_server_a_look_that_finds_nothing_rings_no_bell() {
    let Some(mut fixture) = Fixture::postgres() else {
        return;
    };
    fixture.add(spec("first"));
    let running = fixture.claim().unwrap();
    let other = fixture.again();
    let mut bell = other.bell().unwrap();
    while bell.wait(Duration::ZERO).unwrap() == Ring::Rung {}
    for _ in 0..3 {
        assert_eq!(fixture.claim(), None);
    }
    let refused = fixture.tell(&running, Command::Retry);
    assert!(refused.is_err());
    assert_eq!(bell.wait(Duration::from_millis(100)).unwrap(), Ring::Silent);
    fixture.complete(&running).unwrap();
    assert_eq!(bell.wait(Duration::from_secs(25)).unwrap(), Ring::Rung);
}
