//! What a holder looks after: agents that are stuck, and files that they are told of.

use std::fs;

use super::hall::Hall;

/// An agent that says that it works, prints nothing more, and takes one line.
const STUCK: &str = r#"
[[step]]
osc = "7501;state=working"
[[step]]
expect = "go on"
[[step]]
osc = "7501;state=idle"
[[step]]
expect = "end"
"#;

/// An agent that says once what it does, and then waits for ever.
fn saying(hall: &Hall, state: &str) -> String {
    let text = format!("[[step]]\nosc = \"7501;state={state}\"\n[[step]]\nexpect = \"never\"\n");
    let path = hall.stage.script(&format!("{state}.toml"), &text);
    path.to_str().unwrap().to_owned()
}

#[test]
fn a_stuck_agent_is_told_to_go_on_and_then_left_in_peace() {
    let hall = Hall::new();
    let script = hall.stage.script("agent.toml", STUCK);
    // More than one: on a busy machine it may take longer to go on than to be taken for stuck.
    let watch = ["--watch", "--stall-after", "1s", "--max-resumes", "9"];
    let words = [&["scripted"], &watch[..], &["--", script.to_str().unwrap()]].concat();
    hall.run("stuck", &words);
    hall.until("stuck", "\"type\":\"log_idle\"");
    hall.until("stuck", "\"type\":\"resumed\",\"resume\":1,\"of\":9");
    hall.until("stuck", "\"state\":\"prompt\"");
    hall.until("stuck", "\"type\":\"log_active\"");
    let events = hall.stage.say("events --id stuck --snapshot").success();
    let types: Vec<String> = events
        .json_lines()
        .iter()
        .map(|it| it["type"].as_str().unwrap().to_owned())
        .collect();
    let at = |word: &str| types.iter().position(|it| it == word);
    assert!(
        at("stalled") < at("resumed") && at("resumed") < at("send"),
        "{types:?}"
    );
    assert_eq!(at("escalated"), None);
}

#[test]
fn one_who_stays_hears_that_it_is_given_up_and_the_session_lives() {
    let hall = Hall::new();
    let script = saying(&hall, "working");
    let watch = [
        "run",
        "scripted",
        "--watch",
        "--stall-after",
        "1s",
        "--max-resumes",
        "0",
    ];
    let words = [&watch[..], &["--id", "hangs", "--", &script]].concat();
    let stayed = hall.stage.run(words);
    assert_eq!(stayed.code(), Some(15), "{}", stayed.stderr);
    assert!(
        stayed.stderr.contains("`hangs` is stuck"),
        "{}",
        stayed.stderr
    );
    assert_eq!(hall.listed("hangs")["state"], "busy");
}

#[test]
fn a_blocked_agent_and_one_that_is_done_are_left_alone() {
    let hall = Hall::new();
    let watch = ["--watch", "--stall-after", "1s", "--max-resumes", "1"];
    for state in ["blocked", "idle"] {
        let script = saying(&hall, state);
        hall.run(
            state,
            &[&["scripted"], &watch[..], &["--", &script]].concat(),
        );
    }
    // By the time that this one is given up, the others would have been too.
    let script = saying(&hall, "working");
    let slower = ["--watch", "--stall-after", "2s", "--max-resumes", "0"];
    hall.run(
        "stuck",
        &[&["scripted"], &slower[..], &["--", &script]].concat(),
    );
    hall.until("stuck", "\"type\":\"escalated\"");
    for state in ["blocked", "idle"] {
        let events = hall.stage.say(&format!("events --id {state} --snapshot"));
        assert!(!events.stdout.contains("stalled"), "{}", events.stdout);
    }
}

#[test]
fn one_who_stays_exits_as_the_session_does() {
    let hall = Hall::new();
    let stayed = hall.stage.run([
        "run", "sh", "--watch", "--id", "short", "--", "-c", "exit 5",
    ]);
    assert_eq!(stayed.code(), Some(5), "{}", stayed.stderr);
}

/// Takes one message and another.
const LISTENS: &str = r#"
[[step]]
osc = "7501;state=idle"
[[step]]
repeat = 2
[[step.steps]]
message = "❯ "
as = "text"
[[step.steps]]
osc = "7501;state=working"
[[step.steps]]
osc = "7501;state=idle"
"#;

#[test]
fn an_agent_is_told_of_a_file_that_was_not_there() {
    let hall = Hall::new();
    let script = hall.stage.script("listens.toml", LISTENS);
    let script = script.to_str().unwrap();
    let words = ["scripted", "--watch-file", "status.jsonl", "--", script];
    hall.run("told", &words);
    hall.until("told", "\"state\":\"prompt\"");
    let file = hall.stage.repo.path().join("status.jsonl");
    fs::write(&file, "{}\n").unwrap();
    hall.until("told", "\"type\":\"file_changed\"");
    hall.until("told", "file-change-hook: read ");
    hall.until("told", "\"type\":\"delivered\"");
    // The old form means the same.
    let words = ["scripted", "--watch", "status.jsonl", "--", script];
    hall.run("old", &words);
    hall.until("old", "\"state\":\"prompt\"");
    fs::write(&file, "{}\n{}\n").unwrap();
    hall.until("old", "\"type\":\"file_changed\"");
    let refused = hall
        .stage
        .say("run cat --detach --watch-file nowhere/status --id x");
    assert_eq!(refused.code(), Some(3), "{}", refused.stderr);
}
