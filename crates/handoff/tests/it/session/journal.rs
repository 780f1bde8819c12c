//! The contract of `events --id`, and the lists of sessions.

use std::fs;

use super::hall::Hall;

#[test]
fn a_snapshot_ends_and_a_floor_is_inclusive() {
    let hall = Hall::new();
    hall.bash("seen");
    let all = hall.stage.say("events --id seen --snapshot").success();
    assert_eq!(
        hall.stage.say("events --id seen --no-follow").stdout,
        all.stdout
    );
    let events = all.json_lines();
    let last = events.last().unwrap()["ts"].as_str().unwrap().to_owned();
    let from = format!("events --id seen --snapshot --from {last}");
    assert_eq!(
        hall.stage.say(&from).success().json_lines().last(),
        events.last()
    );
    let later = "events --id seen --snapshot --from 2999-01-01T00:00:00Z";
    assert_eq!(hall.stage.say(later).success().stdout, "");
    assert_eq!(
        hall.stage
            .say("events --id seen --snapshot --cli bash")
            .code(),
        Some(0)
    );
    assert_eq!(
        hall.stage
            .say("events --id seen --snapshot --cli codex")
            .code(),
        Some(1)
    );
    for field in [
        "schema",
        "schema_version",
        "seq",
        "ts",
        "id",
        "session",
        "type",
    ] {
        assert!(!events[0][field].is_null(), "{field}");
    }
}

#[test]
fn a_journal_that_is_cut_or_gone_ends_the_stream() {
    let hall = Hall::new();
    let (cut, gone) = (hall.bash("cut"), hall.bash("gone"));
    let mut followers = ["cut", "gone"].map(|name| hall.events(name));
    for follower in &followers {
        while !follower.line().contains("\"state\":\"prompt\"") {}
    }
    fs::write(cut.text("events_log_path"), "").unwrap();
    fs::remove_file(gone.text("events_log_path")).unwrap();
    for follower in &mut followers {
        assert_eq!(follower.code(), Some(1));
    }
}

#[test]
fn sessions_are_listed_by_place_and_name() {
    let hall = Hall::new();
    hall.bash("one");
    hall.bash("two");
    let count = |words: &str| hall.stage.json(words)["sessions"].as_array().unwrap().len();
    assert_eq!((count("ps"), count("status --sessions")), (2, 2));
    assert_eq!((count("ps --id two"), count("ps --id three")), (1, 0));
    let other = hall.stage.env.repo("other");
    let there = |words: &[&str]| hall.stage.env.handoff_in(other.path(), words);
    assert_eq!(
        there(&["ps", "--json"]).json()["sessions"]
            .as_array()
            .unwrap()
            .len(),
        0
    );
    let repo = hall.stage.repo.path().to_str().unwrap();
    let listed = there(&["ps", "--json", "--repo", repo]).json();
    assert_eq!(listed["sessions"].as_array().unwrap().len(), 2);
    let listed = there(&["status", "--sessions", "--all", "--json"]).json();
    assert_eq!(listed["sessions"].as_array().unwrap().len(), 2);
    assert_eq!(hall.stage.say("status --all").code(), Some(2));
}

#[test]
fn the_documentation_names_every_event() {
    let page = include_str!("../../../../../docs/events.md");
    for word in handoff_session::journal::TYPES {
        assert!(page.contains(&format!("`{word}`")), "{word}");
    }
}

#[test]
fn what_is_sent_is_told_with_the_beginning_of_its_text() {
    let hall = Hall::new();
    hall.run("sink", &["cat"]);
    let long = "ä".repeat(201);
    for text in ["short", &long[..400], &long] {
        let words = ["send", "--id", "sink", "--no-wait", "--message", text];
        hall.stage.run(words).success();
    }
    let events = hall.stage.say("events --id sink --snapshot").json_lines();
    let sends = events.iter().filter(|it| it["type"] == "send");
    let told: Vec<_> = sends
        .map(|it| (it["msg"].as_str().unwrap(), &it["msg_truncated"]))
        .collect();
    let beginning = &long[..400];
    let (whole, cut) = (&false.into(), &true.into());
    let expected = [("short", whole), (beginning, whole), (beginning, cut)];
    assert_eq!(told, expected);
}
