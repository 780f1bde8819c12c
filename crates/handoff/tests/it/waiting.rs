//! Processes that wait, and are told.

use std::time::Duration;

use handoff_files::{Wake, Watch};

use crate::stage::{PATIENCE, Stage};

#[test]
fn a_follower_is_told_of_a_new_event() {
    let stage = Stage::new();
    stage.add("first");
    let follower = stage.start(["events", "--follow", "--json"]);
    let name = |line: String| {
        let event: serde_json::Value = serde_json::from_str(&line).unwrap();
        event["event"]["spec"]["name"].clone()
    };
    assert_eq!(name(follower.line()), "first");
    for later in ["second", "third"] {
        stage.add(later);
        assert_eq!(name(follower.line()), later);
    }
}

#[test]
fn a_follower_since_now_hears_only_what_is_new() {
    let stage = Stage::new();
    stage.add("old");
    let mut written = Watch::on(&stage.env.handoff_home().join("handoff.lock")).unwrap();
    // It takes its place before it prints anything, so it is asked for one event to be heard at all.
    let follower = stage.start(["events", "--follow", "--since", "now"]);
    let mut round = 0;
    let line = loop {
        round += 1;
        assert!(round < 100, "it never heard of a new event");
        stage.add(&format!("new-{round}"));
        assert_eq!(written.wait(Some(PATIENCE)).unwrap(), Wake::Changed);
        if let Some(line) = follower.try_line(Duration::from_millis(100)) {
            break line;
        }
    };
    assert!(line.contains("new-"), "{line}");
}

#[test]
fn a_waiting_claim_is_woken_by_an_add() {
    // Sooner than it would look again by itself, if not each time: a busy machine may have been busy.
    assert!((0..3).any(|_| claims_what_is_added_within(Duration::from_secs(4))));
}

fn claims_what_is_added_within(patience: Duration) -> bool {
    let stage = Stage::new();
    stage.add("taken");
    stage.claim("taken");
    let mut tried = Watch::on(&stage.env.handoff_home().join("handoff.lock")).unwrap();
    let mut claimer = stage.start(["queue", "claim", "--wait", "1m"]);
    // Its first attempt takes the store's lock, and it has taken the bell before that.
    assert_eq!(tried.wait(Some(PATIENCE)).unwrap(), Wake::Changed);
    stage.add("fresh");
    let told = claimer.try_line(patience);
    let line = told.clone().unwrap_or_else(|| claimer.line());
    assert_eq!(line, "claimed fresh with fence 1");
    assert_eq!(claimer.code(), Some(0));
    told.is_some()
}

#[test]
fn a_waiting_claim_does_not_wake_itself() {
    let stage = Stage::new();
    stage.add("taken");
    stage.say("queue claim").success();
    let mut tried = Watch::on(&stage.env.handoff_home().join("handoff.lock")).unwrap();
    let mut claimer = stage.start(["queue", "claim", "--wait", "2s"]);
    assert_eq!(tried.wait(Some(PATIENCE)).unwrap(), Wake::Changed);
    let mut attempts = 1;
    while claimer.is_running() {
        if tried.wait(Some(Duration::from_millis(100))).unwrap() == Wake::Changed {
            attempts += 1;
        }
    }
    assert_eq!(claimer.code(), Some(124));
    // One at the beginning, one at the end.
    assert!(attempts <= 3, "{attempts} attempts to claim");
}

#[test]
fn a_claim_waits_no_longer_than_it_was_told() {
    let stage = Stage::new();
    let answer = stage.say("queue claim --wait 1ms --json").failure(124);
    assert_eq!(answer.json()["task"], serde_json::Value::Null);
}
