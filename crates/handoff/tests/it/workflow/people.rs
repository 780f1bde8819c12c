//! What a person is told: before anybody works, at a gate, and of what was shared.

use std::ffi::OsStr;
use std::fs;

use super::{AGENT, Play};

#[test]
fn a_suite_that_does_not_run_is_told_before_anybody_works() {
    let play = Play::new();
    play.stage
        .repo
        .write("run-tests.sh", "echo 'no such runner'; exit 7\n");
    play.stage.repo.commit("a runner that is none");
    let told = play.run().failure(1);
    assert!(
        told.stdout
            .contains("no proof possible: the test suite does not run as it is")
            && told.stdout.contains("no such runner"),
        "{}",
        told.stdout
    );
    assert!(!play.has_told("# Your role"), "no session was begun for it");
    let run = play.stage.json("workflow status calc");
    assert_eq!(
        (&run["state"], &run["cause"]),
        (&"stopped".into(), &"no proof possible".into())
    );
}

const ASKING: &str = r#"schema_version = 1
description = "One phase, one question."

[[phases]]
name = "paint"
role = "You paint."
prompt = "Paint it."
takes = ["context:colour"]
proof = "checks"
gate = "human"
ask = "Is it the right colour?"
next = "end"
"#;

#[test]
fn a_gate_shows_what_is_asked_and_what_changed() {
    let play = Play::new();
    let stage = &play.stage;
    stage.repo.write(".handoff/workflows/asking.toml", ASKING);
    stage.say("workflow trust asking --yes").success();
    stage
        .run(["context", "set", "colour", "\"blue\""])
        .success();
    play.act("paint", "echo blue > wall; \"$HANDOFF\" done");
    let script = stage.script("agent.toml", AGENT);
    let words = [
        "workflow", "run", "asking", "--goal", "A wall.", "--name", "wall", "--script",
    ];
    let words = words.map(OsStr::new);
    let told = stage
        .run(words.into_iter().chain([script.as_os_str()]))
        .failure(13);
    for said in [
        "Is it the right colour? `handoff approve wall`",
        "wall | 1 +",
        "All of it: `git diff ",
    ] {
        assert!(told.stdout.contains(said), "{said}: {}", told.stdout);
    }
    assert!(play.has_told("What the project's context says of `colour`"));
    let again = stage.say("workflow status wall").success().stdout;
    assert!(again.contains("wall | 1 +"), "{again}");
    stage.say("approve wall").success();
    assert_eq!(
        fs::read_to_string(stage.repo.path().join("wall")).ok(),
        None,
        "it is on its branch"
    );
}
