//! A package is received once, by whoever claimed it, within its time, all of it or nothing.

use std::time::Duration;

use handoff_core::context::{Author, Entry, Fate, Policy};
use handoff_core::lease::Ttl;
use handoff_core::package::{
    KeyId, Label, Origin, PackageCommand, PackageKind, PackageRefusal, PackageState,
};
use handoff_core::{
    Caller, ContextScope, Digest, Fence, HoldScope, JsonText, PackageId, PackageRecord, Timestamp,
};
use handoff_store::queue::{Change, Receiving, Request, set_clock_right, submit};
use handoff_store::{StoreError, contexts, packages, read};

use super::on_both_stores;
use crate::fixture::{Fixture, Place, TTL, request, spec, uuid};

on_both_stores! {
    one_of_many_gets_it,
    a_dead_claimants_claim_runs_out,
    a_dead_claimant_is_followed_at_once_by_its_own_machine,
    what_came_to_nothing_is_put_back_by_the_machine_that_received_it,
    what_is_received_is_there_and_nothing_else_changes,
    a_conflict_changes_nothing,
    a_reusable_one_is_received_again,
    a_repeated_receipt_is_one_receipt,
    a_receipt_is_repeated_by_its_key_and_not_by_its_claim,
    an_expired_one_stays_expired,
    any_change_keeps_the_time,
    a_clock_that_was_ahead_is_set_right_and_revives_nothing,
    one_from_the_future_is_refused,
    a_transferred_one_is_gone,
    what_was_in_it_goes_unless_it_was_changed_since,
}

/// When the clock of the tests begins, or now.
fn now(fixture: &mut Fixture) -> Timestamp {
    read(&mut *fixture.store, packages::clock).unwrap()
}

pub(super) fn label(fixture: &mut Fixture) -> Label {
    Label {
        id: PackageId::from_uuid(uuid()),
        kind: PackageKind::Manual,
        created_at: now(fixture),
        expires_at: None,
        project: fixture.project,
        session_id: None,
        subject_id: None,
        task: None,
        feature: None,
        source_phase: None,
        target_phase: None,
        commit: None,
        audience: vec![],
        single_use: true,
        provenance: None,
    }
}

pub(super) fn seal(fixture: &mut Fixture, label: Label) -> PackageId {
    let (id, digest) = (label.id, Digest::of(b"header"));
    let package = PackageRecord::begin(fixture.project, label, digest.clone(), Origin::Made);
    let change = Change::Seal {
        package: Box::new(package),
        content: digest,
        sealed: Some("bytes".to_owned()),
        pausing: None,
    };
    fixture.submit(change).unwrap();
    id
}

/// For longer than any test takes.
fn claiming(id: PackageId) -> Change {
    claiming_as(id, Ttl::default(), None)
}

fn claiming_as(id: PackageId, ttl: Ttl, machine: Option<KeyId>) -> Change {
    telling(id, PackageCommand::Claim { ttl, machine })
}

fn claim_from(fixture: &mut Fixture, id: PackageId, machine: &KeyId) -> Result<Fence, StoreError> {
    let change = claiming_as(id, Ttl::default(), Some(machine.clone()));
    let receipt = fixture.submit(change)?;
    Ok(receipt.answer.into_package().unwrap().fence)
}

fn machines() -> [KeyId; 2] {
    ["key_0123456789abcdef", "key_fedcba9876543210"].map(|it| it.parse().unwrap())
}

pub(super) fn telling(id: PackageId, command: PackageCommand) -> Change {
    Change::Package { id, command }
}

fn claim(fixture: &mut Fixture, id: PackageId) -> Result<PackageRecord, StoreError> {
    let receipt = fixture.submit(claiming(id))?;
    Ok(receipt.answer.into_package().unwrap())
}

fn refusal<T: std::fmt::Debug>(outcome: Result<T, StoreError>) -> PackageRefusal {
    match outcome {
        Err(StoreError::PackageRefused { refusal, .. }) => refusal,
        other => panic!("{other:?}"),
    }
}

fn entry(key: &str, value: &str) -> Entry {
    Entry {
        key: key.parse().unwrap(),
        value: JsonText::parse(value).unwrap(),
        source: Some("there".parse().unwrap()),
        tags: vec!["t".parse().unwrap()],
        author: "somebody".parse::<Author>().unwrap(),
        at: Timestamp::UNIX_EPOCH,
    }
}

fn receiving(fixture: &Fixture, id: PackageId, fence: u64, entries: Vec<Entry>) -> Change {
    Change::Receive(Receiving {
        id,
        fence: Fence::new(fence),
        project: fixture.project,
        into: ContextScope::Project(fixture.project),
        policy: Policy::Refuse,
        entries,
    })
}

fn content(fixture: &mut Fixture) -> Vec<Entry> {
    let scope = ContextScope::Project(fixture.project);
    let found = read(&mut *fixture.store, |tx| {
        contexts::matching(tx, scope, None)
    });
    found.unwrap().into_values().map(|(_, it)| it).collect()
}

fn one_of_many_gets_it(fixture: &mut Fixture) {
    let fresh = label(fixture);
    let id = seal(fixture, fresh);
    let door = fixture.door();
    let won: usize = std::thread::scope(|scope| {
        let tries: Vec<_> = (0..8)
            .map(|_| {
                let door = &door;
                scope.spawn(move || submit(&mut *door.open(), &request(claiming(id))).is_ok())
            })
            .collect();
        let won = tries.into_iter().map(|it| usize::from(it.join().unwrap()));
        won.sum()
    });
    assert_eq!(won, 1);
    let audit = fixture.audit();
    assert_eq!((audit.packages, audit.events, audit.faults), (1, 2, vec![]));
}

fn a_dead_claimants_claim_runs_out(fixture: &mut Fixture) {
    let fresh = label(fixture);
    let id = seal(fixture, fresh);
    let brief = claiming_as(id, Ttl::new(TTL).unwrap(), None);
    fixture.submit(brief).unwrap();
    fixture.pass(TTL);
    let again = claim(fixture, id).unwrap();
    assert_eq!(again.fence, Fence::new(2));
    let change = receiving(fixture, id, 1, vec![]);
    assert!(matches!(
        refusal(fixture.submit(change)),
        PackageRefusal::ClaimLost { .. }
    ));
    assert_eq!(fixture.audit().faults, []);
}

fn a_dead_claimant_is_followed_at_once_by_its_own_machine(fixture: &mut Fixture) {
    let fresh = label(fixture);
    let id = seal(fixture, fresh);
    let [ours, theirs] = machines();
    claim_from(fixture, id, &ours).unwrap();
    for other in [
        claim(fixture, id).map(drop),
        claim_from(fixture, id, &theirs).map(drop),
    ] {
        assert!(matches!(refusal(other), PackageRefusal::Claimed { .. }));
    }
    assert_eq!(claim_from(fixture, id, &ours).unwrap(), Fence::new(2));
    // Whoever was taken for dead and is not gets nothing.
    let late = receiving(fixture, id, 1, vec![]);
    assert!(matches!(
        refusal(fixture.submit(late)),
        PackageRefusal::ClaimLost { .. }
    ));
    let change = receiving(fixture, id, 2, vec![]);
    fixture.submit(change).unwrap();
    assert_eq!(fixture.audit().faults, []);
}

fn what_came_to_nothing_is_put_back_by_the_machine_that_received_it(fixture: &mut Fixture) {
    let fresh = label(fixture);
    let id = seal(fixture, fresh);
    let [ours, theirs] = machines();
    let put_back = |machine: &KeyId, fence| {
        let (fence, machine) = (Fence::new(fence), machine.clone());
        telling(id, PackageCommand::Return { fence, machine })
    };
    assert!(fixture.submit(put_back(&ours, 0)).is_err());
    claim_from(fixture, id, &ours).unwrap();
    let change = receiving(fixture, id, 1, vec![entry("a", "1")]);
    fixture.submit(change).unwrap();
    for wrong in [put_back(&theirs, 1), put_back(&ours, 2)] {
        assert!(matches!(
            refusal(fixture.submit(wrong)),
            PackageRefusal::Consumed { .. }
        ));
    }
    fixture.submit(put_back(&ours, 1)).unwrap();
    claim_from(fixture, id, &theirs).unwrap();
    let change = receiving(fixture, id, 2, vec![entry("a", "1")]);
    fixture.submit(change).unwrap();
    assert_eq!(content(fixture), [entry("a", "1")]);
    assert_eq!(fixture.audit().faults, []);
}

fn what_is_received_is_there_and_nothing_else_changes(fixture: &mut Fixture) {
    let fresh = label(fixture);
    let id = seal(fixture, fresh);
    claim(fixture, id).unwrap();
    let entries = vec![entry("a", "9007199254740993"), entry("b", "[1.0]")];
    let change = receiving(fixture, id, 1, entries.clone());
    let package = fixture
        .submit(change)
        .unwrap()
        .answer
        .into_package()
        .unwrap();
    let PackageState::Consumed { receipt, .. } = &package.state else {
        panic!("{package:?}")
    };
    assert!(receipt.report.iter().all(|it| it.fate == Fate::Added));
    assert_eq!(content(fixture), entries);
    assert!(matches!(
        refusal(claim(fixture, id)),
        PackageRefusal::Consumed { .. }
    ));
    assert_eq!(fixture.audit().faults, []);
}

fn a_conflict_changes_nothing(fixture: &mut Fixture) {
    for (value, is_taken) in [("1", true), ("2", false)] {
        let fresh = label(fixture);
        let id = seal(fixture, fresh);
        claim(fixture, id).unwrap();
        let change = receiving(fixture, id, 1, vec![entry("a", value), entry("b", "0")]);
        assert_eq!(fixture.submit(change).is_ok(), is_taken);
    }
    assert_eq!(content(fixture), [entry("a", "1"), entry("b", "0")]);
    assert_eq!(fixture.audit().faults, []);
}

fn a_reusable_one_is_received_again(fixture: &mut Fixture) {
    let fresh = Label {
        single_use: false,
        ..label(fixture)
    };
    let id = seal(fixture, fresh);
    for fence in [1, 2] {
        claim(fixture, id).unwrap();
        let change = receiving(fixture, id, fence, vec![entry("a", "1")]);
        fixture.submit(change).unwrap();
    }
    let package = read(&mut *fixture.store, |tx| packages::get(tx, id)).unwrap();
    assert_eq!(
        (package.receipts, package.state),
        (2, PackageState::Created)
    );
}

fn a_repeated_receipt_is_one_receipt(fixture: &mut Fixture) {
    let fresh = label(fixture);
    let id = seal(fixture, fresh);
    claim(fixture, id).unwrap();
    let asked = request(receiving(fixture, id, 1, vec![entry("a", "1")]));
    let first = submit(&mut *fixture.store, &asked).unwrap();
    let again = submit(&mut *fixture.store, &asked).unwrap();
    assert!(again.is_repeat);
    assert_eq!(first.answer, again.answer);
}

fn a_receipt_is_repeated_by_its_key_and_not_by_its_claim(fixture: &mut Fixture) {
    let fresh = Label {
        single_use: false,
        ..label(fixture)
    };
    let id = seal(fixture, fresh);
    claim(fixture, id).unwrap();
    let first = request(receiving(fixture, id, 1, vec![entry("a", "1")]));
    submit(&mut *fixture.store, &first).unwrap();
    claim(fixture, id).unwrap();
    let again = Request {
        change: receiving(fixture, id, 2, vec![entry("a", "1")]),
        ..first
    };
    assert!(submit(&mut *fixture.store, &again).unwrap().is_repeat);
    let package = read(&mut *fixture.store, |tx| packages::get(tx, id)).unwrap();
    assert_eq!(package.receipts, 1);
}

fn an_expired_one_stays_expired(fixture: &mut Fixture) {
    let begun = now(fixture);
    let span = Duration::from_mins(5);
    let fresh = Label {
        expires_at: Some(begun + span),
        ..label(fixture)
    };
    let id = seal(fixture, fresh);
    fixture.pass(span * 2);
    // Anything that happens to any package is enough to remember the time.
    let other = label(fixture);
    seal(fixture, other);
    if let Place::Sqlite { clock, .. } = &fixture.place {
        clock.jump(-3600);
    }
    let package = claim(fixture, id).unwrap();
    assert!(matches!(package.state, PackageState::Expired { .. }));
    assert!(matches!(
        refusal(claim(fixture, id)),
        PackageRefusal::Expired { .. }
    ));
    assert_eq!(fixture.audit().faults, []);
}

/// The clock goes on, `change` happens, the clock is turned back: the package stays expired.
fn stays_expired_after(fixture: &mut Fixture, change: impl FnOnce(&mut Fixture)) {
    let begun = now(fixture);
    let span = Duration::from_mins(5);
    let fresh = Label {
        expires_at: Some(begun + span),
        ..label(fixture)
    };
    let id = seal(fixture, fresh);
    fixture.pass(span * 2);
    change(fixture);
    if let Place::Sqlite { clock, .. } = &fixture.place {
        clock.jump(-3600);
    }
    let package = claim(fixture, id).unwrap();
    assert!(matches!(package.state, PackageState::Expired { .. }));
    if let Place::Sqlite { clock, .. } = &fixture.place {
        clock.jump(3600);
    }
}

fn any_change_keeps_the_time(fixture: &mut Fixture) {
    let project = fixture.project;
    stays_expired_after(fixture, |it| drop(it.add(spec("one"))));
    stays_expired_after(fixture, |it| {
        let hold = Change::Hold {
            scope: HoldScope::Project(project),
            reason: None,
        };
        it.submit(hold).unwrap();
    });
    stays_expired_after(fixture, |it| {
        let unhold = Change::Unhold {
            scope: HoldScope::Project(project),
        };
        it.submit(unhold).unwrap();
    });
    stays_expired_after(fixture, |it| {
        it.add(spec("two"));
        it.pass(Duration::from_secs(1));
        it.add(spec("three"));
    });
    stays_expired_after(fixture, |it| {
        it.add(spec("four"));
        // A later change under a clock that was turned back does not hide the earlier one.
        if let Place::Sqlite { clock, .. } = &it.place {
            clock.jump(-3600);
        }
        it.add(spec("five"));
    });
}

fn a_clock_that_was_ahead_is_set_right_and_revives_nothing(fixture: &mut Fixture) {
    let Place::Sqlite { clock, .. } = &fixture.place else {
        // The clock of a server cannot be moved by a test.
        return;
    };
    let clock = clock.clone();
    let years = 5 * 365 * 86_400;
    let in_an_hour = now(fixture) + Duration::from_hours(1);
    let brief = |fixture: &mut Fixture| Label {
        expires_at: Some(in_an_hour),
        ..label(fixture)
    };
    let open = brief(fixture);
    let open = seal(fixture, open);
    let claimed = brief(fixture);
    let claimed = seal(fixture, claimed);
    claim(fixture, claimed).unwrap();
    let lasting = label(fixture);
    let lasting = seal(fixture, lasting);
    clock.jump(years);
    fixture.add(spec("ahead"));
    clock.jump(-years);
    let late = now(fixture);
    assert!(late > in_an_hour, "{late}");
    assert!(matches!(
        set_clock_right(&mut *fixture.store, &Caller::Worker),
        Err(StoreError::Forbidden(_))
    ));
    assert_eq!(now(fixture), late);
    let expired = set_clock_right(&mut *fixture.store, &Caller::Person).unwrap();
    assert_eq!(expired, 2);
    assert!(now(fixture) < in_an_hour);
    for id in [open, claimed] {
        let package = read(&mut *fixture.store, |tx| packages::get(tx, id)).unwrap();
        assert!(matches!(package.state, PackageState::Expired { .. }));
    }
    claim(fixture, lasting).unwrap();
    let fresh = brief(fixture);
    let fresh = seal(fixture, fresh);
    claim(fixture, fresh).unwrap();
    assert_eq!(fixture.audit().faults, []);
}

fn one_from_the_future_is_refused(fixture: &mut Fixture) {
    let later = now(fixture) + Duration::from_secs(3600);
    let fresh = Label {
        created_at: later,
        ..label(fixture)
    };
    let id = seal(fixture, fresh);
    assert_eq!(
        refusal(claim(fixture, id)),
        PackageRefusal::FromTheFuture { at: later }
    );
}

fn a_transferred_one_is_gone(fixture: &mut Fixture) {
    let fresh = label(fixture);
    let id = seal(fixture, fresh);
    let transfer = PackageCommand::Transfer {
        to: "host b".parse().unwrap(),
        fence: None,
    };
    fixture.submit(telling(id, transfer)).unwrap();
    assert!(matches!(
        refusal(claim(fixture, id)),
        PackageRefusal::Transferred { .. }
    ));
}

fn what_was_in_it_goes_unless_it_was_changed_since(fixture: &mut Fixture) {
    let begun = label(fixture);
    let id = seal(fixture, begun);
    let project = fixture.project;
    let look = |fixture: &mut Fixture| {
        read(&mut *fixture.store, |tx| {
            let sizes = packages::sealed_sizes(tx, project)?;
            Ok((packages::get(tx, id)?, sizes.get(&id).copied()))
        })
        .unwrap()
    };
    let (before, size) = look(fixture);
    assert_eq!(size, Some(5));
    fixture.submit(claiming(id)).unwrap();
    assert!(!packages::forget_sealed(&mut *fixture.store, &before).unwrap());
    let (now, size) = look(fixture);
    assert_eq!(size, Some(5));
    assert!(packages::forget_sealed(&mut *fixture.store, &now).unwrap());
    assert_eq!(look(fixture), (now, None));
}
