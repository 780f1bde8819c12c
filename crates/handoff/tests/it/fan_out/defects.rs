//! What the earlier tool gets wrong when work is handed on and spread, and what must be otherwise here. The rest is in the tests of
//! `core`, `store` and `engine`; `docs/design/0015-batches.md` says which is which.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::PathBuf;

use serde_json::json;

use crate::stage::{Stage, tree};

fn manifest(batch: &str, fan_in: &str) -> String {
    format!(
        "schema_version = 2\nbatch_id = \"{batch}\"\nfan_in_task = \"{fan_in}\"\n\
         [[sub_tasks]]\nid = \"one\"\nbrief = \"One.\"\nfile_ownership = [\"1/\"]\n\
         [[sub_tasks]]\nid = \"two\"\nbrief = \"Two.\"\nfile_ownership = [\"2/\"]\n"
    )
}

fn open(stage: &Stage, batch: &str) {
    let text = manifest(batch, &format!("{batch}-in"));
    stage.repo.write("batch.toml", text);
    stage.say("dump --open-batch batch.toml").success();
}

fn report(stage: &Stage, batch: &str, part: &str, fence: &str) -> handoff_testkit::Output {
    stage.say(&format!(
        "dump --batch-id {batch} --task {part} --next Told. --batch-done --fence {fence}"
    ))
}

/// Reference 1.6, A7: a second dump overwrote the first, a task that was done could not be dumped again, and both ends could be.
#[test]
fn a_name_is_one_task_until_that_has_ended_and_then_another() {
    let stage = Stage::new();
    let dump = |next: &str, more: &str| stage.say(&format!("dump --task fix --next {next}{more}"));
    dump("First.", "").success();
    dump("Second.", "").failure(4);
    assert_eq!(stage.json("queue show fix")["brief"], "First.");
    dump("Ended.", " --status done").success();
    dump("Stuck.", " --status blocked").failure(4);
    assert_eq!(stage.state("fix"), "done");
    dump("Third.", "").success();
    assert_eq!(stage.json("queue claim")["task"]["brief"], "Third.");
}

/// Reference 1.6, A9: while the queue was stopped, what was dumped or reported was dropped with exit code 0.
#[test]
fn what_is_dumped_or_reported_while_the_queue_is_held_is_kept() {
    let stage = Stage::new();
    open(&stage, "b");
    let fences = ["one", "two"].map(|part| stage.claim(&format!("b.{part}")));
    stage.say("hold --everything").success();
    stage.say("hold").success();
    stage.say("hold --batch b").success();
    for (part, fence) in ["one", "two"].iter().zip(&fences) {
        report(&stage, "b", part, fence).success();
    }
    stage.say("dump --task later --next Later.").success();
    assert_eq!(stage.state("b.one"), "done");
    stage.say("queue claim").failure(11);
    for words in ["unhold --batch b", "unhold", "unhold --everything"] {
        stage.say(words).success();
    }
    assert_eq!(stage.state("b-in"), "queued");
    assert_eq!(stage.state("later"), "queued");
}

/// Reference 1.7 and 1.9, A3, A4, A8: names out of manifests and options became paths, anybody could end anything.
#[test]
fn a_report_is_of_a_part_by_whoever_has_it_and_no_name_is_a_path() {
    let stage = Stage::new();
    let before = tree(&stage.env.work());
    for (batch, fan_in) in [
        ("b", "../../../../pwned"),
        ("../b", "in"),
        ("b\\n", "in"),
        ("b", "b.one"),
    ] {
        stage.repo.write("batch.toml", manifest(batch, fan_in));
        stage.say("dump --open-batch batch.toml").failure(1);
        fs::remove_file(stage.repo.path().join("batch.toml")).unwrap();
    }
    assert_eq!(tree(&stage.env.work()), before);
    open(&stage, "b");
    for batch in ["../../outside", "/tmp/outside", "", "b/../b"] {
        let words = [
            "dump",
            "--batch-id",
            batch,
            "--task",
            "one",
            "--next",
            "x",
            "--batch-done",
        ];
        stage.run(words).failure(2);
    }
    report(&stage, "b", "three", "1").failure(3);
    report(&stage, "c", "one", "1").failure(3);
    let fence = stage.claim("b.one");
    stage
        .say("dump --batch-id b --task one --next x --batch-done")
        .failure(4);
    report(&stage, "b", "one", "2").failure(6);
    report(&stage, "b", "one", &fence).success();
    report(&stage, "b", "one", &fence).failure(4);
    assert_eq!(stage.state("b.one"), "done");
    assert_eq!(stage.state("b-in"), "waiting");
}

/// Reference 1.7: finished batches were counted as live ones, until none could be opened any more.
#[test]
fn a_batch_that_is_over_takes_no_place() {
    let stage = Stage::new();
    for batch in ["b1", "b2", "b3"] {
        open(&stage, batch);
        for task in ["one", "two"].map(|part| format!("{batch}.{part}")) {
            let fence = stage.claim(&task);
            let words = format!("queue complete {task} --fence {fence}");
            stage.say(&words).success();
        }
        let fence = stage.claim(&format!("{batch}-in"));
        let words = format!("queue complete {batch}-in --fence {fence}");
        stage.say(&words).success();
    }
    // Not even its name: what is over is over.
    open(&stage, "b1");
    assert_eq!(stage.state("b1.one"), "queued");
    stage.say("dump --open-batch batch.toml").failure(4);
}

fn baton(stage: &Stage, task: &str) -> PathBuf {
    let project = stage.json(&format!("queue show {task}"))["project"].clone();
    let home = stage.env.handoff_home().join("queue");
    home.join(project.as_str().unwrap())
        .join(format!("{task}.md"))
}

/// Reference 1.5, A5, A6, A10: batons were written through links, and what people said stood in them as shell commands.
#[test]
fn a_baton_is_written_through_no_link_and_says_nothing_to_a_shell() {
    let stage = Stage::new();
    stage.add("first");
    let victim = stage.env.work().join("victim");
    fs::write(&victim, "mine").unwrap();
    let place = baton(&stage, "first").with_file_name("fix.md");
    fs::create_dir_all(place.parent().unwrap()).unwrap();
    symlink(&victim, &place).unwrap();
    let evil = "$(touch pwned) `touch pwned`\n```sh\ntouch pwned";
    stage
        .run(["dump", "--task", "fix", "--next", "x", "--tests", evil])
        .success();
    assert_eq!(fs::read_to_string(&victim).unwrap(), "mine");
    let text = fs::read_to_string(&place).unwrap();
    let is_front = text.starts_with("---\ntask: fix\n") && !place.is_symlink();
    assert!(is_front, "{text}");
    let words = ["worker", "--once", "--script"];
    let script = stage.script("agent.toml", "[[step]]\nprint = \"x\"\n");
    stage
        .run(words.iter().copied().chain([script.to_str().unwrap()]))
        .success();
    assert!(!stage.repo.path().join("pwned").exists());
}

/// Reference 1.3, 2: help that was empty, or that ran what it was to explain.
#[test]
fn help_explains_and_does_nothing() {
    let stage = Stage::new();
    for command in ["dump", "watchdog", "worker", "heartbeat", "batch plan"] {
        let told = stage.say(&format!("{command} --help")).success();
        assert!(told.stdout.contains("Usage: handoff"), "{command}");
    }
    assert!(!stage.env.handoff_home().exists());
}

/// Reference 1.10, W1, W5, W7, W8: a repository in an odd place could not be rescued, a killed watchdog kept the next one out, and
/// strangers were killed because of a word on their command line.
#[test]
fn a_watchdog_works_anywhere_again_and_again_and_touches_no_stranger() {
    let stage = Stage::new();
    open(&stage, "b");
    stage.claim("b.one");
    let mut stranger = stage.env.command("tail");
    stranger.arg("-f").arg(baton(&stage, "b.one"));
    let mut stranger = stranger.spawn().unwrap();
    let mut killed = stage.start(["watchdog"]);
    killed.kill();
    for _ in 0..2 {
        let seen = stage.json("watchdog");
        assert_eq!(
            (&seen["given_back"], &seen["stuck"]),
            (&0.into(), &json!([]))
        );
    }
    assert!(stranger.try_wait().unwrap().is_none());
    stranger.kill().unwrap();
    stranger.wait().unwrap();
    assert_eq!(stage.state("b.one"), "leased", "one that nobody calls dead");
}

/// Reference 1.11: what was reported twice was counted twice, and numbers were what somebody typed.
#[test]
fn a_report_of_a_batch_says_the_same_however_often_it_is_asked() {
    let stage = Stage::new();
    open(&stage, "b");
    for part in ["one", "two"] {
        let fence = stage.claim(&format!("b.{part}"));
        report(&stage, "b", part, &fence).success();
        report(&stage, "b", part, &fence).failure(4);
    }
    let fence = stage.claim("b-in");
    let words = format!("queue complete b-in --fence {fence}");
    stage.say(&words).success();
    stage.say(&words).failure(4);
    let first = stage.json("batch report b");
    assert_eq!(stage.json("batch report b"), first);
    assert_eq!(first["batch"]["state"], "done");
}
