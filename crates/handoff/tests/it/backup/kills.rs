//! Whoever is killed leaves the old state or the new one.

use handoff_testkit::{Fault, Injection, Need, When, skip_without};

use super::tables::Tables;
use super::{audit, back_up, furnish, place, restore};
use crate::stage::Stage;

/// More calls of a kind than either command makes.
const MOST: u16 = 200;

/// Kills a command as it enters the calls that change names and make them last, one after the other; whether it came to its end.
fn struck(stage: &Stage, words: &[&str], call: &str, number: u16) -> bool {
    let injection = Injection {
        syscalls: &[call],
        fault: Fault::Kill,
        when: When::nth(number),
    };
    let mut command = stage
        .env
        .command_under(&injection.prefix_of_one(), stage.env.binary());
    command.current_dir(stage.repo.path()).args(words);
    stage.env.run(command).status.success()
}

#[test]
fn a_restore_that_is_killed_is_all_or_nothing() {
    if skip_without(&[Need::Strace]) {
        return;
    }
    let stage = Stage::new();
    let package = furnish(&stage);
    let backup = back_up(&stage, "one");
    let old = Tables::of(&backup);
    stage
        .say(&format!("package delete {package} --yes"))
        .success();
    stage.add("later");
    let backup = backup.to_str().unwrap();
    let (mut kept, mut replaced) = (0, 0);
    for call in ["renameat2", "fsync", "unlinkat"] {
        for number in (1..MOST).step_by(if call == "renameat2" { 1 } else { 3 }) {
            let is_done = struck(&stage, &["restore", backup, "--yes"], call, number);
            let is_new = stage.say("queue show later").code() == Some(3);
            assert!(is_new || !is_done, "{call} {number}");
            let home = stage.env.handoff_home();
            assert!(!home.join("handoff.replacement").exists());
            let verified = stage.say(&format!("package verify {package}")).code();
            if is_new {
                Tables::of(&home).assert_continues(&old);
                assert_eq!(verified, Some(0), "{call} {number}");
                replaced += 1;
                stage
                    .say(&format!("package delete {package} --yes"))
                    .success();
                stage.add("later");
            } else {
                assert_ne!(verified, Some(0), "{call} {number}");
                kept += 1;
            }
            audit(&stage);
            if is_done {
                break;
            }
        }
    }
    // Both sides of the one moment were met.
    assert!(kept > 3 && replaced > 3, "{kept} and {replaced}");
}

#[test]
fn a_backup_that_is_killed_is_never_taken_for_one() {
    if skip_without(&[Need::Strace]) {
        return;
    }
    let stage = Stage::new();
    furnish(&stage);
    let path = place(&stage, "one");
    let directory = path.to_str().unwrap();
    let mut unfinished = 0;
    for number in (1..MOST).step_by(2) {
        let is_done = struck(&stage, &["backup", directory, "--yes"], "fsync", number);
        let check = ["restore", "--check", directory];
        if path.join("manifest.json").exists() {
            stage.run(check).success();
            break;
        }
        assert!(!is_done);
        assert_ne!(stage.run(check).code(), Some(0));
        unfinished += 1;
    }
    assert!(unfinished > 3);
    // Whoever has not finished is asked about before it goes.
    let path = place(&stage, "two");
    let directory = path.to_str().unwrap();
    struck(&stage, &["backup", directory], "fsync", 8);
    stage.run(["backup", directory]).failure(2);
    stage.run(["backup", directory, "--yes"]).success();
    restore(&stage, &path);
    audit(&stage);
}
