//! What only the embedded store promises.

use std::os::unix::fs::PermissionsExt as _;
use std::rc::Rc;
use std::time::Duration;

use handoff_store::sqlite::{Ambient, SqliteStore};
use handoff_store::{Store as _, StoreError, audit, read};
use handoff_testkit::ManualClock;

use crate::fixture::{Fixture, Place, fresh_id, spec};

fn ambient() -> Ambient {
    Ambient {
        clock: Rc::new(ManualClock::default()),
        fresh_id: fresh_id(),
    }
}

fn clock(fixture: &Fixture) -> &ManualClock {
    match &fixture.place {
        Place::Sqlite { clock, .. } => clock,
        Place::Postgres { .. } => panic!("not an embedded store"),
    }
}

fn home(fixture: &Fixture) -> &std::path::Path {
    match &fixture.place {
        Place::Sqlite { home, .. } => home.path(),
        Place::Postgres { .. } => panic!("not an embedded store"),
    }
}

#[test]
fn all_its_files_are_private() {
    let parent = tempfile::tempdir().unwrap();
    let home = parent.path().join("state/handoff");
    let store = SqliteStore::open(&home, ambient()).unwrap();
    let mode = |path: &std::path::Path| path.metadata().unwrap().permissions().mode() & 0o777;
    assert_eq!(mode(&home), 0o700);
    for entry in home.read_dir().unwrap() {
        let path = entry.unwrap().path();
        assert_eq!(mode(&path), 0o600, "{}", path.display());
    }
    drop(store);
}

#[test]
fn opening_again_finds_the_same_store() {
    let home = tempfile::tempdir().unwrap();
    let first = SqliteStore::open(home.path(), ambient())
        .unwrap()
        .info()
        .clone();
    let second = SqliteStore::open(home.path(), ambient())
        .unwrap()
        .info()
        .clone();
    assert_eq!(first, second);
}

#[test]
fn a_database_of_another_program_is_left_alone() {
    let home = tempfile::tempdir().unwrap();
    let path = home.path().join("handoff.db");
    rusqlite::Connection::open(&path)
        .unwrap()
        .execute_batch("CREATE TABLE theirs (x)")
        .unwrap();
    let before = std::fs::read(&path).unwrap();
    let refused = SqliteStore::open(home.path(), ambient()).err();
    assert!(
        matches!(refused, Some(StoreError::Foreign(_))),
        "{refused:?}"
    );
    assert_eq!(std::fs::read(&path).unwrap(), before);
}

#[test]
fn a_store_of_a_newer_version_is_left_alone() {
    let home = tempfile::tempdir().unwrap();
    drop(SqliteStore::open(home.path(), ambient()).unwrap());
    let path = home.path().join("handoff.db");
    rusqlite::Connection::open(&path)
        .unwrap()
        .pragma_update(None, "user_version", 99)
        .unwrap();
    let refused = SqliteStore::open(home.path(), ambient()).err();
    assert!(
        matches!(refused, Some(StoreError::TooNew { found: 99, .. })),
        "{refused:?}"
    );
}

#[test]
fn a_damaged_file_is_refused_and_kept() {
    let home = tempfile::tempdir().unwrap();
    let path = home.path().join("handoff.db");
    std::fs::write(&path, vec![b'x'; 8192]).unwrap();
    let refused = SqliteStore::open(home.path(), ambient()).err();
    assert!(
        matches!(refused, Some(StoreError::Damaged { .. })),
        "{refused:?}"
    );
    assert_eq!(std::fs::read(&path).unwrap(), vec![b'x'; 8192]);
}

#[test]
fn the_wall_clock_moves_no_lease() {
    let mut fixture = Fixture::sqlite();
    fixture.add(spec("one"));
    let claimed = fixture.claim().unwrap();
    for jump in [-3_600, 86_400, -7 * 86_400] {
        clock(&fixture).jump(jump);
        assert_eq!(fixture.claim(), None, "after a jump of {jump} s");
    }
    fixture.complete(&claimed).unwrap();
}

#[test]
fn a_reboot_voids_every_lease_at_once() {
    let mut fixture = Fixture::sqlite();
    fixture.add(spec("one"));
    let claimed = fixture.claim().unwrap();
    clock(&fixture).reboot();
    assert_eq!(fixture.claim().unwrap().fence, claimed.fence.next());
}

#[test]
fn waking_up_is_not_taken_for_silence() {
    let mut fixture = Fixture::sqlite();
    fixture.add(spec("one"));
    let claimed = fixture.claim().unwrap();
    clock(&fixture).suspend(Duration::from_secs(36_000));
    assert_eq!(fixture.claim(), None);
    fixture.complete(&claimed).unwrap();
}

#[test]
fn what_an_interrupted_creation_left_is_thrown_away() {
    let home = tempfile::tempdir().unwrap();
    for name in ["handoff.db.partial", "handoff.db.partial-wal"] {
        std::fs::write(home.path().join(name), b"half of it").unwrap();
    }
    drop(SqliteStore::open(home.path(), ambient()).unwrap());
    assert!(!home.path().join("handoff.db.partial").exists());
    assert!(!home.path().join("handoff.db.partial-wal").exists());
}

#[test]
fn a_log_is_not_given_to_another_database() {
    let mut fixture = Fixture::sqlite();
    fixture.add(spec("one"));
    let home = home(&fixture).to_owned();
    std::fs::remove_file(home.join("handoff.db")).unwrap();
    let refused = SqliteStore::open(&home, ambient()).err();
    assert!(
        matches!(refused, Some(StoreError::Inconsistent(_))),
        "{refused:?}"
    );
}

#[test]
fn the_log_stays_short_whether_one_writes_often_or_many_write_once() {
    let mut fixture = Fixture::sqlite();
    let log = home(&fixture).join("handoff.db-wal");
    let length = || log.metadata().unwrap().len();
    for round in 0..60 {
        fixture.add(spec(&format!("once-{round}")));
        fixture.store = fixture.again();
    }
    assert!(length() < 1024 * 1024, "{}", length());
    for round in 0..200 {
        fixture.add(spec(&format!("often-{round}")));
    }
    assert!(length() < 8 * 1024 * 1024, "{}", length());
    fixture.store = fixture.again();
    assert!(length() < 1024 * 1024, "{}", length());
}

#[test]
fn what_is_no_file_is_refused_and_left_in_the_place_of_each_file() {
    for name in ["handoff.db", "handoff.db-wal", "handoff.db-shm"] {
        for kind in ["dangling link", "pipe", "directory", "socket", "device"] {
            let home = tempfile::tempdir().unwrap();
            if name != "handoff.db" {
                drop(SqliteStore::open(home.path(), ambient()).unwrap());
            }
            let path = home.path().join(name);
            std::fs::remove_file(&path).ok();
            match kind {
                "dangling link" => std::os::unix::fs::symlink("nowhere", &path).unwrap(),
                "pipe" => {
                    let made = rustix::fs::mknodat(
                        rustix::fs::CWD,
                        &path,
                        rustix::fs::FileType::Fifo,
                        rustix::fs::Mode::RUSR | rustix::fs::Mode::WUSR,
                        0,
                    );
                    made.unwrap();
                }
                "directory" => std::fs::create_dir(&path).unwrap(),
                "socket" => drop(std::os::unix::net::UnixListener::bind(&path).unwrap()),
                _ => std::os::unix::fs::symlink("/dev/zero", &path).unwrap(),
            }
            let before = path.symlink_metadata().unwrap().file_type();
            let refused = SqliteStore::open(home.path(), ambient()).err();
            assert!(
                matches!(refused, Some(StoreError::Place { .. })),
                "{kind} at {name}: {refused:?}"
            );
            assert_eq!(path.symlink_metadata().unwrap().file_type(), before);
        }
    }
}

#[test]
fn a_file_that_is_removed_or_replaced_under_an_open_store_is_noticed() {
    for name in ["handoff.db", "handoff.db-wal", "handoff.db-shm"] {
        for is_replaced in [false, true] {
            let mut fixture = Fixture::sqlite();
            fixture.add(spec("before"));
            let path = home(&fixture).join(name);
            let copy = std::fs::read(&path).unwrap();
            std::fs::remove_file(&path).unwrap();
            if is_replaced {
                std::fs::write(&path, copy).unwrap();
            }
            let change = fixture.adding(spec("behind"));
            let told = fixture.submit(change).unwrap_err();
            let told = format!("{told:?}");
            assert!(told.contains("removed or replaced"), "{name}: {told}");
            assert!(told.contains(name), "{name}: {told}");
        }
    }
}

/// Zeroes each page in turn. Whatever the engine's own check finds, the audit finds.
#[test]
fn whatever_the_engine_finds_wrong_the_audit_finds() {
    let mut fixture = Fixture::sqlite();
    for number in 0..20 {
        fixture.add(spec(&format!("task-{number}")));
    }
    let path = home(&fixture).join("handoff.db");
    let folded = tempfile::tempdir().unwrap();
    let whole = folded.path().join("handoff.db");
    rusqlite::Connection::open(&path)
        .unwrap()
        .execute("VACUUM INTO ?1", [whole.to_str().unwrap()])
        .unwrap();
    let whole = std::fs::read(whole).unwrap();
    let mut found = 0;
    for page in 1..whole.len() / 4096 {
        let damaged = tempfile::tempdir().unwrap();
        let mut bytes = whole.clone();
        bytes[page * 4096..(page + 1) * 4096].fill(0);
        let path = damaged.path().join("handoff.db");
        std::fs::write(&path, &bytes).unwrap();
        let engine = rusqlite::Connection::open(&path).unwrap();
        let told: Result<String, _> =
            engine.query_row("PRAGMA integrity_check", [], |row| row.get(0));
        drop(engine);
        if told.is_ok_and(|told| told == "ok") {
            continue;
        }
        found += 1;
        let is_found = match SqliteStore::open(damaged.path(), ambient()) {
            Err(_) => true,
            Ok(mut store) => {
                let kind = store.info().kind;
                let faults = read(&mut store, |tx| audit::engine_faults(tx, kind));
                faults.map_or(true, |faults| !faults.is_empty())
            }
        };
        assert!(is_found, "page {page}");
    }
    assert!(found > 10, "{found}");
}
