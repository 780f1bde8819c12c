//! What a watchdog puts right, it tells by name.

use crate::stage::Stage;

#[test]
fn a_lease_that_nobody_renews_is_given_back_in_the_ledger() {
    let stage = Stage::new();
    stage.add("fix");
    stage.say("queue claim fix --ttl 1s").success();
    while stage.state("fix") != "queued" {
        std::thread::yield_now();
    }
    let seen = stage.say("watchdog").success();
    assert_eq!(seen.stdout, "fix is given back: its lease has run out\n");
    let events = stage.say("events --json").success().stdout;
    assert!(events.contains("lease_expired"), "{events}");
    let again = stage.say("watchdog").success();
    assert_eq!(again.stdout, "Everything is as it should be.\n");
}

#[test]
fn a_watchdog_makes_no_project_of_a_repository() {
    let stage = Stage::new();
    stage.say("watchdog").success();
    assert!(!stage.repo.path().join(".git/handoff/project").exists());
}

#[test]
fn a_pause_that_it_undoes_is_told() {
    let mut stage = Stage::new();
    stage.add("fix");
    stage.claim("fix");
    let deadly = stage.git_that("kill -9 $PPID");
    assert_eq!(stage.say("pause fix").code(), None);
    std::fs::remove_file(deadly).unwrap();
    let seen = stage.say("watchdog").success();
    assert_eq!(seen.stdout, "A pause that came to no end is undone.\n");
    assert_eq!(stage.state("fix"), "queued");
}
