//! Fences, expiry, heartbeats.

use handoff_core::lease::Tenure;
use handoff_core::task::{Command, Evidence, Refusal};
use handoff_core::{Fence, PackageId, SessionId, Task};
use handoff_store::queue::{Agents, Change, TenureWish};
use handoff_store::{StoreError, read, tasks};

use super::on_both_stores;
use crate::fixture::{Fixture, TTL, complete, spec, task_of, uuid};

on_both_stores! {
    a_lease_that_ran_out_goes_to_the_next_with_a_higher_fence,
    a_stale_fence_changes_nothing,
    an_expired_owner_is_refused_even_before_anyone_else_claims,
    a_heartbeat_keeps_the_lease,
    an_anchored_lease_ends_only_with_its_holder,
}

fn is_lease_lost<T: std::fmt::Debug>(result: &Result<T, StoreError>) -> bool {
    matches!(
        result,
        Err(StoreError::Refused {
            refusal: Refusal::LeaseLost { .. },
            ..
        })
    )
}

fn a_lease_that_ran_out_goes_to_the_next_with_a_higher_fence(fixture: &mut Fixture) {
    fixture.add(spec("one"));
    let first = fixture.claim().unwrap();
    assert_eq!(fixture.claim(), None);
    fixture.pass(TTL);
    let second = fixture.claim().unwrap();
    assert_eq!((second.id, second.fence), (first.id, Fence::new(2)));
    assert!(is_lease_lost(&fixture.complete(&first)));
    fixture.complete(&second).unwrap();
    assert_eq!(fixture.audit().faults, []);
}

fn a_stale_fence_changes_nothing(fixture: &mut Fixture) {
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
    let second = fixture.claim().unwrap();
    let before = (row(fixture, &second), fixture.audit());
    let stale = first.fence;
    let reason = || "late".parse().unwrap();
    let sealed = Evidence::Sealed {
        package: PackageId::from_uuid(uuid()),
        digest: "d".to_owned(),
    };
    let commands = [
        Command::Renew { fence: stale },
        complete(stale),
        Command::Fail {
            fence: Some(stale),
            reason: reason(),
        },
        Command::Block {
            fence: Some(stale),
            reason: reason(),
        },
        Command::Release {
            fence: stale,
            reason: None,
        },
        Command::Start {
            fence: stale,
            session: SessionId::from_uuid(uuid()),
            agent: None,
        },
        Command::Prove {
            fence: stale,
            evidence: sealed,
        },
    ];
    for command in commands {
        let refused = fixture.tell(&first, command.clone());
        assert!(is_lease_lost(&refused), "{command:?}: {refused:?}");
    }
    assert_eq!((row(fixture, &second), fixture.audit()), before);
}

fn an_expired_owner_is_refused_even_before_anyone_else_claims(fixture: &mut Fixture) {
    fixture.add(spec("one"));
    let claimed = fixture.claim().unwrap();
    fixture.pass(TTL);
    assert!(is_lease_lost(&fixture.tell(
        &claimed,
        Command::Renew {
            fence: claimed.fence
        }
    )));
    assert!(is_lease_lost(&fixture.complete(&claimed)));
}

fn a_heartbeat_keeps_the_lease(fixture: &mut Fixture) {
    fixture.add(spec("one"));
    let claimed = fixture.claim().unwrap();
    for _ in 0..4 {
        fixture.pass(TTL / 2);
        fixture
            .tell(
                &claimed,
                Command::Renew {
                    fence: claimed.fence,
                },
            )
            .unwrap();
    }
    assert_eq!(fixture.claim(), None);
    fixture.complete(&claimed).unwrap();
}

fn an_anchored_lease_ends_only_with_its_holder(fixture: &mut Fixture) {
    let added = fixture.add(spec("one"));
    let session = SessionId::from_uuid(uuid());
    let project = fixture.project;
    let change = Change::ClaimNext {
        project,
        tenure: TenureWish::Anchored { session },
        agents: Agents::default(),
    };
    let claimed = task_of(fixture.submit(change).unwrap());
    assert_eq!(
        claimed.state.lease().unwrap().tenure,
        Tenure::Anchored { session }
    );
    fixture.pass(2 * TTL);
    assert_eq!(fixture.claim(), None);
    let anchored = read(&mut *fixture.store, tasks::anchored).unwrap();
    assert_eq!(anchored, [(added.id, session)]);
    let other = Command::LoseHolder {
        session: SessionId::from_uuid(uuid()),
    };
    fixture.tell(&added, other).unwrap();
    assert_eq!(fixture.claim(), None);
    fixture
        .tell(&added, Command::LoseHolder { session })
        .unwrap();
    assert_eq!(fixture.claim().unwrap().fence, Fence::new(2));
}

fn row(fixture: &mut Fixture, task: &Task) -> Task {
    read(&mut *fixture.store, |tx| tasks::get(tx, task.id)).unwrap()
}
