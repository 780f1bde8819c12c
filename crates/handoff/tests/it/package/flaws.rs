//! What the Handoff Protocol gets wrong, and what must be otherwise here. The rest is in the tests of `core`, `store` and `package`;
//! `docs/design/0011-packages.md` says which is which.

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

#[test]
fn what_is_no_json_or_could_be_read_in_two_ways_is_refused_by_its_key() {
    let stage = Stage::new();
    let deep = format!("{}1{}", "[".repeat(101), "]".repeat(101));
    for value in [
        "undefined",
        "NaN",
        "-Infinity",
        "new Date()",
        "10n",
        "01",
        r#"{"a":1,"a":2}"#,
        r#""\ud800""#,
        &deep,
    ] {
        let refused = stage.run(["context", "set", "some.key", "--", value]);
        let told = refused.failure(2).snapshot();
        assert!(told.contains("some.key"), "{value}: {told}");
    }
    assert_eq!(stage.json("context list")["entries"], json!([]));
}

#[test]
fn all_that_is_known_of_a_value_arrives_with_it() {
    let here = Stage::new();
    here.repo.write("here.txt", "1");
    here.repo.commit("only here");
    let words = ["context", "set", "k", "\"ä😀\"", "--source", "a test"];
    here.run(words.iter().chain(&["--tag", "one", "--tag", "two"]))
        .success();
    let id = create(&here, &[]);
    let shown = here.json(&format!("package show {id}"));
    let bytes = "k".len() + "\"ä😀\"".len();
    assert_eq!(shown["payload"]["context"]["size"], bytes, "{shown}");
    let carried = here.env.work().join("carried.hof");
    let carried = carried.to_str().unwrap();
    here.run(["package", "export", &id, "-o", carried])
        .success();
    let there = Stage::new();
    there.run(["package", "import", carried]).success();
    let found = there.say(&format!("package verify {id} --json"));
    assert_eq!(
        found.failure(12).json()["drift"],
        "unknown",
        "it is about another repository"
    );
    there
        .say(&format!("package receive {id} --untrusted"))
        .success();
    let entry = |stage: &Stage| {
        let mut entry = stage.json("context get k");
        entry.as_object_mut().unwrap().remove("version");
        entry
    };
    assert_eq!(entry(&there), entry(&here));
}

#[test]
fn a_pause_says_where_to_go_on_and_where_it_comes_from_is_not_where_it_goes() {
    let stage = stage();
    stage.add("fix");
    stage.claim("fix");
    let paused = stage.json("pause fix");
    let id = paused["id"].as_str().unwrap();
    let checkpoint = stage.json(&format!("package show {id}"))["payload"]["checkpoint"].clone();
    assert_eq!(checkpoint["phase"], "task");
    assert_eq!(checkpoint["status"], "paused");
    assert!(checkpoint["step"].as_u64() <= checkpoint["totalSteps"].as_u64());
    assert_ne!(checkpoint["resumePoint"], "");
    let verified = stage.json(&format!("package verify {id}"));
    assert_eq!(verified["resolution"], "resolved");
    let phases = ["--source-phase", "analysis", "--target-phase", "CP-3"];
    let id = create(&stage, &phases);
    let label = stage.json(&format!("package show {id}"))["label"].clone();
    assert_eq!(
        (&label["sourcePhase"], &label["targetPhase"]),
        (&"analysis".into(), &"CP-3".into())
    );
}

/// A list needs no more than the headers, so that a damaged payload costs it nothing; whoever uses the package is told.
#[test]
fn a_list_reads_headers_and_comes_in_pages() {
    let stage = stage();
    let ids_made = [(); 3].map(|()| create(&stage, &[]));
    let path = file(&stage, &ids_made[0]);
    let text = fs::read_to_string(&path).unwrap();
    let header = text.split_once('\n').unwrap().0;
    fs::write(&path, format!("{header}\nrubbish")).unwrap();
    let listed = stage.json("package list");
    assert_eq!(listed["damaged"], json!([]));
    assert_eq!(ids(&listed).len(), 3);
    let page = stage.json("package list --limit 2");
    assert_eq!((ids(&page).len(), &page["has_more"]), (2, &true.into()));
    let told = stage
        .say(&format!("package receive {}", ids_made[0]))
        .failure(10);
    assert!(told.snapshot().contains("bytes instead of"), "{told:?}");
}

#[test]
fn a_name_from_outside_is_never_a_path() {
    let stage = stage();
    let home = stage.env.handoff_home();
    let outside = home.parent().unwrap().join("x");
    for id in ["../../x", "/etc/passwd", ".", "", "hof-abc", "pkg_0/../x"] {
        for verb in ["show", "verify", "receive", "release", "delete", "export"] {
            stage.run(["package", verb, id]).failure(2);
        }
    }
    let foreign = r#"{"id":"../../x","sessionId":"../s","cloneId":"../../c","createdAt":"2026-02-20T10:00:00Z",
        "sourcePhase":"../a","targetPhase":"/b",
        "context":{"entries":[{"key":"../../k","value":"1","metadata":{"tags":[]}}],"size":1},
        "checkpoint":{"phase":"..","step":1,"totalSteps":2,"status":"paused","resumePoint":"../p"},
        "metadata":{"version":"1.0","pipelineVersion":"1","createdBy":"../../me","reason":"manual"}}"#;
    let path = stage.script("foreign.json", foreign);
    let imported = stage.run(["package", "import", path.to_str().unwrap(), "--json"]);
    let id = imported.success().json()["id"].as_str().unwrap().to_owned();
    assert!(file(&stage, &id).exists() && !outside.exists());
    stage
        .say(&format!("package receive {id} --untrusted"))
        .success();
    assert_eq!(value(&stage, "../../k"), "1");
    let directory = file(&stage, &id).parent().unwrap().to_owned();
    stage.say(&format!("package delete {id} --yes")).success();
    assert!(directory.exists() && !outside.exists());
}

/// The other side has it, and nobody heard of it: saying the same again comes to the same end.
#[test]
fn an_acknowledgement_that_was_lost_can_be_asked_for_again() {
    let mut here = stage();
    let there = Stage::new();
    let id = create(&here, &[]);
    let (home, repo) = (there.env.handoff_home(), there.repo.path().to_owned());
    let import = format!(
        "cd '{}' && HANDOFF_HOME='{}' sh -c \"$5\"",
        repo.display(),
        home.display()
    );
    let program = here.env.binary().to_str().unwrap().to_owned();
    let words = ["package", "send", &id, "b", "--program", &program, "--json"];
    ssh(&mut here, &format!("{import} > /dev/null\nexit 255"));
    here.run(words).failure(5);
    assert_eq!(here.json(&format!("package show {id}"))["state"], "created");
    ssh(&mut here, &import);
    let sent = here.run(words).success().json();
    assert!(sent["transferredAt"].is_string());
    assert_eq!(ids(&there.json("package list")), std::slice::from_ref(&id));
    here.say(&format!("package receive {id}")).failure(4);
}
