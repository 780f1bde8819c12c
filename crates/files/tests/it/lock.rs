//! Who gets in, and who lets go.

use crate::child::{HoldingProcess, LOCK, Part, Verdict, verdict};
use handoff_files::{Holder, Lock, Wake, Watch};
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;
use tempfile::TempDir;

const BOUND: Option<Duration> = Some(Duration::from_secs(10));
const AT_ONCE: Option<Duration> = Some(Duration::ZERO);

fn place() -> (TempDir, PathBuf) {
    let place = TempDir::new().unwrap();
    let lock = place.path().join(LOCK);
    (place, lock)
}

#[test]
fn of_six_contenders_never_two_are_inside() {
    let (place, path) = place();
    let contenders: Vec<_> = (0..6)
        .map(|_| Part::Contend.command(place.path()).spawn().unwrap())
        .collect();
    for mut contender in contenders {
        while contender.try_wait().unwrap().is_none() {
            Lock::is_held(&path).unwrap();
            if let Some(lock) = Lock::try_acquire(&path, "the test").unwrap() {
                assert!(!place.path().join("inside").exists());
                lock.release();
            }
            std::thread::yield_now();
        }
        assert_eq!(verdict(contender.wait().unwrap()), Ok(Verdict::Done));
    }
}

#[test]
fn a_killed_holder_frees_the_lock_at_once() {
    let (place, path) = place();
    let mut holding = HoldingProcess::start(Part::Hold, place.path());
    assert!(Lock::try_acquire(&path, "").unwrap().is_none());
    holding.kill();
    assert!(Lock::try_acquire(&path, "").unwrap().is_some());
}

#[test]
fn a_living_child_of_a_dead_holder_does_not_keep_the_lock() {
    let (place, path) = place();
    let mut holding = HoldingProcess::start(Part::HoldWithChild, place.path());
    assert!(Lock::is_held(&path).unwrap());
    holding.kill();
    assert!(Lock::try_acquire(&path, "").unwrap().is_some());
    rustix::process::test_kill_process(holding.child.unwrap()).unwrap();
}

#[test]
fn a_killed_holder_rings_the_bell() {
    let (place, path) = place();
    let mut holding = HoldingProcess::start(Part::Hold, place.path());
    let mut watch = Watch::on(&path).unwrap();
    assert_eq!(watch.wait(AT_ONCE).unwrap(), Wake::TimedOut);
    holding.kill();
    assert_eq!(watch.wait(BOUND).unwrap(), Wake::Changed);
}

#[test]
fn a_release_rings_the_bell_and_looking_does_not() {
    let (_place, path) = place();
    let lock = Lock::acquire(&path, "").unwrap();
    let mut watch = Watch::on(&path).unwrap();
    assert!(Lock::is_held(&path).unwrap());
    Lock::holder(&path).unwrap();
    assert!(Lock::try_acquire(&path, "").unwrap().is_none());
    assert_eq!(watch.wait(AT_ONCE).unwrap(), Wake::TimedOut);
    lock.release();
    assert_eq!(watch.wait(BOUND).unwrap(), Wake::Changed);
}

#[test]
fn probes_keep_nobody_from_taking_a_free_lock() {
    let (_place, path) = place();
    let has_ended = AtomicBool::new(false);
    let refused = std::thread::scope(|scope| {
        for _ in 0..2 {
            scope.spawn(|| {
                while !has_ended.load(Ordering::Relaxed) {
                    Lock::is_held(&path).unwrap();
                }
            });
        }
        let refused = (0..2000)
            .filter(|_| Lock::try_acquire(&path, "").unwrap().is_none())
            .count();
        has_ended.store(true, Ordering::Relaxed);
        refused
    });
    assert_eq!(refused, 0);
}

#[test]
fn the_holder_is_known_while_it_holds() {
    let (place, path) = place();
    assert_eq!(Lock::holder(&path).unwrap(), None);
    assert!(!Lock::is_held(&path).unwrap());
    assert!(!path.exists(), "looking makes no lock file");
    let mut holding = HoldingProcess::start(Part::Hold, place.path());
    let holder = Holder {
        pid: holding.id(),
        label: "a test's holder".to_owned(),
    };
    assert_eq!(Lock::holder(&path).unwrap(), Some(holder));
    holding.kill();
    assert_eq!(Lock::holder(&path).unwrap(), None);
}

#[test]
fn a_note_is_the_newest_of_whoever_holds_the_lock_now() {
    let (_place, path) = place();
    let note = || Lock::look(&path).unwrap().map(|held| held.note);
    let lock = Lock::acquire(&path, "").unwrap();
    assert_eq!(note(), Some(None));
    let mut watch = Watch::on(&path).unwrap();
    for text in ["a long thing to say", "short"] {
        lock.note(text).unwrap();
        assert_eq!(note(), Some(Some(text.to_owned())));
    }
    lock.note("two\nlines").unwrap_err();
    assert_eq!(watch.wait(AT_ONCE).unwrap(), Wake::TimedOut);
    lock.release();
    assert_eq!(note(), None);
    let _next = Lock::acquire(&path, "").unwrap();
    assert_eq!(note(), Some(None), "the one before is gone");
}

#[test]
fn a_waiter_on_a_removed_lock_file_takes_the_one_that_has_the_name() {
    let (_place, path) = place();
    let first = Lock::acquire(&path, "").unwrap();
    let waits = AtomicBool::new(false);
    std::thread::scope(|scope| {
        let waiter = scope.spawn(|| {
            waits.store(true, Ordering::Relaxed);
            Lock::acquire(&path, "the waiter").unwrap()
        });
        while !waits.load(Ordering::Relaxed) {
            std::thread::yield_now();
        }
        std::fs::remove_file(&path).unwrap();
        first.release();
        let waiter = waiter.join().unwrap();
        assert!(Lock::is_held(&path).unwrap());
        waiter.release();
    });
}
