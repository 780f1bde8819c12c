//! What wakes a watch, and what it says when the kernel has none left.

use crate::child::{LOCK, Part, Verdict, strace, verdict};
use handoff_files::{Wake, Watch, WatchError};
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use std::fs::File;
use std::os::fd::{AsFd as _, AsRawFd as _};
use std::path::PathBuf;
use std::time::Duration;
use tempfile::TempDir;

const BOUND: Option<Duration> = Some(Duration::from_secs(10));
const AT_ONCE: Option<Duration> = Some(Duration::ZERO);

fn place() -> (TempDir, PathBuf) {
    let place = TempDir::new().unwrap();
    let file = place.path().join(LOCK);
    File::create(&file).unwrap();
    (place, file)
}

fn write(file: &PathBuf) {
    File::options().append(true).open(file).unwrap();
}

#[test]
fn one_wake_up_serves_many_changes() {
    let (_place, file) = place();
    let mut watch = Watch::on(&file).unwrap();
    for _ in 0..100 {
        write(&file);
    }
    assert_eq!(watch.wait(BOUND).unwrap(), Wake::Changed);
    assert_eq!(watch.wait(AT_ONCE).unwrap(), Wake::TimedOut);
    write(&file);
    assert_eq!(watch.wait(BOUND).unwrap(), Wake::Changed);
}

#[test]
fn a_wait_without_end_ends_with_the_change() {
    let (_place, file) = place();
    let mut watch = Watch::on(&file).unwrap();
    std::thread::scope(|scope| {
        let waiter = scope.spawn(|| watch.wait(None).unwrap());
        write(&file);
        assert_eq!(waiter.join().unwrap(), Wake::Changed);
    });
}

#[test]
fn reading_is_no_change() {
    let (_place, file) = place();
    let mut watch = Watch::on(&file).unwrap();
    File::open(&file).unwrap();
    assert_eq!(watch.wait(AT_ONCE).unwrap(), Wake::TimedOut);
}

/// A watch on a file and on a busy one, of which `pause` is let pass; and the number of its descriptor.
fn beside_busy(pause: Duration) -> (TempDir, [PathBuf; 2], Watch, i32) {
    let (place, file) = place();
    let busy = place.path().join("busy");
    File::create(&busy).unwrap();
    let watch = Watch::on(&file).unwrap();
    let watch = watch.also_on_bustle(&busy, pause).unwrap();
    let descriptor = watch.as_fd().as_raw_fd();
    (place, [file, busy], watch, descriptor)
}

/// Until the busy file is not heard any more.
fn until_it_is_let_pass(descriptor: i32) {
    let is_heard = || {
        let told = std::fs::read_to_string(format!("/proc/self/fdinfo/{descriptor}")).unwrap();
        told.lines()
            .filter(|it| it.starts_with("inotify wd:"))
            .count()
            > 1
    };
    while is_heard() {
        std::thread::yield_now();
    }
}

#[test]
fn a_busy_file_is_heard_once_for_all_that_happens_within_a_pause() {
    let (_place, [_, busy], mut watch, descriptor) = beside_busy(Duration::from_millis(200));
    for _ in 0..2 {
        write(&busy);
        std::thread::scope(|scope| {
            let waiter = scope.spawn(|| watch.wait(BOUND).unwrap());
            until_it_is_let_pass(descriptor);
            write(&busy);
            assert_eq!(waiter.join().unwrap(), Wake::Changed);
        });
        assert_eq!(watch.wait(AT_ONCE).unwrap(), Wake::TimedOut);
    }
    write(&busy);
    assert_eq!(
        watch.wait(AT_ONCE).unwrap(),
        Wake::Changed,
        "no time to wait"
    );
}

#[test]
fn a_busy_file_keeps_nobody_from_hearing_another_one() {
    let (_place, [file, busy], mut watch, descriptor) = beside_busy(Duration::from_secs(3_600));
    write(&busy);
    std::thread::scope(|scope| {
        let waiter = scope.spawn(|| watch.wait(None).unwrap());
        until_it_is_let_pass(descriptor);
        write(&file);
        assert_eq!(waiter.join().unwrap(), Wake::Changed);
    });
}

#[test]
fn a_busy_file_that_goes_while_nobody_hears_it_is_an_error() {
    let (_place, [_, busy], mut watch, descriptor) = beside_busy(Duration::from_millis(200));
    write(&busy);
    std::thread::scope(|scope| {
        let waiter = scope.spawn(|| watch.wait(BOUND));
        until_it_is_let_pass(descriptor);
        std::fs::remove_file(&busy).unwrap();
        assert!(matches!(waiter.join().unwrap(), Err(WatchError::Watch(..))));
    });
}

#[test]
fn the_descriptor_can_be_polled_by_the_caller() {
    let (_place, file) = place();
    let watch = Watch::on(&file).unwrap();
    let ready = || {
        let mut fds = [PollFd::new(&watch, PollFlags::IN)];
        poll(&mut fds, Some(&Timespec::default())).unwrap()
    };
    assert_eq!(ready(), 0);
    write(&file);
    assert_eq!(ready(), 1);
}

#[test]
fn a_deleted_or_replaced_file_is_gone() {
    let (place, file) = place();
    let mut watch = Watch::on(&file).unwrap();
    let other = place.path().join("other");
    File::create(&other).unwrap();
    std::fs::rename(&other, &file).unwrap();
    assert_eq!(watch.wait(BOUND).unwrap(), Wake::Gone);
    let mut watch = Watch::on(&file).unwrap();
    std::fs::remove_file(&file).unwrap();
    assert_eq!(watch.wait(BOUND).unwrap(), Wake::Gone);
}

#[test]
fn one_wake_up_serves_changes_of_different_kinds_and_the_last_word_is_gone() {
    let (place, file) = place();
    let mut watch = Watch::on(&file).unwrap();
    let moved = place.path().join("moved");
    write(&file);
    std::fs::rename(&file, &moved).unwrap();
    write(&moved);
    assert_eq!(watch.wait(BOUND).unwrap(), Wake::Gone);
    assert_eq!(watch.wait(AT_ONCE).unwrap(), Wake::TimedOut);
}

#[test]
fn a_missing_file_is_an_error_and_not_exhaustion() {
    let (place, _file) = place();
    let missing = Watch::on(&place.path().join("missing"));
    assert!(matches!(missing, Err(WatchError::Watch(..))), "{missing:?}");
}

#[test]
fn running_out_of_watches_or_instances_is_told_apart() {
    let (place, _file) = place();
    let faults = [
        "inotify_init1:error=EMFILE",
        "inotify_add_watch:error=ENOSPC",
    ];
    for fault in faults {
        let wrapper = strace([format!("--inject={fault}")]);
        let output = Part::Watch
            .command_under(&wrapper, place.path())
            .output()
            .unwrap();
        assert_eq!(verdict(output.status), Ok(Verdict::Exhausted), "{fault}");
    }
}

#[test]
fn a_directory_tells_of_files_that_are_replaced_and_made() {
    let (place, file) = place();
    let mut watch = Watch::on_directories(&[place.path()]).unwrap();
    let other = place.path().join("other");
    File::create(&other).unwrap();
    assert_eq!(watch.wait(BOUND).unwrap(), Wake::Changed);
    std::fs::rename(&other, &file).unwrap();
    assert_eq!(watch.wait(BOUND).unwrap(), Wake::Changed);
    File::open(&file).unwrap();
    assert_eq!(watch.wait(AT_ONCE).unwrap(), Wake::TimedOut);
}

#[test]
fn a_file_elsewhere_can_be_heard_as_well() {
    let (first, _) = place();
    let (_second, file) = place();
    let watch = Watch::on_directories(&[first.path()]).unwrap();
    let mut watch = watch.also_on(&file).unwrap();
    write(&file);
    assert_eq!(watch.wait(BOUND).unwrap(), Wake::Changed);
}

#[test]
fn growth_is_heard_before_the_file_is_closed() {
    use std::io::Write as _;
    let (_place, file) = place();
    let mut growing = File::options().append(true).open(&file).unwrap();
    let mut watch = Watch::on_growth(&file).unwrap();
    growing.write_all(b"more").unwrap();
    assert_eq!(watch.wait(BOUND).unwrap(), Wake::Changed);
    assert_eq!(watch.wait(AT_ONCE).unwrap(), Wake::TimedOut);
}
