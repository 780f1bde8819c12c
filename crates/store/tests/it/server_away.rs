//! A server may end a connection at any moment, and take none for a while: nothing is lost, and nothing happens twice.

use std::thread;
use std::time::Duration;

use handoff_core::StoreId;
use handoff_store::postgres::{Access, Address, Connections, Patience, PostgresStore};
use handoff_store::queue::{Receipt, submit};
use handoff_store::{Ring, Store, StoreError, read, tasks};
use postgres::{Client, NoTls};

use crate::fixture::{Fixture, Place, fresh_id, request, spec};
use crate::proxy::{Cut, Proxy};

fn url(fixture: &Fixture) -> &str {
    let Place::Postgres { database } = &fixture.place else {
        panic!("only a server can be away");
    };
    database.url()
}

fn open(url: &str, patience: Patience) -> Result<PostgresStore, StoreError> {
    let access = Access {
        patience,
        ..Access::default()
    };
    PostgresStore::connect_with(url.parse::<Address>().unwrap(), fresh_id(), access)
}

fn patient(url: &str) -> PostgresStore {
    open(url, Patience::BRIEF).unwrap()
}

/// How many tasks there are, and that the ledger is sound.
fn count(fixture: &mut Fixture) -> usize {
    let audit = fixture.audit();
    assert_eq!(audit.faults, []);
    let project = fixture.project;
    let found = read(&mut *fixture.store, |tx| {
        tasks::page(tx, project, tasks::Which::All, None, 100)
    });
    found.unwrap().len()
}

#[test]
fn a_change_that_is_cut_off_anywhere_happens_once() {
    let Some(mut fixture) = Fixture::postgres() else {
        return;
    };
    let server = url(&fixture).to_owned();
    let cases: [(&str, &[Cut]); 6] = [
        ("before-begin", &[Cut::Before("BEGIN ISOLATION LEVEL")]),
        ("before-insert", &[Cut::Before("INSERT INTO tasks")]),
        ("before-commit", &[Cut::Before("COMMIT; BEGIN")]),
        ("after-commit", &[Cut::After("COMMIT; BEGIN")]),
        (
            "commit-and-the-look-at-the-key",
            &[
                Cut::After("COMMIT; BEGIN"),
                Cut::Before("FROM events WHERE key"),
            ],
        ),
        (
            "refused-twice-meanwhile",
            &[Cut::Before("COMMIT; BEGIN"), Cut::Accepted, Cut::Accepted],
        ),
    ];
    for (number, (name, plan)) in (1..).zip(cases) {
        let proxy = Proxy::to(&server, plan.to_vec());
        let mut store = patient(&proxy.url());
        let change = fixture.adding(spec(name));
        let added: Result<Receipt, _> = submit(&mut store, &request(change));
        assert!(added.is_ok(), "{name}: {added:?}");
        assert_eq!(count(&mut fixture), number, "{name}");
        assert!(proxy.accepted() > plan.len(), "{name} was never cut");
    }
}

#[test]
fn what_is_unknown_and_cannot_be_found_out_is_said_to_be_unknown() {
    let Some(mut fixture) = Fixture::postgres() else {
        return;
    };
    let plan = [vec![Cut::After("COMMIT; BEGIN")], vec![Cut::Accepted; 50]].concat();
    let proxy = Proxy::to(url(&fixture), plan);
    let mut store = open(&proxy.url(), Patience::NONE).unwrap();
    let change = fixture.adding(spec("one"));
    let outcome = submit(&mut store, &request(change));
    assert!(
        matches!(outcome, Err(StoreError::OutcomeUnknown { .. })),
        "{outcome:?}"
    );
    assert_eq!(count(&mut fixture), 1);
}

#[test]
fn a_connection_that_the_server_ended_is_made_again() {
    let Some(mut fixture) = Fixture::postgres() else {
        return;
    };
    fixture.add(spec("one"));
    let mut admin = Client::connect(url(&fixture), NoTls).unwrap();
    let end_all = "SELECT pg_terminate_backend(pid) FROM pg_stat_activity \
                   WHERE datname = current_database() AND application_name = 'handoff'";
    admin.batch_execute(end_all).unwrap();
    fixture.add(spec("idle"));

    let mut runs = 0;
    let project = fixture.project;
    let seen = read(&mut *fixture.store, |tx| {
        runs += 1;
        if runs == 1 {
            admin.batch_execute(end_all).unwrap();
        }
        tasks::page(tx, project, tasks::Which::All, None, 100)
    });
    assert_eq!((seen.unwrap().len(), runs), (2, 2));
}

#[test]
fn a_server_without_a_free_connection_is_waited_for_and_not_for_ever() {
    let Some(fixture) = Fixture::postgres() else {
        return;
    };
    let Place::Postgres { database } = &fixture.place else {
        return;
    };
    let role = format!("few_{}", std::process::id());
    let created = database.execute(&format!(
        "CREATE ROLE {role} LOGIN CONNECTION LIMIT 1; GRANT {role} TO postgres; \
         GRANT ALL ON SCHEMA handoff TO {role}; GRANT ALL ON ALL TABLES IN SCHEMA handoff TO {role}"
    ));
    created.unwrap();
    let limited = database
        .url()
        .replace("user=postgres", &format!("user={role}"));
    let taken = Client::connect(&limited, NoTls).unwrap();
    let refused = open(&limited, Patience::NONE);
    assert!(matches!(refused, Err(StoreError::Unavailable { .. })));

    let proxy = Proxy::to(&limited, vec![]);
    let way = proxy.url();
    let waiting = thread::spawn(move || open(&way, Patience::BRIEF).map(drop));
    while proxy.accepted() < 2 && !waiting.is_finished() {
        thread::yield_now();
    }
    drop(taken);
    waiting.join().unwrap().unwrap();
    let dropped = format!("DROP OWNED BY {role} CASCADE; DROP ROLE {role}");
    database.execute(&dropped).unwrap();
}

#[test]
fn a_follower_that_is_cut_off_hears_again() {
    let Some(mut fixture) = Fixture::postgres() else {
        return;
    };
    let proxy = Proxy::to(url(&fixture), vec![]);
    let store = patient(&proxy.url());
    let mut bell = store.bell().unwrap();
    let before = proxy.accepted();
    proxy.cut_all();
    // Cut off, and connected again: both are reasons to look.
    assert_eq!(bell.wait(Duration::from_mins(1)).unwrap(), Ring::Rung);
    assert_eq!(bell.wait(Duration::from_mins(1)).unwrap(), Ring::Rung);
    assert!(proxy.accepted() > before);
    fixture.add(spec("one"));
    assert_eq!(bell.wait(Duration::from_secs(1)).unwrap(), Ring::Rung);
}

#[test]
fn all_who_work_in_a_process_use_one_connection() {
    let Some(mut fixture) = Fixture::postgres() else {
        return;
    };
    let proxy = Proxy::to(url(&fixture), vec![]);
    let access = Access {
        patience: Patience::LASTING,
        connections: Connections::default(),
    };
    let hands: Vec<_> = (0..16)
        .map(|number| {
            let (access, way, id) = (access.clone(), proxy.url(), fresh_id());
            let request = request(fixture.adding(spec(&format!("t{number}"))));
            thread::spawn(move || add(&way, id, access, &request))
        })
        .collect();
    for hand in hands {
        hand.join().unwrap();
    }
    assert_eq!((count(&mut fixture), proxy.accepted()), (16, 1));
}

fn add(way: &str, id: StoreId, access: Access, request: &handoff_store::queue::Request) {
    let mut store = PostgresStore::connect_with(way.parse().unwrap(), id, access).unwrap();
    submit(&mut store, request).unwrap();
}
