//! `handoff gc`: what nobody needs goes, the rest stays with a reason, and nothing is done before somebody says so.

use std::fs;

use serde_json::Value;

use crate::stage::Stage;

const WRITE: &str = "[[step]]\nwrite = { path = \"new.txt\", text = \"new\\n\" }\n";

/// A task that is done, with its session, its package and its baton; and one that waits.
fn stage() -> Stage {
    let stage = Stage::new();
    let dump = ["dump", "--task", "fix", "--next", "Write.", "--status"];
    stage.run(dump.into_iter().chain(["active"])).success();
    let script = stage.script("agent.toml", WRITE);
    let script = script.to_str().unwrap();
    stage
        .run(["worker", "--once", "--script", script])
        .success();
    // A holder that has said how its session ended keeps its lock for a moment longer.
    stage.until_free("holder.lock");
    let dump = ["dump", "--task", "later", "--next", "Wait.", "--status"];
    stage.run(dump.into_iter().chain(["active"])).success();
    stage
}

/// Each kind with its fate and its count.
fn rows(document: &Value) -> Vec<(String, bool, u64)> {
    let rows = document["rows"].as_array().unwrap().iter();
    rows.map(|it| {
        let kind = it["kind"].as_str().unwrap().to_owned();
        (
            kind,
            it["goes"].as_bool().unwrap(),
            it["count"].as_u64().unwrap(),
        )
    })
    .collect()
}

fn row(kind: &str, goes: bool, count: u64) -> (String, bool, u64) {
    (kind.to_owned(), goes, count)
}

#[test]
fn what_is_over_goes_when_somebody_says_so_and_only_then() {
    let stage = stage();
    let home = stage.env.handoff_home();
    let sessions = || fs::read_dir(home.join("sessions")).unwrap().count();
    let young = rows(&stage.json("gc"));
    assert!(young.contains(&row("session", false, 1)), "{young:?}");
    let planned = stage.json("gc --older-than 0s");
    let expected = [
        row("session", true, 1),
        row("baton", true, 1),
        row("baton", false, 1),
    ];
    assert_eq!((rows(&planned), sessions()), (expected.into(), 1));
    // As if one had been killed in the middle.
    fs::create_dir(home.join("sessions/.gone-x")).unwrap();
    let done = stage.json("gc --older-than 0s --apply");
    assert_eq!((rows(&done), sessions()), (rows(&planned), 0));
    let again = stage.json("gc --older-than 0s --apply");
    assert_eq!(rows(&again), [row("baton", false, 1)]);
    // What the task proved stays.
    assert_eq!(stage.state("fix"), "done");
    let listed = stage.json("package list --status active");
    assert_eq!(listed["packages"][0]["presence"], "whole");
    stage.say("doctor --audit").success();
}

#[test]
fn a_session_that_lives_or_whose_task_waits_stays() {
    let stage = Stage::new();
    stage.say("gc").success();
    stage.add("fix");
    stage.say("run --detach --id one cat --task fix").success();
    let lives = stage.json("gc --older-than 0s --apply");
    assert_eq!(lives["rows"][0]["why"], "somebody works with it");
    stage.say("stop --id one").success();
    // A holder that has said how its session ended keeps its lock for a moment longer.
    stage.until_free("holder.lock");
    let waits = stage.json("gc --older-than 0s --apply");
    assert_eq!(waits["rows"][0]["why"], "its task has not ended");
    stage.say("queue cancel fix").success();
    stage.configure("[gc]\nsessions = \"0s\"\n");
    let over = stage.json("gc --apply");
    assert_eq!(rows(&over)[0], row("session", true, 1));
    stage.say("pane --id one").failure(3);
    stage.say("run --detach --id one cat").success();
    stage.say("stop --id one").success();
    stage.say("gc --older-than soon").failure(2);
}
