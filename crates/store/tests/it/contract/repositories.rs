//! What is known of a repository is kept by branch, and each proof once.

use handoff_core::{Baseline, Caller, HeadName, RepositoryEvent, Role, SessionId};
use handoff_store::queue::{Answer, Change, Proved, Request, submit};
use handoff_store::{StoreError, read, repositories};

use super::on_both_stores;
use crate::fixture::{Fixture, request, uuid};

on_both_stores! {
    a_baseline_is_kept_for_each_branch,
    the_same_proof_is_recorded_once,
    a_repeated_proof_answers_as_it_did,
    eight_writers_of_one_branch_take_turns,
    a_session_proves_nothing,
}

fn proving(fixture: &Fixture, branch: &str, digit: &str) -> Change {
    Change::SetBaseline(Proved {
        project: fixture.project,
        branch: branch.parse().unwrap(),
        commit: digit.repeat(40).parse().unwrap(),
        command: Some("make check".parse().unwrap()),
    })
}

fn prove(fixture: &mut Fixture, branch: &str, digit: &str) -> Baseline {
    let change = proving(fixture, branch, digit);
    baseline_of(fixture.submit(change).unwrap().answer)
}

fn baseline_of(answer: Answer) -> Baseline {
    let Answer::Repository {
        event: RepositoryEvent::BaselineSet { baseline },
    } = answer
    else {
        panic!("the answer is not about a baseline")
    };
    baseline
}

fn known(fixture: &mut Fixture, branch: &str) -> Option<Baseline> {
    let branch: HeadName = branch.parse().unwrap();
    let project = fixture.project;
    read(&mut *fixture.store, |tx| {
        repositories::baseline(tx, project, &branch)
    })
    .unwrap()
}

fn a_baseline_is_kept_for_each_branch(fixture: &mut Fixture) {
    prove(fixture, "main", "a");
    let feature = prove(fixture, "feature/ü", "b");
    let main = prove(fixture, "main", "c");
    assert_eq!(main.by, Caller::Person);
    assert_eq!(known(fixture, "main"), Some(main.clone()));
    assert_eq!(known(fixture, "feature"), None);
    let project = fixture.project;
    let all = read(&mut *fixture.store, |tx| {
        repositories::baselines(tx, project)
    });
    assert_eq!(all.unwrap(), [feature, main]);
    let audit = fixture.audit();
    assert_eq!(
        (audit.repositories, audit.events, audit.faults),
        (1, 3, vec![])
    );
}

fn the_same_proof_is_recorded_once(fixture: &mut Fixture) {
    let first = prove(fixture, "main", "a");
    assert_eq!(prove(fixture, "main", "a"), first);
    prove(fixture, "main", "b");
    prove(fixture, "main", "a");
    assert_eq!(fixture.audit().events, 3);
}

fn a_repeated_proof_answers_as_it_did(fixture: &mut Fixture) {
    let change = request(proving(fixture, "main", "a"));
    let first = submit(&mut *fixture.store, &change).unwrap();
    let later = prove(fixture, "main", "b");
    let again = submit(&mut *fixture.store, &change).unwrap();
    assert_eq!(first.answer, again.answer);
    assert_eq!(known(fixture, "main"), Some(later));
}

fn eight_writers_of_one_branch_take_turns(fixture: &mut Fixture) {
    let door = fixture.door();
    let changes = ["1", "2", "3", "4", "5", "6", "7", "8"];
    let changes = changes.map(|digit| request(proving(fixture, "main", digit)));
    std::thread::scope(|scope| {
        for change in &changes {
            let door = door.clone();
            scope.spawn(move || submit(&mut *door.open(), change).unwrap());
        }
    });
    let audit = fixture.audit();
    assert_eq!((audit.events, audit.faults), (8, vec![]));
}

fn a_session_proves_nothing(fixture: &mut Fixture) {
    let by = Caller::Session {
        session: SessionId::from_uuid(uuid()),
        role: Role::Main,
        task: None,
    };
    let request = Request {
        by,
        ..request(proving(fixture, "main", "a"))
    };
    let refused = submit(&mut *fixture.store, &request);
    assert!(matches!(refused, Err(StoreError::Forbidden(_))));
    assert_eq!(known(fixture, "main"), None);
}
