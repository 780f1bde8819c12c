//! A workspace that somebody has tampered with: nothing outside of it is ever touched.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::PathBuf;

use insta::assert_snapshot;

use crate::stage::{Stage, tree};

fn path(stage: &Stage, relative: &str) -> PathBuf {
    stage.repo.path().join(".handoff").join(relative)
}

/// Names that would leave the folder of the features, or pose as something in it.
const HOSTILE: [&str; 10] = [
    "",
    ".",
    "..",
    "../../outside",
    "/tmp",
    "a/b",
    "login\n",
    "login.archived",
    "Login",
    "a--b",
];

#[test]
fn hostile_names_are_refused_by_every_command_and_change_nothing() {
    let stage = Stage::new();
    stage.say("init login").success();
    stage.say("init old").success();
    stage.say("archive old").success();
    let outside = stage.env.root().join("outside");
    fs::create_dir(&outside).unwrap();
    let before = tree(stage.env.root());
    for name in HOSTILE {
        for command in ["init", "switch", "archive"] {
            stage.run([command, name]).failure(2);
        }
    }
    assert_eq!(tree(stage.env.root()), before);
}

#[test]
fn links_where_folders_belong_are_refused() {
    let stage = Stage::new();
    stage.say("init login").success();
    let outside = stage.env.root().join("outside");
    fs::create_dir_all(outside.join("search")).unwrap();
    symlink(&outside, path(&stage, "features/away")).unwrap();
    let before = (tree(&path(&stage, "")), tree(&outside));
    for command in ["init", "switch", "archive"] {
        stage.run([command, "away"]).failure(1);
    }
    assert_snapshot!(stage.say("list").snapshot(), @"
    exit status: 0
    --- stdout ---
       FEATURE  STEPS  PLAN
    *  login    -      none yet
    --- stderr ---
    Not features, and left alone: away
    ");
    assert_eq!((tree(&path(&stage, "")), tree(&outside)), before);
    stage.say("clean --force").success();
    assert!(path(&stage, "features/away").is_symlink());

    fs::rename(path(&stage, "features"), path(&stage, "elsewhere")).unwrap();
    symlink(&outside, path(&stage, "features")).unwrap();
    for words in [
        "list",
        "init search",
        "switch search",
        "archive search",
        "clean --force",
    ] {
        stage.say(words).failure(1);
    }
    assert_eq!(tree(&outside), before.1);
}

#[test]
fn a_real_folder_at_current_is_kept() {
    let stage = Stage::new();
    stage.say("init login").success();
    fs::remove_file(path(&stage, "current")).unwrap();
    fs::create_dir(path(&stage, "current")).unwrap();
    fs::write(path(&stage, "current/STATE.md"), "work").unwrap();
    let switched = stage.say("switch login").success();
    let note = switched.stderr;
    let place = note.split('`').nth(3).unwrap();
    let kept = stage.repo.path().join(place).join("STATE.md");
    assert_eq!(fs::read_to_string(kept).unwrap(), "work");
    assert_eq!(stage.json("list")["current"], "login");
}

#[test]
fn a_sub_task_may_not_change_the_workspace() {
    let stage = Stage::new();
    stage.say("init login").success();
    stage.say("init search").success();
    let before = tree(stage.repo.path());
    for words in [
        "init more",
        "switch search",
        "archive login",
        "clean --force",
        "export",
        "ignore",
    ] {
        let mut command = stage.command(words.split(' '));
        command
            .env("HANDOFF_SESSION", "ses_0192f0c47d0a7c3e9f5b2a1c3d4e5f60")
            .env("HANDOFF_ROLE", "sub-task");
        assert_eq!(command.output().unwrap().status.code(), Some(9), "{words}");
    }
    assert_eq!(tree(stage.repo.path()), before);
}
