//! A package on its way: to a file, to another store, to a team.

use std::fs;

use handoff_testkit::postgres::fresh_database;

use super::{create, file, stage, value};
use crate::stage::Stage;

#[test]
fn an_export_that_fails_leaves_no_claim() {
    let stage = stage();
    let id = create(&stage, &[]);
    let taken = stage.script("taken.hof", "mine");
    let words = ["package", "export", &id, "--transfer-to", "b", "-o"];
    for path in [taken.to_str().unwrap(), "/nowhere/at/all.hof", "/"] {
        let failed = stage.run(words.into_iter().chain([path]));
        assert_ne!(failed.code(), Some(0), "{path}");
        assert_eq!(
            stage.json(&format!("package show {id}"))["state"],
            "created"
        );
    }
    assert_eq!(fs::read_to_string(&taken).unwrap(), "mine");
    stage.say(&format!("package receive {id}")).success();
}

#[test]
fn a_file_that_the_ledger_does_not_know_is_named_and_can_be_taken_in() {
    let stage = stage();
    stage.repo.write("log.txt", "hello");
    let id = create(&stage, &["--attach", "log.txt"]);
    let path = file(&stage, &id);
    // As if its maker had died before the row: the row is one of another store now.
    let other = Stage::new();
    other.say("context set a 1").success();
    let made = create(&other, &[]);
    let place = file(&other, &made).with_file_name(path.file_name().unwrap());
    fs::copy(&path, &place).unwrap();
    let blobs = place.with_file_name("blobs");
    fs::create_dir_all(&blobs).unwrap();
    for blob in fs::read_dir(path.with_file_name("blobs")).unwrap() {
        let blob = blob.unwrap();
        fs::copy(blob.path(), blobs.join(blob.file_name())).unwrap();
    }
    let swept = other.json("package gc --apply --yes");
    assert_eq!(swept["unknown"].as_array().unwrap().len(), 1, "{swept}");
    assert!(place.exists());
    let told = other.say("doctor").success().snapshot();
    assert!(told.contains("no package that the ledger knows"), "{told}");
    other
        .run(["package", "import", place.to_str().unwrap()])
        .success();
    assert_eq!(other.json("package gc")["unknown"], serde_json::json!([]));
    other.say(&format!("package show {id}")).success();
}

#[test]
fn an_attachment_is_taken_out_and_overwrites_nothing() {
    let stage = stage();
    attachments(&stage);
}

#[test]
fn a_team_carries_attachments_too() {
    let Some(database) = fresh_database() else {
        return;
    };
    let mut there = Stage::new();
    there.env.set("HANDOFF_STORE", database.url());
    there.say("context set phase.a 9007199254740993").success();
    let id = attachments(&there);
    let carried = there.env.work().join("carried.hof");
    let carried = carried.to_str().unwrap();
    let words = ["package", "export", &id, "-o", carried];
    there.run(words).success();
    let here = Stage::new();
    here.run(["package", "import", carried]).success();
    here.say(&format!("package attachment {id} log.txt -o copy.txt"))
        .success();
    assert_eq!(here.repo.read("copy.txt").unwrap().len(), 3_000_000);
    // And back, to another team.
    let Some(other) = fresh_database() else {
        return;
    };
    let mut team = Stage::new();
    team.env.set("HANDOFF_STORE", other.url());
    team.run(["package", "import", carried]).success();
    team.run(["package", "import", carried]).success();
    team.say(&format!("package receive {id} --untrusted"))
        .success();
    assert_eq!(value(&team, "phase.a"), "9007199254740993");
    team.say(&format!("package attachment {id} log.txt -o copy.txt"))
        .success();
    assert_eq!(team.json("package gc --apply --yes")["attachments"], 0);
    team.say("doctor --audit").success();
}

/// Makes a package with two attachments and looks at them.
fn attachments(stage: &Stage) -> String {
    let log = "0123456789abcdef-\n".repeat(3_000_000 / 18 + 1);
    stage.repo.write("log.txt", &log[..3_000_000]);
    stage.repo.write("empty.txt", "");
    let more = ["--attach", "log.txt", "--attach", "empty.txt"];
    let id = create(stage, &more);
    create(stage, &more);
    let take = format!("package attachment {id} log.txt -o out.txt");
    stage.say(&take).success();
    assert_eq!(stage.repo.read("out.txt").unwrap(), log[..3_000_000]);
    stage.say(&take).failure(4);
    stage
        .say(&format!("package attachment {id} other.txt -o x.txt"))
        .failure(3);
    stage.say("package create --attach .").failure(2);
    stage.say("package create --attach nothing.txt").failure(3);
    id
}
