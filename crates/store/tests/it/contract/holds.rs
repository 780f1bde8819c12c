//! Holds stop the queue and nothing else.

use handoff_core::HoldScope;
use handoff_core::task::{Command, Phase};
use handoff_store::StoreError;
use handoff_store::queue::{Change, TaskRef, TenureWish};

use super::on_both_stores;
use crate::fixture::{Fixture, spec};

on_both_stores! {
    a_held_task_is_passed_over,
    a_held_project_hands_out_nothing_but_lets_work_end,
    holding_everything_holds_this_project_too,
    claiming_a_held_task_by_name_says_why_not,
}

fn a_held_task_is_passed_over(fixture: &mut Fixture) {
    let first = fixture.add(spec("first"));
    let second = fixture.add(spec("second"));
    fixture
        .tell(
            &first,
            Command::Hold {
                reason: Some("wait".parse().unwrap()),
            },
        )
        .unwrap();
    assert_eq!(fixture.claim().unwrap().id, second.id);
    assert_eq!(fixture.claim(), None);
    fixture.tell(&first, Command::Unhold).unwrap();
    assert_eq!(fixture.claim().unwrap().id, first.id);
}

fn a_held_project_hands_out_nothing_but_lets_work_end(fixture: &mut Fixture) {
    fixture.add(spec("first"));
    fixture.add(spec("second"));
    let running = fixture.claim().unwrap();
    let scope = HoldScope::Project(fixture.project);
    fixture
        .submit(Change::Hold {
            scope,
            reason: None,
        })
        .unwrap();
    assert_eq!(fixture.claim(), None);
    fixture.complete(&running).unwrap();
    fixture.submit(Change::Unhold { scope }).unwrap();
    assert_eq!(fixture.claim().unwrap().spec.name.as_str(), "second");
}

fn holding_everything_holds_this_project_too(fixture: &mut Fixture) {
    fixture.add(spec("first"));
    let scope = HoldScope::Everything;
    fixture
        .submit(Change::Hold {
            scope,
            reason: None,
        })
        .unwrap();
    assert_eq!(fixture.claim(), None);
    let other = HoldScope::Project(fixture.project);
    fixture.submit(Change::Unhold { scope: other }).unwrap();
    assert_eq!(fixture.claim(), None);
    fixture.submit(Change::Unhold { scope }).unwrap();
    assert!(fixture.claim().is_some());
}

fn claiming_a_held_task_by_name_says_why_not(fixture: &mut Fixture) {
    let task = fixture.add(spec("first"));
    let named = TaskRef::Named {
        project: fixture.project,
        name: task.spec.name.clone(),
    };
    let ttl = handoff_core::lease::Ttl::default();
    let claim = Change::Claim {
        task: named,
        tenure: TenureWish::Timed { ttl },
    };
    let scope = HoldScope::Project(fixture.project);
    fixture
        .submit(Change::Hold {
            scope,
            reason: None,
        })
        .unwrap();
    let refused = fixture.submit(claim.clone());
    assert!(
        matches!(&refused, Err(StoreError::Held { scope: by }) if *by == scope),
        "{refused:?}"
    );
    fixture.submit(Change::Unhold { scope }).unwrap();
    fixture.tell(&task, Command::Hold { reason: None }).unwrap();
    let refused = fixture.submit(claim);
    let not_ready = handoff_core::task::Refusal::NotReady { phase: Phase::Held };
    assert!(
        matches!(&refused, Err(StoreError::Refused { refusal, .. }) if *refusal == not_ready),
        "{refused:?}"
    );
}
