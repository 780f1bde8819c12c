//! What the Handoff Protocol gets wrong, and what must be otherwise here. The rest is in the tests of `core`, `store` and `package`.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;

use handoff_testkit::postgres::fresh_database;
use serde_json::{Value, json};

use super::{create, file, stage, value};
use crate::stage::Stage;

fn ids(listed: &Value) -> Vec<String> {
    let rows = listed["packages"].as_array().unwrap();
    let id = |row: &Value| row["id"].as_str().unwrap().to_owned();
    rows.iter().map(id).collect()
}

#[test]
fn times_are_instants_and_lists_are_in_order() {
    let stage = Stage::new();
    assert_eq!(
        stage.json("package list")["packages"],
        json!([]),
        "before the first one"
    );
    stage.say("context set a 1").success();
    let forever = create(&stage, &["--ttl", "0s"]);
    let brief = create(&stage, &["--ttl", "1ms", "--subject", "c7"]);
    let newest = create(&stage, &["--ttl", "1h"]);
    let all = ids(&stage.json("package list"));
    assert_eq!(all, [newest.clone(), brief.clone(), forever.clone()]);
    assert_eq!(
        ids(&stage.json("package list --status active")),
        [newest, forever]
    );
    assert_eq!(
        ids(&stage.json("package list --status expired")),
        std::slice::from_ref(&brief)
    );
    assert_eq!(
        ids(&stage.json("package list --subject c7")),
        std::slice::from_ref(&brief)
    );
    let later = ids(&stage.json("package list --created-after 2999-01-01T00:00:00+02:00"));
    assert_eq!(later, [""; 0]);
    assert_eq!(
        ids(&stage.json("package list --created-after 2020-01-01T00:00:00Z")),
        all
    );
    for wrong in ["yesterday", "2026-02-30T00:00:00Z", "2026-02-20"] {
        stage
            .say(&format!("package list --created-after {wrong}"))
            .failure(2);
    }
    stage.say(&format!("package receive {brief}")).failure(4);
}

#[test]
fn a_package_is_private_and_lies_outside_of_the_tree() {
    let stage = stage();
    let id = create(&stage, &[]);
    let path = file(&stage, &id);
    let mode = |path: &std::path::Path| fs::metadata(path).unwrap().permissions().mode() & 0o777;
    assert_eq!(mode(&path), 0o600);
    assert_eq!(mode(path.parent().unwrap()), 0o700);
    assert_eq!(
        stage.repo.status(),
        [""; 0],
        "nothing that could be committed"
    );
}

#[test]
fn how_far_the_code_has_moved_is_said_before_anything_is_used() {
    let stage = stage();
    let id = create(&stage, &[]);
    let drift = |stage: &Stage| {
        let found = stage.json(&format!("package verify {id}"));
        found["drift"].as_str().unwrap().to_owned()
    };
    stage.repo.write("more.txt", "1");
    stage.repo.commit("more");
    assert_eq!(drift(&stage), "ahead by 1");
    stage
        .say(&format!("package receive {id} --strict"))
        .failure(12);
    assert_eq!(
        stage.json(&format!("package show {id}"))["state"],
        "created"
    );
    stage.say(&format!("package receive {id}")).success();
}

/// A program that plays ssh: it runs what it is told to on the other side.
pub(super) fn ssh(here: &mut Stage, script: &str) {
    let bin = here.env.work().join("bin");
    fs::create_dir_all(&bin).unwrap();
    let program = bin.join("ssh");
    fs::write(&program, format!("#!/bin/sh\n{script}\n")).unwrap();
    fs::set_permissions(&program, fs::Permissions::from_mode(0o755)).unwrap();
    let path = std::env::join_paths([bin.as_path(), "/usr/bin".as_ref(), "/bin".as_ref()]);
    here.env.set("PATH", path.unwrap());
}

#[test]
fn ownership_moves_only_when_the_other_side_has_taken_it() {
    let mut here = stage();
    let there = Stage::new();
    here.repo.write("log.txt", "hello");
    let id = create(&here, &["--attach", "log.txt"]);
    ssh(&mut here, "cat > /dev/null; echo no >&2; exit 1");
    let refused = here.say(&format!("package send {id} b")).failure(5);
    assert!(
        refused.stderr.contains("it is still here"),
        "{}",
        refused.stderr
    );
    assert_eq!(here.json(&format!("package show {id}"))["state"], "created");
    here.say(&format!("package send {id} -b")).failure(2);
    let (home, repo) = (there.env.handoff_home(), there.repo.path().to_owned());
    let script = format!(
        "cd '{}' && HANDOFF_HOME='{}' exec sh -c \"$5\"",
        repo.display(),
        home.display()
    );
    ssh(&mut here, &script);
    let program = here.env.binary().to_str().unwrap().to_owned();
    let words = ["package", "send", &id, "b", "--program", &program, "--json"];
    let sent = here.run(words).success().json();
    assert_eq!(sent["handoffId"], *id);
    assert!(sent["transferredAt"].is_string());
    here.say(&format!("package receive {id}")).failure(4);
    there
        .say(&format!("package receive {id} --untrusted"))
        .success();
    assert_eq!(value(&there, "phase.a"), "9007199254740993");
    let left = fs::read_dir(file(&here, &id).with_file_name("outbox"));
    assert_eq!(left.unwrap().count(), 0);
}

/// Values that a careless reader or writer changes, and others out of a generator that always gives the same.
fn values() -> Vec<String> {
    let mut all: Vec<String> = [
        "null",
        "-0",
        "1.0",
        "9007199254740993",
        "0.1000000000000000055511151231257827",
        "\"\"",
        "[]",
        "{}",
        r#""\u0000\ud83d\ude00\u200e""#,
        r#"{"b":1,"a":2,"10":3,"9":4}"#,
        r#"[[[[[[[[1]]]]]]]]"#,
        r#""ä\\\"/\/\n""#,
    ]
    .map(str::to_owned)
    .into();
    let mut state = 7_u64;
    for _ in 0..20 {
        state = state
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        let text: String = state
            .to_le_bytes()
            .map(|byte| char::from_u32(u32::from(byte) * 37).unwrap_or('?'))
            .iter()
            .collect();
        all.push(json!([text, state, {"k": text}]).to_string());
    }
    all
}

#[test]
fn every_value_arrives_as_it_was_by_a_file_and_on_both_stores() {
    let here = Stage::new();
    for (number, text) in values().iter().enumerate() {
        let words = ["context", "set", &format!("v{number}"), "--", text];
        here.run(words).success();
    }
    let id = create(&here, &[]);
    let carried = here.env.work().join("carried.hof");
    let carried = carried.to_str().unwrap();
    here.run(["package", "export", &id, "-o", carried])
        .success();
    let mut stores = vec![(Stage::new(), None)];
    if let Some(database) = fresh_database() {
        let mut team = Stage::new();
        team.env.set("HANDOFF_STORE", database.url());
        stores.push((team, Some(database)));
    }
    for (there, _database) in &stores {
        there.run(["package", "import", carried]).success();
        there
            .say(&format!("package receive {id} --untrusted"))
            .success();
        let listed = there.json("context list");
        let entries = listed["entries"].as_array().unwrap();
        let find = |key: String| entries.iter().find(|it| it["key"] == *key);
        for (number, text) in values().iter().enumerate() {
            let found = find(format!("v{number}")).unwrap();
            assert_eq!(found["value"], **text);
        }
    }
}
