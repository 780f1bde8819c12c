//! What is moved or removed under those who work there: the repository, and the worktree of a session.

use std::ffi::OsStr;
use std::fs;
use std::path::{Path, PathBuf};

use crate::stage::{Background, Stage};

/// Writes a file, waits until it may go on, and asks git where it stands.
const WAITS: &str = "[[step]]\nwrite = { path = \"new.txt\", text = \"new\\n\" }\n[[step]]\nwait_for = \"{env.GO}\"\n";

fn stage() -> (Stage, PathBuf) {
    let mut stage = Stage::new();
    let go = stage.env.work().join("go");
    stage.env.set("GO", &go);
    stage.add("fix");
    (stage, go)
}

fn worker(stage: &Stage, shift: &str) -> Background {
    let script = stage.script("agent.toml", WAITS);
    let words = ["worker", shift, "--script"].map(OsStr::new);
    stage.start(words.into_iter().chain([script.as_os_str()]))
}

/// The worktree of the first attempt, when its agent has written what it writes.
fn worktree(stage: &Stage) -> PathBuf {
    let places = stage.env.handoff_home().join("worktrees");
    loop {
        let projects = fs::read_dir(&places).into_iter().flatten().flatten();
        let trees = projects.flat_map(|it| fs::read_dir(it.path()).into_iter().flatten().flatten());
        let found = trees
            .map(|it| it.path())
            .find(|it| it.join("new.txt").exists());
        if let Some(tree) = found {
            return tree;
        }
        std::thread::yield_now();
    }
}

fn move_away(stage: &Stage) -> PathBuf {
    let elsewhere = stage.env.work().join("elsewhere");
    fs::rename(stage.repo.path(), &elsewhere).unwrap();
    elsewhere
}

#[track_caller]
fn shown(stage: &Stage, at: &Path, words: &str) -> serde_json::Value {
    let words = words.split(' ').chain(["--json"]);
    stage.env.handoff_in(at, words).success().json()
}

#[test]
fn a_worker_goes_with_its_repository_and_judges_what_was_begun_before() {
    let (stage, go) = stage();
    let mut worker = worker(&stage, "--until-empty");
    let tree = worktree(&stage);
    let elsewhere = move_away(&stage);
    fs::write(go, "").unwrap();
    assert_eq!(worker.code(), Some(0));
    let task = shown(&stage, &elsewhere, "queue show fix");
    assert_eq!(task["state"], "done", "{task}");
    let branch = task["evidence"][0]["branch"].as_str().unwrap();
    let git = |words: &[&str]| {
        let mut command = stage.env.command("git");
        command.current_dir(&elsewhere).args(words);
        String::from_utf8(command.output().unwrap().stdout).unwrap()
    };
    assert_eq!(git(&["diff", "--name-only", "HEAD", branch]), "new.txt\n");
    assert_eq!(git(&["for-each-ref", "refs/handoff/quarantine"]), "");
    assert!(!tree.exists());
}

#[test]
fn a_watchdog_judges_what_was_begun_before_its_repository_moved() {
    let (stage, go) = stage();
    let mut worker = worker(&stage, "--once");
    let tree = worktree(&stage);
    worker.kill();
    let elsewhere = move_away(&stage);
    let seen = shown(&stage, &elsewhere, "watchdog");
    let relinked = serde_json::json!([{"kind": "tree_relinked", "what": tree.to_str().unwrap()}]);
    assert_eq!(
        (&seen["repairs"], &seen["unattended"]),
        (&relinked, &serde_json::json!(["fix"])),
        "{seen}"
    );
    fs::write(go, "").unwrap();
    stage.until_free("holder.lock");
    let seen = shown(&stage, &elsewhere, "watchdog");
    assert_eq!(seen["judged"], serde_json::json!(["fix"]), "{seen}");
    assert_eq!(shown(&stage, &elsewhere, "queue show fix")["state"], "done");
}

#[test]
fn a_worker_that_does_not_know_where_its_repository_is_leaves_everything_as_it_is() {
    let (stage, go) = stage();
    let mut worker = worker(&stage, "--until-empty");
    worktree(&stage);
    let (there, away) = (
        stage.repo.path().join(".git"),
        stage.env.work().join("away"),
    );
    fs::rename(&there, &away).unwrap();
    fs::write(go, "").unwrap();
    assert_eq!(worker.code(), Some(3));
    fs::rename(&away, &there).unwrap();
    assert_eq!(stage.state("fix"), "running");
    let seen = stage.json("watchdog");
    assert_eq!(seen["judged"], serde_json::json!(["fix"]), "{seen}");
    assert_eq!(stage.state("fix"), "done");
}

#[test]
fn a_session_whose_worktree_is_gone_is_ended_and_its_task_given_back() {
    let (stage, go) = stage();
    let mut worker = worker(&stage, "--once");
    let tree = worktree(&stage);
    worker.kill();
    fs::remove_dir_all(&tree).unwrap();
    let seen = stage.say("watchdog").success();
    assert_eq!(
        seen.stdout,
        "The worktree of fix is gone; its session is ended, and it is given back\n"
    );
    assert!(stage.json("ps")["sessions"].as_array().unwrap().is_empty());
    let task = stage.json("queue show fix");
    assert_eq!(task["state"], "queued", "{task}");
    let why = "its worktree is gone: somebody removed it, and what was not committed with it";
    let events = stage.say("events --json").success().stdout;
    assert!(events.contains(why), "{events}");
    // The next attempt finds nothing in its way.
    fs::write(go, "").unwrap();
    let script = stage.script("agent.toml", WAITS);
    let words = ["worker", "--once", "--script"].map(OsStr::new);
    stage
        .run(words.into_iter().chain([script.as_os_str()]))
        .success();
    assert_eq!(stage.repo.git(["worktree", "list"]).lines().count(), 1);
}
