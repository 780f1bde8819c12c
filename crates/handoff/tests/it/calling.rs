//! A person is called by the command of their configuration: for each occasion once, and whatever it is.

use std::ffi::OsStr;
use std::fs;
use std::path::PathBuf;
use std::time::Duration;

use handoff_testkit::Output;
use serde_json::{Value, json};

use crate::stage::{Background, Stage};

const BLOCKS: &str = "[[step]]\nrun = [\"sh\", \"-c\", \"\\\"$HANDOFF\\\" block --reason 'Which key?'\"]\n[[step]]\nhang = true\n";

/// A stage whose calls are written down.
fn stage() -> Stage {
    let mut stage = Stage::new();
    stage.env.set("HANDOFF", env!("CARGO_BIN_EXE_handoff"));
    write_down(&stage);
    stage
}

fn write_down(stage: &Stage) {
    let told = file(stage);
    stage.configure(&format!(
        "[notify]\ncommand = [\"tee\", \"-a\", {told:?}]\n"
    ));
}

fn file(stage: &Stage) -> PathBuf {
    stage.env.work().join("told.jsonl")
}

fn told(stage: &Stage) -> Vec<Value> {
    let text = fs::read_to_string(file(stage)).unwrap_or_default();
    let read = |line| serde_json::from_str(line).unwrap();
    text.lines().map(read).collect()
}

/// Some fields of each call.
fn fields(stage: &Stage, names: &[&str]) -> Vec<Value> {
    let of = |call: &Value| names.iter().map(|name| call[*name].clone()).collect();
    told(stage).iter().map(of).collect()
}

fn work(stage: &Stage, script: &str) -> Output {
    let script = stage.script("agent.toml", script);
    let words = ["worker", "--until-empty", "--slots", "1", "--script"].map(OsStr::new);
    stage.run(words.into_iter().chain([script.as_os_str()]))
}

#[test]
fn a_person_is_told_once_of_each_attempt_that_needs_them() {
    let stage = stage();
    stage.add("fix");
    work(&stage, BLOCKS).failure(12);
    // Whoever looks again sees the same, and has nothing to tell.
    stage.say("watchdog").success();
    work(&stage, BLOCKS).success();
    stage.say("queue retry fix").success();
    work(&stage, BLOCKS).failure(12);
    assert_eq!(
        fields(&stage, &["need", "detail", "task", "attempt", "command"]),
        [1, 2].map(|it| json!(["help", "Which key?", "fix", it, "handoff queue show fix"]))
    );
    let call = &told(&stage)[0];
    assert_eq!(
        call["repository"],
        stage.repo.path().to_str().unwrap(),
        "{call}"
    );
    assert!(call["project"].is_string(), "{call}");
}

const GATED: &str = r#"schema_version = 1
description = "One phase that is tried again, one question."

[[phases]]
name = "paint"
role = "You paint."
prompt = "Paint it."
proof = "checks"
gate = "human"
retries = 3
next = "end"
"#;

#[test]
fn a_gate_calls_a_person_and_an_attempt_before_it_does_not() {
    let stage = stage();
    stage.repo.write(".handoff/workflows/asking.toml", GATED);
    stage.say("workflow trust asking --yes").success();
    stage
        .run([
            "workflow", "run", "asking", "--goal", "A wall.", "--name", "wall", "--detach",
        ])
        .success();
    // The second one reads how the first one ended.
    let act = "echo blue > wall; grep -q 'exited with' \"$HANDOFF_PROMPT_FILE\"";
    let script = format!("[[step]]\nrun = [\"sh\", \"-c\", {act:?}]\n");
    work(&stage, &script);
    let run = stage.json("workflow status wall");
    assert_eq!(run["state"], "gated", "{run}");
    assert_eq!(
        fields(&stage, &["need", "run", "phase", "task", "command"]),
        [json!([
            "agree",
            "wall",
            "paint",
            null,
            "handoff workflow status wall"
        ])]
    );
}

const ASKS_TWICE: &str = r#"
[[step]]
osc = "7501;state=blocked:kind=permission"
[[step]]
ask = "May I?"
choices = ["Yes", "No"]
answer = "pointer"
as = "chosen"
[[step]]
osc = "7501;state=working"
[[step]]
wait = "300ms"
[[step]]
osc = "7501;state=blocked:kind=permission"
[[step]]
ask = "And this?"
choices = ["Yes", "No"]
answer = "pointer"
as = "chosen"
"#;

fn worker(stage: &Stage, script: &str) -> Background {
    let script = stage.script("agent.toml", script);
    let words = ["worker", "--slots", "2", "--script"].map(OsStr::new);
    stage.start(words.into_iter().chain([script.as_os_str()]))
}

#[track_caller]
fn until_told(stage: &Stage, calls: usize) {
    while told(stage).len() < calls {
        std::thread::yield_now();
    }
}

#[test]
fn each_question_of_an_agent_is_told_once_whoever_attends_to_it() {
    let stage = stage();
    stage.add("fix");
    let mut first = worker(&stage, ASKS_TWICE);
    until_told(&stage, 1);
    let call = told(&stage).remove(0);
    assert_eq!(
        (&call["need"], &call["question"], &call["choices"]),
        (&json!("answer"), &json!("May I?"), &json!(["Yes", "No"])),
        "{call}"
    );
    // What the call names can be run as it stands, and shows what is asked.
    let command = call["command"].as_str().unwrap();
    let shown = stage
        .say(command.strip_prefix("handoff ").unwrap())
        .success();
    assert!(shown.stdout.contains("May I?"), "{}", shown.stdout);
    first.kill();
    // The next worker finds the same question, and another one later.
    let _second = worker(&stage, ASKS_TWICE);
    stage
        .say(&format!("{} --choose yes", &command["handoff ".len()..]))
        .success();
    until_told(&stage, 2);
    let asked = |it: &Value| it["question"].clone();
    let asked: Vec<_> = told(&stage).iter().map(asked).collect();
    assert_eq!(asked, ["May I?", "And this?"]);
    // Nobody stays behind.
    stage
        .say(&format!("{} --choose yes", &command["handoff ".len()..]))
        .success();
    while stage.state("fix") != "done" {
        std::thread::yield_now();
    }
}

#[test]
fn a_question_that_was_answered_is_told_to_nobody_who_comes_later() {
    let mut stage = stage();
    let go = stage.env.work().join("go");
    stage.env.set("GO", &go);
    stage.add("fix");
    let (once, _) = ASKS_TWICE.split_once("[[step]]\nwait = ").unwrap();
    let script = format!("{once}[[step]]\nwait_for = \"{{env.GO}}\"\n");
    let mut first = worker(&stage, &script);
    until_told(&stage, 1);
    let session = told(&stage)[0]["session"].clone();
    let session = session.as_str().unwrap();
    stage
        .say(&format!("answer --id {session} --choose yes"))
        .success();
    while stage.json("ps")["sessions"][0]["state"] != "busy" {
        std::thread::yield_now();
    }
    first.kill();
    // Even one who does not know what was told.
    fs::remove_dir_all(stage.env.handoff_home().join("summons")).unwrap();
    fs::write(go, "").unwrap();
    work(&stage, &script).success();
    assert_eq!(told(&stage).len(), 1, "{:?}", told(&stage));
}

/// A batch with a part that needs another one.
const CHAIN: &str = r#"
schema_version = 2
batch_id = "spread"
fan_in_task = "merge"
[fan_in]
verify = "exit 4"
[[sub_tasks]]
id = "one"
brief = "Write one."
file_ownership = ["one/"]
[[sub_tasks]]
id = "two"
brief = "Write two."
file_ownership = ["two/"]
depends_on = ["one"]
[[sub_tasks]]
id = "three"
brief = "Write three."
file_ownership = ["three/"]
depends_on = ["two"]
"#;

fn open_batch(stage: &Stage, manifest: &str) {
    let file = stage.env.work().join("manifest.toml");
    fs::write(&file, manifest).unwrap();
    let words = ["dump", "--open-batch"].map(OsStr::new);
    let words = words.into_iter().chain([file.as_os_str()]);
    stage.run(words).success();
}

#[test]
fn a_part_that_came_to_nothing_is_told_with_those_behind_it_and_so_is_a_failed_fan_in() {
    let stage = stage();
    open_batch(&stage, CHAIN);
    // A person, or a session elsewhere, says so; no worker was there.
    let fence = stage.claim("spread.one");
    stage
        .say(&format!(
            "dump --batch-id spread --task one --next Told. --batch-blocked --fence {fence}"
        ))
        .success();
    stage.say("watchdog").success();
    let of = ["need", "task", "batch", "behind", "command"];
    let part = json!([
        "help",
        "spread.one",
        "spread",
        ["spread.three", "spread.two"],
        "handoff batch show spread"
    ]);
    assert_eq!(fields(&stage, &of), std::slice::from_ref(&part));
    work(&stage, "[[step]]\nexit = 3\n").failure(12);
    let fan_in = json!(["look", "merge", "spread", [], "handoff batch show spread"]);
    assert_eq!(fields(&stage, &of), [part, fan_in]);
}

#[test]
fn a_command_that_does_not_work_is_said_once_and_what_it_was_to_tell_is_told_later() {
    let stage = stage();
    stage.configure("[notify]\ncommand = [\"no-such-notifier\"]\n");
    for name in ["fix", "mend"] {
        stage.add(name);
    }
    let worked = work(&stage, BLOCKS).failure(12);
    let said = "You cannot be called: the notify command `no-such-notifier` does not work: ";
    assert_eq!(worked.stderr.matches(said).count(), 1, "{}", worked.stderr);
    let examined = stage.say("doctor").failure(12);
    assert!(
        examined
            .stdout
            .contains("there is no program `no-such-notifier`"),
        "{}",
        examined.stdout
    );
    stage.configure("[notify]\ncommand = [\"false\"]\n");
    let seen = stage.say("watchdog").success();
    assert!(seen.stderr.contains("it exited with 1"), "{}", seen.stderr);
    // It rests now.
    let seen = stage.say("watchdog").success();
    assert!(!seen.stderr.contains("it exited with 1"), "{}", seen.stderr);
    write_down(&stage);
    for _ in 0..2 {
        stage.say("watchdog").success();
    }
    assert_eq!(fields(&stage, &["task"]), [json!(["fix"]), json!(["mend"])]);
}

#[test]
fn a_slow_command_holds_nobody_up() {
    let stage = stage();
    let pid = stage.env.work().join("pid");
    let slow = format!("echo $$ >> {}; exec sleep 12", pid.display());
    stage.configure(&format!("[notify]\ncommand = [\"sh\", \"-c\", {slow:?}]\n"));
    for name in ["one", "two", "three"] {
        stage.add(name);
    }
    let script = stage.script("agent.toml", BLOCKS);
    let words = ["worker", "--slots", "1", "--until-empty", "--script"].map(OsStr::new);
    let worker = stage.start(words.into_iter().chain([script.as_os_str()]));
    for _ in 0..3 {
        let line = worker.try_line(Duration::from_secs(8));
        assert!(
            line.as_ref()
                .is_some_and(|it| it.ends_with("is blocked: Which key?")),
            "{line:?}"
        );
    }
}
