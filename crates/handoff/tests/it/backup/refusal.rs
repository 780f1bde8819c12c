//! What is refused, and leaves everything as it was.

use std::fs;
use std::path::Path;

use super::tables::Tables;
use super::{back_up, furnish, place, restore};
use crate::stage::{Stage, tree};
use handoff_testkit::Output;
use insta::assert_snapshot;

#[track_caller]
fn refused(stage: &Stage, words: &str, path: &Path, code: i32) -> Output {
    let words = words.split(' ').map(AsRef::as_ref);
    stage.run(words.chain([path.as_os_str()])).failure(code)
}

#[test]
fn a_session_neither_backs_up_nor_restores() {
    let stage = Stage::new();
    stage.add("a");
    let backup = back_up(&stage, "one");
    let before = Tables::of(&stage.env.handoff_home());
    let (one, two) = (backup.to_str().unwrap(), place(&stage, "two"));
    let two = two.to_str().unwrap();
    for words in [
        vec!["restore", one, "--yes"],
        vec!["restore", "--undo", "before-restore-x", "--yes"],
        vec!["backup", two],
        vec!["backup", two, "--keys"],
    ] {
        let mut session = stage.command(words);
        session.env("HANDOFF_SESSION", "ses_0192f0c47d0a7c3e9f5b2a1c3d4e5f60");
        stage.env.run(session).failure(9);
    }
    assert_eq!(Tables::of(&stage.env.handoff_home()), before);
    assert!(!Path::new(two).exists());
}

#[test]
fn a_place_that_is_none_is_refused() {
    let stage = Stage::new();
    stage.add("a");
    let whole = back_up(&stage, "whole");
    let before = tree(&whole);
    let file = stage.script("file", "text\n");
    let full = place(&stage, "full");
    fs::create_dir(&full).unwrap();
    fs::write(full.join("mine"), "mine\n").unwrap();
    let dangling = place(&stage, "dangling");
    std::os::unix::fs::symlink("nowhere", &dangling).unwrap();
    let home = stage.env.handoff_home();
    for (path, why) in [
        (whole.clone(), "never written over"),
        (file, "not a directory"),
        (full, "not empty"),
        (dangling, "not a directory"),
        (home.clone(), "lies in the state directory"),
        (home.join("packages/copy"), "lies in the state directory"),
    ] {
        let words = ["backup".as_ref(), path.as_os_str(), "--yes".as_ref()];
        let output = stage.run(words).failure(4);
        assert!(output.stderr.contains(why), "{}", output.stderr);
    }
    assert_eq!(tree(&whole), before);
}

#[test]
fn what_is_no_backup_is_refused() {
    let stage = Stage::new();
    stage.add("a");
    let empty = place(&stage, "empty");
    fs::create_dir(&empty).unwrap();
    let output = refused(&stage, "restore --check", &empty, 3);
    assert_snapshot!(output.normalized_stderr(), @r"
    error: `$TEMP/work/empty` has no manifest: it is incomplete, or no backup
    hint: nothing was changed; use another backup, and keep this one as it is
    ");
    refused(&stage, "restore --check", &place(&stage, "absent"), 3);
    let file = stage.script("file", "text\n");
    refused(&stage, "restore --check", &file, 4);
}

/// A byte of a file, of the manifest, a file that is gone, a version that nobody knows.
#[test]
fn a_backup_that_was_changed_is_refused() {
    let stage = Stage::new();
    furnish(&stage);
    let backup = back_up(&stage, "one");
    let before = Tables::of(&stage.env.handoff_home());
    let files: Vec<_> = tree(&backup)
        .into_keys()
        .filter(|it| it.is_file())
        .collect();
    assert!(files.len() >= 5, "{files:?}");
    for path in &files {
        let whole = fs::read(path).unwrap();
        for place in [0, whole.len() / 2, whole.len() - 1] {
            let mut changed = whole.clone();
            changed[place] ^= 4;
            fs::write(path, changed).unwrap();
            refused(&stage, "restore --check", &backup, 10);
        }
        fs::write(path, &whole[..whole.len() - 1]).unwrap();
        refused(&stage, "restore --yes", &backup, 10);
        fs::remove_file(path).unwrap();
        let code = if path.ends_with("manifest.json") {
            3
        } else {
            10
        };
        refused(&stage, "restore --yes", &backup, code);
        fs::write(path, &whole).unwrap();
    }
    let manifest = backup.join("manifest.json");
    let text = fs::read_to_string(&manifest).unwrap();
    let newer = text.replace("\"format\": 1", "\"format\": 2");
    fs::write(&manifest, newer).unwrap();
    let output = refused(&stage, "restore --check", &backup, 10);
    assert!(output.stderr.contains("format 2"), "{}", output.stderr);
    // What is said to lie elsewhere is not read.
    let outside = text.replace("\"handoff.db\"", "\"../handoff.db\"");
    fs::write(&manifest, outside).unwrap();
    refused(&stage, "restore --check", &backup, 10);
    fs::write(&manifest, text).unwrap();
    refused(&stage, "restore --check", &backup, 0);
    assert_eq!(Tables::of(&stage.env.handoff_home()), before);
}

#[test]
fn a_state_directory_in_use_is_not_replaced() {
    let stage = Stage::new();
    stage.add("a");
    let backup = back_up(&stage, "one");
    let mut follower = stage.start(["events", "--follow", "--everything", "--json"]);
    follower.line();
    let output = refused(&stage, "restore --yes", &backup, 5);
    assert!(
        output.stderr.contains("another process"),
        "{}",
        output.stderr
    );
    follower.kill();
    let script = stage.script("agent.toml", "[[step]]\nhang = true\n");
    let mut worker = stage.start(["worker", "--once", "--script", script.to_str().unwrap()]);
    while stage.state("a") != "running" {
        std::thread::yield_now();
    }
    let output = refused(&stage, "restore --yes", &backup, 5);
    assert!(output.stderr.contains("a worker"), "{}", output.stderr);
    worker.kill();
    let output = refused(&stage, "restore --yes", &backup, 5);
    assert!(output.stderr.contains("session"), "{}", output.stderr);
    let session = stage.json("ps")["sessions"][0]["id"].clone();
    let stop = format!("stop --id {}", session.as_str().unwrap());
    stage.say(&stop).success();
    stage.until_free("holder.lock");
    restore(&stage, &backup);
    assert_eq!(stage.state("a"), "queued");
}

#[test]
fn damage_is_not_backed_up() {
    let stage = Stage::new();
    stage.add("a");
    let path = stage.env.handoff_home().join("handoff.db");
    let database = rusqlite::Connection::open(path).unwrap();
    let evil = "UPDATE tasks SET body = replace(body, 'Do a.', 'Do evil.')";
    database.execute(evil, ()).unwrap();
    let place = place(&stage, "one");
    let output = refused(&stage, "backup", &place, 10);
    assert!(
        output.stderr.contains("doctor --audit"),
        "{}",
        output.stderr
    );
    assert!(!place.join("manifest.json").exists());
}

#[test]
fn it_works_from_anywhere() {
    let stage = Stage::new();
    stage.add("a");
    stage.repo.write("sub/file", "x\n");
    let sub = stage.repo.path().join("sub");
    stage
        .env
        .handoff_in(&sub, ["backup", "../../below"])
        .success();
    let outside = stage.env.work();
    stage
        .env
        .handoff_in(&outside, ["backup", "outside"])
        .success();
    let words = ["restore", "outside", "--yes"];
    stage.env.handoff_in(&outside, words).success();
    let checked = ["restore", "--check", "../../below"];
    stage.env.handoff_in(&sub, checked).success();
    assert_eq!(stage.state("a"), "queued");
}

#[test]
fn a_ledger_on_a_server_is_the_servers_to_back_up() {
    let mut stage = Stage::new();
    stage
        .env
        .set("HANDOFF_STORE", "postgres://127.0.0.1:1/none");
    let output = refused(&stage, "backup", &place(&stage, "one"), 1);
    assert_snapshot!(output.normalized_stderr(), @r"
    error: the ledger of a team is on its server, with all its packages: only the server can copy it at one moment
    hint: back it up there: `pg_dump --schema=handoff`, and put it back into an empty database with `psql`
    hint: what is on this machine besides are trust and keys: copy `trust/` and `keys/` of the state directory
    ");
    refused(&stage, "restore --check", &place(&stage, "one"), 1);
}
