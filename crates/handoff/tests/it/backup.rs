//! `handoff backup` and `handoff restore`.

mod kills;
mod load;
mod refusal;
mod tables;

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};

use serde_json::Value;

use crate::stage::{Stage, tree};
use tables::Tables;

/// Where the test keeps its backups.
fn place(stage: &Stage, name: &str) -> PathBuf {
    stage.env.work().join(name)
}

#[track_caller]
fn back_up(stage: &Stage, name: &str) -> PathBuf {
    let place = place(stage, name);
    stage.run(["backup".as_ref(), place.as_os_str()]).success();
    place
}

#[track_caller]
fn restore(stage: &Stage, from: &Path) -> Value {
    let words = ["restore".as_ref(), from.as_os_str()];
    let words = words
        .into_iter()
        .chain(["--yes".as_ref(), "--json".as_ref()]);
    stage.run(words).success().json()
}

/// Tasks in several states, a package with an attachment, a context, something trusted.
fn furnish(stage: &Stage) -> String {
    stage.repo.commit("first");
    for name in ["leased", "queued", "done", "failed"] {
        stage.add(name);
    }
    stage.claim("leased");
    stage.say("queue complete done").success();
    stage.say("queue fail failed --reason no").success();
    stage.say("context set colour \"red\"").success();
    stage.checks("test = \"true\"\n");
    let attached = stage.script("attached.txt", "attached\n");
    let words = ["package", "create", "--resume-point", "x", "--attach"];
    let words = words.into_iter().map(AsRef::as_ref);
    let made = stage.run(words.chain([attached.as_os_str(), "--json".as_ref()]));
    made.success().json()["id"].as_str().unwrap().to_owned()
}

fn audit(stage: &Stage) {
    stage.say("doctor --audit").success();
}

#[test]
fn what_was_backed_up_comes_back_and_nothing_else_does() {
    let stage = Stage::new();
    let package = furnish(&stage);
    let before = Tables::of(&stage.env.handoff_home());
    let backup = back_up(&stage, "one");
    assert_eq!(Tables::of(&backup), before);

    let trust = stage.env.handoff_home().join("trust");
    let trusted = tree(&trust);
    assert!(trusted.len() > 1);
    fs::remove_dir_all(&trust).unwrap();
    stage.add("later");
    stage
        .say(&format!("package delete {package} --yes"))
        .success();
    stage.say("context set colour \"blue\"").success();
    let restored = restore(&stage, &backup);
    assert_eq!(
        (&restored["tasks"], &restored["leases"]),
        (&3.into(), &1.into())
    );
    let after = Tables::of(&stage.env.handoff_home());
    after.assert_continues(&before);
    audit(&stage);
    assert_eq!(stage.json("context get colour")["value"], "\"red\"");
    stage.say("queue show later").failure(3);
    stage.say(&format!("package verify {package}")).success();
    assert_eq!(tree(&trust), trusted);
    stage.add("goes-on");
}

#[test]
fn a_backup_is_private_and_has_keys_only_on_request() {
    let stage = Stage::new();
    furnish(&stage);
    let (without, with) = (back_up(&stage, "without"), place(&stage, "with"));
    let words = ["backup".as_ref(), with.as_os_str(), "--keys".as_ref()];
    stage.run(words).success();
    for (path, (mode, _, _)) in tree(&with).into_iter().chain(tree(&without)) {
        let expected = if path.is_dir() { 0o700 } else { 0o600 };
        assert_eq!(mode & 0o7777, expected, "{}", path.display());
    }
    let mode = with.metadata().unwrap().permissions().mode();
    assert_eq!(mode & 0o7777, 0o700);
    assert!(with.join("keys/own.key").exists());
    assert!(!without.join("keys").exists());

    let key = stage.json("keys export")["keys"][0]["key"].clone();
    fs::remove_dir_all(stage.env.handoff_home().join("keys")).unwrap();
    restore(&stage, &without);
    assert_ne!(stage.json("keys export")["keys"][0]["key"], key);
    restore(&stage, &with);
    assert_eq!(stage.json("keys export")["keys"][0]["key"], key);
}

/// The lease of the backup is over, and so is one that was granted after it, though its number is unknown to the backup.
#[test]
fn no_fence_from_before_a_restore_counts_after_it() {
    let stage = Stage::new();
    for name in ["a", "b"] {
        stage.add(name);
    }
    let old = stage.claim("a");
    let backup = back_up(&stage, "one");
    let late = stage.claim("b");
    restore(&stage, &backup);
    for (name, fence) in [("a", &old), ("b", &late)] {
        assert_eq!(stage.state(name), "queued");
        let report = format!("queue complete {name} --fence {fence}");
        stage.say(&report).failure(6);
        let newer = stage.claim(name);
        stage.say(&report).failure(6);
        stage
            .say(&format!("queue release {name} --fence {newer}"))
            .success();
    }
    // Nor one from after the first restore when the same backup comes back again.
    let between = stage.claim("a");
    restore(&stage, &backup);
    stage.claim("a");
    stage
        .say(&format!("queue complete a --fence {between}"))
        .failure(6);
    assert_eq!(stage.json("queue show a")["attempts"], 2);
}

/// A follower that has seen an event is never given another one of the same number.
#[test]
fn cursors_and_the_time_do_not_go_back() {
    let stage = Stage::new();
    stage.add("a");
    let package = stage.json("package create --resume-point x --ttl 1h")["id"].clone();
    let backup = back_up(&stage, "one");
    for name in ["b", "c", "d"] {
        stage.add(name);
    }
    let newest = |stage: &Stage| {
        let printed = stage.say("events --everything --json").success();
        let last = printed.json_lines().pop().unwrap();
        last["cursor"].as_str().unwrap().parse::<i64>().unwrap()
    };
    let before = newest(&stage);
    let database = rusqlite::Connection::open(stage.env.handoff_home().join("handoff.db")).unwrap();
    let far =
        "UPDATE events SET at = at + 7200000 WHERE position = (SELECT MAX(position) FROM events)";
    database.execute(far, ()).unwrap();
    drop(database);
    restore(&stage, &backup);
    let since = format!("events --everything --json --since {before}");
    let seen = stage.say(&since).success().json_lines();
    assert_eq!(seen[0]["event"]["type"], "restored", "{seen:?}");
    let package = package.as_str().unwrap();
    stage.say(&format!("package receive {package}")).failure(4);
}

#[test]
fn what_was_there_is_kept_and_comes_back() {
    let stage = Stage::new();
    let package = furnish(&stage);
    let backup = back_up(&stage, "one");
    stage.add("later");
    let before = Tables::of(&stage.env.handoff_home());
    let kept = restore(&stage, &backup)["kept"]
        .as_str()
        .unwrap()
        .to_owned();
    assert!(Path::new(&kept).join("handoff.db").exists());
    let name = Path::new(&kept).file_name().unwrap().to_str().unwrap();
    stage.say(&format!("restore --undo {name}")).failure(2);
    stage.say(&format!("restore --undo {name} --yes")).success();
    assert_eq!(Tables::of(&stage.env.handoff_home()), before);
    stage.say(&format!("package verify {package}")).success();
    audit(&stage);
    stage
        .say(&format!("restore --undo {name} --yes"))
        .failure(3);
    stage.say("restore --undo ../one --yes").failure(3);
}

#[test]
fn a_lost_or_a_damaged_ledger_is_replaced() {
    let stage = Stage::new();
    furnish(&stage);
    let backup = back_up(&stage, "one");
    let home = stage.env.handoff_home();
    let before = Tables::of(&backup);
    fs::write(home.join("handoff.db"), vec![b'x'; 8192]).unwrap();
    stage.say("queue list").failure(10);
    restore(&stage, &backup);
    Tables::of(&home).assert_continues(&before);
    audit(&stage);
    fs::remove_dir_all(&home).unwrap();
    // Nothing is replaced, so nobody is asked.
    stage
        .run(["restore".as_ref(), backup.as_os_str()])
        .success();
    Tables::of(&home).assert_continues(&before);
    audit(&stage);
}

#[test]
fn checking_changes_nothing() {
    let stage = Stage::new();
    furnish(&stage);
    let backup = back_up(&stage, "one");
    stage.say("queue list").success();
    let (saved, used) = (tree(&backup), Tables::of(&stage.env.handoff_home()));
    let words = ["restore".as_ref(), "--check".as_ref(), backup.as_os_str()];
    stage.run(words).success();
    assert_eq!(tree(&backup), saved);
    assert_eq!(Tables::of(&stage.env.handoff_home()), used);
    assert!(!stage.env.handoff_home().join("staging").exists());
}
