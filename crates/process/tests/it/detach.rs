//! A program that outlives its starter.

use std::time::Duration;

use handoff_process::{Report, detach};

use crate::part::{BOUND, is_gone, shell};

#[test]
fn a_detached_program_reports_once_and_lives_on() {
    let mut detached = detach(&shell("echo $$; exec >/dev/null; exec sleep 1000")).unwrap();
    let Report::Said(said) = detached.report(BOUND).unwrap() else {
        panic!("no report");
    };
    let pid: i32 = String::from_utf8(said).unwrap().trim().parse().unwrap();
    let session = std::fs::read_to_string(format!("/proc/{pid}/stat")).unwrap();
    assert_eq!(session.split(' ').nth(5), Some(pid.to_string().as_str()));
    detached.end().unwrap();
    assert!(is_gone(pid));
}

#[test]
fn a_program_that_says_nothing_is_not_waited_for() {
    let mut detached = detach(&shell("exec sleep 1000")).unwrap();
    let report = detached.report(Duration::from_millis(20)).unwrap();
    assert_eq!(report, Report::TimedOut);
    detached.end().unwrap();
}

#[test]
fn one_that_has_ended_is_buried_by_whoever_starts_the_next() {
    let mut first = detach(&shell("echo $$")).unwrap();
    let Report::Said(said) = first.report(BOUND).unwrap() else {
        panic!("no report");
    };
    let pid: i32 = String::from_utf8(said).unwrap().trim().parse().unwrap();
    drop(first);
    assert!(is_gone(pid));
    let is_listed = || std::path::Path::new(&format!("/proc/{pid}")).exists();
    assert!(is_listed(), "nobody has asked how it ended");
    detach(&shell("exec sleep 1000")).unwrap().end().unwrap();
    assert!(!is_listed());
}
