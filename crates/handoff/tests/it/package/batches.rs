//! A batch is paused, goes on and is handed over as one: all of it or nothing, with what was said of it.

use std::fs;
use std::path::PathBuf;

use handoff_testkit::postgres::fresh_database;
use serde_json::Value;

use crate::stage::Stage;

const MANIFEST: &str = r#"
schema_version = 2
batch_id = "b"
fan_in_task = "together"
sub_tasks = [
    { id = "one", brief = "One.", file_ownership = ["1/"] },
    { id = "two", brief = "Two.", file_ownership = ["2/"] },
    { id = "three", brief = "Three.", file_ownership = ["3/"], depends_on = ["one"] },
]
"#;

/// Each part writes what it owns.
const WRITER: &str = r#"
[[step]]
run = ["sh", "-c", "case $HANDOFF_TASK in b.one) d=1;; b.two) d=2;; b.three) d=3;; *) exit 0;; esac; mkdir $d; echo x > $d/x"]
"#;

/// A batch of three, of which the first two are worked on.
fn begun(stage: Stage) -> Stage {
    stage.repo.write("batch.toml", MANIFEST);
    stage.say("dump --open-batch batch.toml").success();
    for part in ["one", "two"] {
        stage.claim(&format!("b.{part}"));
    }
    stage
}

/// The same in the ledger of a team.
fn begun_by_a_team(url: &str) -> Stage {
    let mut stage = Stage::new();
    stage.env.set("HANDOFF_STORE", url);
    begun(stage)
}

fn pause(stage: &Stage, more: &[&str]) -> String {
    let words = ["pause", "--batch", "b", "--json"];
    let paused = stage.run(words.iter().chain(more)).success().json();
    paused["id"].as_str().unwrap().to_owned()
}

/// The packages of the parts, with what became of each.
fn parts(stage: &Stage, id: &str) -> Vec<(String, Value)> {
    let shown = stage.json(&format!("package show {id}"));
    let parts = shown["payload"]["batch"]["parts"].as_array().unwrap();
    let package = |part: &Value| part["package"].as_str().unwrap().to_owned();
    parts
        .iter()
        .map(|it| {
            let shown = stage.json(&format!("package show {}", package(it)));
            (package(it), shown)
        })
        .collect()
}

fn states(stage: &Stage) -> [String; 2] {
    ["one", "two"].map(|part| stage.state(&format!("b.{part}")))
}

/// Whatever is refused has changed nothing, and says what is safe to do.
fn what_is_out_of_time_is_refused_whole(stage: &Stage) {
    let id = pause(stage, &["--ttl", "1s"]);
    while stage.json(&format!("package show {id}"))["state"] != "expired" {}
    let refused = stage.say(&format!("resume {id}")).failure(4);
    let told = &refused.stderr;
    assert!(told.contains("nothing was changed"), "{told}");
    assert!(told.contains("`handoff unhold --batch b`"), "{told}");
    for (_, part) in parts(stage, &id) {
        assert_eq!(part["state"], "expired", "as long as the whole: {part}");
    }
    assert_eq!(states(stage), ["held", "held"]);
    stage.say("unhold --batch b").success();
    assert_eq!(states(stage), ["queued", "queued"]);
    stage.say("doctor --audit").success();
}

#[test]
fn a_resume_that_comes_too_late_changes_nothing() {
    what_is_out_of_time_is_refused_whole(&begun(Stage::new()));
}

#[test]
fn a_resume_in_a_team_that_comes_too_late_changes_nothing() {
    let Some(database) = fresh_database() else {
        return;
    };
    what_is_out_of_time_is_refused_whole(&begun_by_a_team(database.url()));
}

/// A context that was changed since stops all of it, whichever part it is of.
fn a_conflict_in_one_part_stops_all_of_it(stage: &Stage) {
    stage.say("context set half 1 --task b.two").success();
    let id = pause(stage, &[]);
    stage.say("context set half 2 --task b.two").success();
    let refused = stage.say(&format!("resume {id}")).failure(4);
    let told = &refused.stderr;
    assert!(told.contains("because of `b.two`"), "{told}");
    assert!(told.contains("`half`"), "{told}");
    for (_, part) in parts(stage, &id) {
        assert_eq!(part["state"], "created");
    }
    assert_eq!(states(stage), ["held", "held"]);
    stage
        .say(&format!("resume {id} --policy take-theirs"))
        .success();
    assert_eq!(states(stage), ["queued", "queued"]);
    let entry = stage.json("context get half --task b.two");
    assert_eq!(entry["value"], "1");
    stage.say("doctor --audit").success();
}

#[test]
fn a_conflict_of_contexts_stops_a_resume_before_it_begins() {
    a_conflict_in_one_part_stops_all_of_it(&begun(Stage::new()));
}

#[test]
fn a_conflict_in_a_team_stops_a_resume_before_it_begins() {
    let Some(database) = fresh_database() else {
        return;
    };
    a_conflict_in_one_part_stops_all_of_it(&begun_by_a_team(database.url()));
}

/// What each task was told, by its name.
fn told(stage: &Stage, task: &str) -> Vec<String> {
    let sessions = fs::read_dir(stage.env.handoff_home().join("sessions")).unwrap();
    sessions
        .filter_map(|it| fs::read_to_string(it.unwrap().path().join("prompt.md")).ok())
        .filter(|it| it.contains(&format!("task: {task}\n")))
        .collect()
}

#[test]
fn what_is_said_of_a_batch_is_told_to_each_part() {
    let stage = begun(Stage::new());
    let words = [
        "--summary",
        "Half.",
        "--decision",
        "Tabs.",
        "--dead-end",
        "Spaces.",
    ];
    let id = pause(&stage, &words);
    assert_eq!(pause(&stage, &[]), id, "it is one pause");
    // What is said now would go nowhere.
    let again = ["pause", "--batch", "b", "--decision", "Neither."];
    let refused = stage.run(again).failure(4);
    assert!(refused.stderr.contains(&id), "{}", refused.stderr);
    stage.say("pause --batch b --ttl 1h").failure(4);
    stage.say("pause --batch b --drain").failure(2);
    stage.say("pause --batch b --timeout 1m").failure(2);
    stage.say("pause b.one --drain").failure(2);
    stage.say(&format!("resume {id}")).success();
    let script = stage.script("agent.toml", WRITER);
    let work = ["worker", "--until-empty", "--script"];
    stage
        .run(work.into_iter().chain([script.to_str().unwrap()]))
        .success();
    // One had nobody to work on it when the batch was paused.
    for task in ["b.one", "b.two", "b.three"] {
        let told = told(&stage, task);
        assert_eq!(told.len(), 1, "{task}");
        for words in ["> Half.", "> Tabs.", "> Spaces."] {
            assert_eq!(told[0].matches(words).count(), 1, "{task}:\n{}", told[0]);
        }
    }
    assert_eq!(stage.state("together"), "done");
}

#[test]
fn live_agents_of_a_batch_are_ended_and_others_go_on() {
    let stage = Stage::new();
    stage.repo.write("batch.toml", MANIFEST);
    stage.say("dump --open-batch batch.toml").success();
    let wait = "[[step]]\nwrite = { path = \"half.txt\", text = \"half\\n\" }\n[[step]]\nexpect = \"never\"\n";
    let script = stage.script("agent.toml", wait);
    let words = [
        "worker",
        "--slots",
        "2",
        "--script",
        script.to_str().unwrap(),
    ];
    let mut worker = stage.start(words);
    while states(&stage) != ["running", "running"] {}
    let id = pause(&stage, &["--decision", "Tabs."]);
    assert_eq!(states(&stage), ["held", "held"]);
    while stage.json("ps")["sessions"] != serde_json::json!([]) {}
    let said = [worker.line(), worker.line()];
    let paused = |line: &String| line.ends_with("is given back: it was paused");
    assert!(said.iter().all(paused), "{said:?}");
    assert!(
        worker.is_running(),
        "it is told that there is nothing to do"
    );
    stage.script("agent.toml", WRITER);
    stage.say(&format!("resume {id}")).success();
    while stage.state("together") != "done" {}
    for part in ["one", "two"] {
        let told = told(&stage, &format!("b.{part}"));
        let second = told.iter().find(|it| it.contains("attempt: 2"));
        assert!(second.is_some_and(|it| it.contains("> Tabs.")), "{told:?}");
    }
    worker.kill();
    stage.say("doctor --audit").success();
}

/// How many attempts have begun to write.
fn unfinished(stage: &Stage) -> usize {
    let trees = stage.env.handoff_home().join("worktrees");
    let below = |path: &PathBuf| fs::read_dir(path).into_iter().flatten().flatten();
    let trees = below(&trees).flat_map(|project| below(&project.path()));
    trees
        .filter(|tree| tree.path().join("half.txt").exists())
        .count()
}

#[test]
fn what_is_handed_over_goes_on_there_and_not_here() {
    let stage = Stage::new();
    stage.repo.write("batch.toml", MANIFEST);
    stage.say("dump --open-batch batch.toml").success();
    let wait = "[[step]]\nwrite = { path = \"half.txt\", text = \"half\\n\" }\n[[step]]\nexpect = \"never\"\n";
    let script = stage.script("agent.toml", wait);
    let words = ["worker", "--slots", "2", "--script"];
    let mut worker = stage.start(words.into_iter().chain([script.to_str().unwrap()]));
    while unfinished(&stage) < 2 {}
    let file = stage.env.work().join("b.hof");
    let hand = ["transfer", "--batch", "b", "--to", "host b", "-o"];
    let handed = stage.run(hand.into_iter().chain([file.to_str().unwrap()]));
    let told = handed.success().stderr;
    for task in ["b.one", "b.two"] {
        assert!(told.contains(&format!("`handoff rescue {task}`")), "{told}");
    }
    worker.kill();
    // What waited for another is called off like the others, and asks for nobody.
    assert_eq!(stage.state("b.three"), "cancelled");
    let shown = stage.say("batch show b").success();
    let told = format!("{}{}", shown.stdout, shown.stderr);
    assert!(told.contains("It was handed to host b"), "{told}");
    assert!(!told.contains("When that is put right"), "{told}");
    assert_eq!(stage.json("batch show b")["handed_to"], "host b");
}

#[test]
fn a_pause_is_told_wherever_somebody_looks() {
    looked_at(&begun(Stage::new()));
}

#[test]
fn a_pause_of_a_team_is_told_too() {
    let Some(database) = fresh_database() else {
        return;
    };
    looked_at(&begun_by_a_team(database.url()));
}

fn looked_at(stage: &Stage) {
    stage.feature("tables", "- [ ] make it\n");
    stage.add("long");
    stage.claim("long");
    stage.say("pause long").success();
    let id = pause(stage, &[]);
    let status = stage.say("status").success().stdout;
    assert!(!status.contains("no worker lives"), "{status}");
    assert!(status.contains("5 held"), "{status}");
    for command in ["`handoff resume --batch b`", "`handoff resume long`"] {
        assert!(status.contains(command), "{status}");
    }
    let paused = &stage.json("status")["project"]["paused"];
    assert_eq!(paused[0]["package"], id.as_str(), "{paused}");
    let shown = stage.say("batch show b").success();
    assert!(shown.stdout.contains("b  open, paused"), "{}", shown.stdout);
    let resume = format!("`handoff resume {id}`");
    assert!(shown.stderr.contains(&resume), "{}", shown.stderr);
    let listed = stage.say("package list").success().stdout;
    for about in ["batch b", "task b.one", "task b.two", "task long"] {
        assert!(listed.contains(about), "{about}: {listed}");
    }
    stage.say("resume --batch b").success();
    stage.say("resume long").success();
    assert_eq!(stage.state("long"), "queued");
    assert_eq!(states(stage), ["queued", "queued"]);
    let status = stage.say("status").success().stdout;
    assert!(status.contains("no worker lives"), "{status}");
    stage.say("resume long").failure(4);
    stage.say("resume --batch b").failure(4);
    stage.say("resume pkg_x").failure(2);
    stage.say("resume nothing").failure(3);
    stage.say("resume").failure(2);
}
