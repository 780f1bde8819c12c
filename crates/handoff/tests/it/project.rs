//! Which tasks belong to which repository.

use std::fs;

use insta::assert_snapshot;
use serde_json::Value;

use crate::stage::{Stage, tree};

fn names_in(stage: &Stage, place: &std::path::Path) -> Vec<String> {
    let queue = stage
        .env
        .handoff_in(place, ["queue", "list", "--json"])
        .success()
        .json();
    let tasks = queue["tasks"].as_array().unwrap();
    tasks
        .iter()
        .map(|task| task["name"].as_str().unwrap().to_owned())
        .collect()
}

#[test]
fn a_directory_and_a_linked_worktree_are_the_same_project() {
    let stage = Stage::new();
    stage.add("fix");
    stage.repo.write("deep/er/file", "");
    let linked = stage.env.root().join("linked");
    stage
        .repo
        .git(["worktree", "add", "--quiet", linked.to_str().unwrap()]);
    assert_eq!(
        names_in(&stage, &stage.repo.path().join("deep/er")),
        ["fix"]
    );
    assert_eq!(names_in(&stage, &linked), ["fix"]);
    let add = ["queue", "add", "from-linked", "--brief", "x"];
    stage.env.handoff_in(&linked, add).success();
    assert_eq!(names_in(&stage, stage.repo.path()), ["fix", "from-linked"]);
}

#[test]
fn a_clone_is_another_project() {
    let stage = Stage::new();
    stage.add("fix");
    let clone = stage.env.root().join("clone");
    stage
        .repo
        .git(["clone", "--quiet", ".", clone.to_str().unwrap()]);
    assert_eq!(names_in(&stage, &clone), Vec::<String>::new());
    stage
        .env
        .handoff_in(&clone, ["queue", "add", "fix", "--brief", "x"])
        .success();
    assert_eq!(names_in(&stage, stage.repo.path()), ["fix"]);
}

#[test]
fn two_repositories_in_folders_of_the_same_name_never_meet() {
    let stage = Stage::new();
    for (place, name) in [("one", "here"), ("two", "there")] {
        fs::create_dir(stage.env.root().join(place)).unwrap();
        let repo = stage.env.repo(&format!("{place}/app"));
        stage
            .env
            .handoff_in(repo.path(), ["queue", "add", name, "--brief", "x"])
            .success();
    }
    assert_eq!(
        names_in(&stage, &stage.env.root().join("one/app")),
        ["here"]
    );
    assert_eq!(
        names_in(&stage, &stage.env.root().join("two/app")),
        ["there"]
    );
}

#[test]
fn a_moved_repository_keeps_its_tasks() {
    let stage = Stage::new();
    stage.add("fix");
    let moved = stage.env.root().join("moved");
    fs::rename(stage.repo.path(), &moved).unwrap();
    assert_eq!(names_in(&stage, &moved), ["fix"]);
}

#[test]
fn another_home_for_the_same_repository_is_refused_and_changes_nothing() {
    let mut stage = Stage::new();
    stage.add("fix");
    let first = stage.env.handoff_home();
    let second = stage.env.root().join("state/second");
    let before = (tree(stage.repo.path()), tree(&first));
    stage.env.set("HANDOFF_HOME", &second);
    assert_snapshot!(stage.say("queue list").snapshot(), @"
    exit status: 4
    --- stderr ---
    error: the tasks of this repository are in store_1, but the store in use is store_2 at $TEMP/state/second/handoff.db
    hint: set HANDOFF_HOME or HANDOFF_STORE to what was used when the first task was added
    ");
    for command in [
        "queue add more --brief x",
        "queue claim",
        "hold",
        "events",
        "events --follow",
    ] {
        stage.say(command).failure(4);
    }
    assert_eq!((tree(stage.repo.path()), tree(&first)), before);
    stage.env.set("HANDOFF_HOME", &first);
    assert_eq!(names_in(&stage, stage.repo.path()), ["fix"]);
}

#[test]
fn looking_at_a_repository_does_not_make_it_a_project() {
    let stage = Stage::new();
    let before = tree(stage.repo.path());
    for command in ["queue list", "events", "doctor"] {
        stage.say(command).success();
    }
    stage.say("queue show x").failure(3);
    assert_eq!(tree(stage.repo.path()), before);
}

#[test]
fn a_bare_repository_has_tasks_too() {
    let stage = Stage::new();
    let bare = stage.env.root().join("bare.git");
    stage
        .repo
        .git(["clone", "--quiet", "--bare", ".", bare.to_str().unwrap()]);
    let add = ["queue", "add", "fix", "--brief", "x", "--json"];
    let receipt = stage.env.handoff_in(&bare, add).success().json();
    assert_ne!(receipt["task"]["project"], Value::Null);
    assert_eq!(names_in(&stage, &bare), ["fix"]);
}
