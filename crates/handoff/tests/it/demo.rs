//! `handoff demo`.

use std::fs;

use crate::stage::Stage;

fn left_behind(stage: &Stage) -> Vec<std::path::PathBuf> {
    let entries = fs::read_dir(stage.env.root().join("tmp")).unwrap();
    entries.map(|entry| entry.unwrap().path()).collect()
}

/// One telling for all: it takes a while.
#[test]
fn it_tells_seven_scenes_whose_ledger_agrees_and_can_be_looked_at() {
    let mut stage = Stage::new();
    // Nothing of where it runs reaches it.
    stage
        .env
        .set("HANDOFF_STORE", "postgres://nobody@127.0.0.1:1/x")
        .set("HANDOFF_SESSION", "nonsense")
        .set("GIT_DIR", "/nowhere")
        .set("HOME", "/nowhere")
        .set("GIT_CONFIG_GLOBAL", "/nowhere");
    let told = stage.env.handoff(["demo", "--keep"]).success();
    assert_eq!(told.stderr, "");
    let said = told.stdout.as_str();
    for number in 1..=7 {
        assert!(said.contains(&format!("\n{number}. ")), "{said}");
    }
    assert!(!said.contains("\n8. "));
    for words in [
        "refs/handoff/quarantine/farewell-",
        "- verified by `grep -q ",
        "2 of 4 parts done",
        "the session changed what it does not own: `README.md`",
        "| error: `git commit --all` is not for a sub-task",
        "It differs from main in de/greet.sh and fr/greet.sh.",
        "tests/lines.sh",
        "✓ red        covered",
        "✓ plan       complete",
        "19 tasks, 1 batch, 1 feature, 1 run and their ",
        " events agree.\n",
    ] {
        assert!(said.contains(words), "{words}: {said}");
    }
    assert!(
        !stage.env.handoff_home().exists(),
        "the user's own ledger is not touched"
    );
    what_was_kept_tells_the_same(&stage, said);
}

fn what_was_kept_tells_the_same(stage: &Stage, said: &str) {
    let [place] = &left_behind(stage)[..] else {
        panic!("{said}");
    };
    assert!(said.contains(place.to_str().unwrap()), "{said}");
    let mut visitor = Stage::new();
    visitor.env.set("HANDOFF_HOME", place.join("state"));
    let queue = visitor
        .env
        .handoff_in(place.join("repo"), ["queue", "list", "--all", "--json"]);
    let states: Vec<_> = queue.success().json()["tasks"]
        .as_array()
        .unwrap()
        .iter()
        .filter(|task| !task["name"].as_str().unwrap().starts_with("words."))
        .map(|task| task["state"].clone())
        .collect();
    let ends = ["done", "failed", "blocked", "done", "done", "done", "done"];
    assert_eq!(states, ends);
    // The first task ended in a sealed package, and what the second was told is built from it.
    let sessions = fs::read_dir(place.join("state/sessions")).unwrap();
    let mut prompts = sessions
        .map(|it| it.unwrap().path().join("prompt.md"))
        .filter_map(|path| fs::read_to_string(path).ok());
    let from_package = "# What the session before you left (greet)";
    assert!(prompts.any(|it| it.contains(from_package)));
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
