//! A command that is killed, or whose disk fails, at each of its steps: nothing is lost, and repeating it finishes.

use std::collections::BTreeSet;
use std::fs;

use handoff_testkit::{Errno, Fault, Injection, Need, When, skip_without};

use super::path;
use crate::stage::Stage;

/// The calls by which these commands change what others see. A kill before a sync leaves the same as one before the call
/// that follows.
const CHANGES: [&str; 5] = ["mkdirat", "symlinkat", "renameat", "renameat2", "unlinkat"];

/// More than there are of any call; reaching it means that the sweep does not end.
const MOST: u16 = 100;

/// Two features with a text of their own, the first of them current.
fn set(stage: &Stage) {
    for name in ["one", "two"] {
        stage.run(["init", name]).success();
        fs::write(path(stage, "features").join(name).join("SPEC.md"), name).unwrap();
    }
}

/// The texts of both features, wherever in the workspace they are.
fn texts(stage: &Stage) -> BTreeSet<String> {
    let found = crate::stage::tree(&path(stage, ""));
    let specs = found
        .into_iter()
        .filter(|(path, _)| path.ends_with("SPEC.md"));
    let texts = specs.map(|(_, (_, _, content))| String::from_utf8(content).unwrap());
    texts
        .filter(|text| ["one", "two"].contains(&text.as_str()))
        .collect()
}

/// Injects a fault into each call of each kind in turn, each time into a workspace of its own.
fn sweep(words: &str, calls: &[&str], fault: Fault) {
    if skip_without(&[Need::Strace]) {
        return;
    }
    let stage = Stage::new();
    let mut faults = 0;
    for &syscall in calls {
        let end = (1..MOST).find(|n| {
            let injection = Injection {
                syscalls: &[syscall],
                fault,
                when: When::nth(*n),
            };
            let is_through = survived(&stage, words, &injection);
            faults += usize::from(!is_through);
            is_through
        });
        assert!(end.is_some(), "{syscall} never let it through");
    }
    assert!(faults > 1, "{words} met {faults} faults");
}

fn survived(stage: &Stage, words: &str, injection: &Injection<'_>) -> bool {
    set(stage);
    let mut command = stage
        .env
        .command_under(&injection.prefix(), stage.env.binary());
    command
        .current_dir(stage.repo.path())
        .args(words.split(' '));
    let is_through = stage.env.run(command).status.success();
    assert_eq!(texts(stage).len(), 2, "{injection:?}");
    stage.say("list").success();
    // What was done before the fault need not be done again, and may not be possible again.
    let repeated = stage.say(words);
    assert!(
        matches!(repeated.code(), Some(0 | 3 | 4)),
        "{injection:?} {}",
        repeated.stderr
    );
    assert_eq!(texts(stage).len(), 2, "{injection:?}");
    fs::remove_dir_all(path(stage, "")).unwrap();
    is_through
}

#[test]
fn a_killed_switch_leaves_one_of_both_current() {
    sweep("switch two", &CHANGES, Fault::Kill);
}

#[test]
fn a_killed_cleaning_loses_nothing() {
    sweep("clean --force", &CHANGES, Fault::Kill);
}

#[test]
fn a_killed_archive_loses_nothing() {
    sweep("archive one", &CHANGES, Fault::Kill);
}

#[test]
fn a_killed_init_can_be_repeated() {
    sweep("init three --force", &CHANGES, Fault::Kill);
}

#[test]
fn a_cleaning_on_a_failing_disk_loses_nothing() {
    sweep(
        "clean --force",
        &["fsync", "renameat2"],
        Fault::Error(Errno::Eio),
    );
}
