//! `handoff demo`.

use std::fs;

use crate::stage::Stage;

fn left_behind(stage: &Stage) -> Vec<std::path::PathBuf> {
    let entries = fs::read_dir(stage.env.root().join("tmp")).unwrap();
    entries.map(|entry| entry.unwrap().path()).collect()
}

#[test]
fn it_tells_six_scenes_whose_ledger_agrees_and_leaves_nothing() {
    let stage = Stage::new();
    let told = stage.env.handoff(["demo"]).success();
    assert_eq!(told.stderr, "");
    for number in 1..=6 {
        assert!(
            told.stdout.contains(&format!("\n{number}. ")),
            "{}",
            told.stdout
        );
    }
    assert!(!told.stdout.contains("\n7. "));
    assert!(
        told.stdout.contains("refs/handoff/quarantine/farewell-"),
        "{}",
        told.stdout
    );
    assert!(
        told.stdout.contains("- verified by `grep -q "),
        "{}",
        told.stdout
    );
    for said in [
        "2 of 4 parts done",
        "the session changed what it does not own: `README.md`",
        "It differs from main in de/greet.sh and fr/greet.sh.",
    ] {
        assert!(told.stdout.contains(said), "{}", told.stdout);
    }
    let ending = told.stdout.trim_end().lines().last().unwrap();
    assert!(
        ending.starts_with("7 tasks, 1 batch, 1 feature and their ")
            && ending.ends_with(" events agree."),
        "{ending}"
    );
    assert_eq!(left_behind(&stage), Vec::<std::path::PathBuf>::new());
    assert!(
        !stage.env.handoff_home().exists(),
        "the user's own ledger is not touched"
    );
}

#[test]
fn what_is_kept_can_be_looked_at() {
    let mut stage = Stage::new();
    let told = stage.env.handoff(["demo", "--keep"]).success();
    let [place] = &left_behind(&stage)[..] else {
        panic!("{}", told.stdout);
    };
    assert!(
        told.stdout.contains(place.to_str().unwrap()),
        "{}",
        told.stdout
    );
    stage.env.set("HANDOFF_HOME", place.join("state"));
    let queue = stage
        .env
        .handoff_in(place.join("repo"), ["queue", "list", "--all", "--json"]);
    let states: Vec<_> = queue.success().json()["tasks"]
        .as_array()
        .unwrap()
        .iter()
        .map(|task| task["state"].clone())
        .collect();
    let ends = ["done", "failed", "blocked", "done", "done", "done", "done"];
    assert_eq!(states, ends);
}

#[test]
fn it_needs_nothing_of_the_environment_it_runs_in() {
    let mut stage = Stage::new();
    stage
        .env
        .set("HANDOFF_STORE", "postgres://nobody@127.0.0.1:1/x")
        .set("HANDOFF_SESSION", "nonsense")
        .set("GIT_DIR", "/nowhere")
        .set("HOME", "/nowhere")
        .set("GIT_CONFIG_GLOBAL", "/nowhere");
    stage.env.handoff(["demo"]).success();
}

#[test]
fn it_has_no_json_form_and_says_so() {
    let stage = Stage::new();
    insta::assert_snapshot!(stage.say("demo --json").snapshot(), @r#"
    exit status: 2
    --- stdout ---
    {"schema":"handoff.error/1","error":"usage","exit_code":2,"message":"the demo is a story for people and has no JSON form","causes":[],"hints":["keep its ledger with `handoff demo --keep`, and read it there with `handoff events --json`"]}
    "#);
    assert_eq!(left_behind(&stage), Vec::<std::path::PathBuf>::new());
}
