//! `handoff doctor`.

mod damage;

use std::fs;

use insta::assert_snapshot;
use rusqlite::Connection;
use serde_json::Value;

use crate::stage::Stage;

fn finding(document: &Value, what: &str) -> (String, String) {
    let findings = document["findings"].as_array().unwrap();
    let found = findings.iter().find(|it| it["what"] == what).unwrap();
    let text = |field: &str| found[field].as_str().unwrap().to_owned();
    (text("verdict"), text("found"))
}

#[test]
fn it_looks_at_the_machine_the_project_and_the_store() {
    let stage = Stage::new();
    stage.add("fix");
    let printed = stage.say("doctor").success();
    let checks: Vec<_> = printed
        .stdout
        .lines()
        .filter_map(|line| line.split("  ").next())
        .collect();
    assert_eq!(
        checks,
        [
            "CHECK", "handoff", "state", "space", "git", "project", "sandbox", "store", "lease",
            "brief"
        ]
    );
    let document = stage.json("doctor");
    assert_eq!(document["store"]["engine"], "sqlite");
    assert_eq!(finding(&document, "project").0, "good");
    assert!(finding(&document, "project").1.contains("proj_"));
}

#[test]
fn an_audit_agrees_with_a_sound_ledger() {
    let stage = Stage::new();
    stage.add("fix");
    stage.claim("fix");
    let (verdict, found) = finding(&stage.json("doctor --audit"), "audit");
    assert_eq!(
        (verdict.as_str(), found.as_str()),
        (
            "good",
            "1 tasks, 0 features, 0 packages and 0 contexts agree with their 2 events"
        )
    );
}

#[test]
fn an_audit_finds_a_row_that_its_events_do_not_explain() {
    let stage = Stage::new();
    stage.add("fix");
    let database = Connection::open(stage.env.handoff_home().join("handoff.db")).unwrap();
    database
        .execute(
            "UPDATE tasks SET body = replace(body, 'Do fix.', 'Do evil.')",
            (),
        )
        .unwrap();
    stage.say("doctor").success();
    let audited = stage.say("doctor --audit --json").failure(12);
    let (verdict, found) = finding(&audited.json(), "audit");
    assert_eq!(verdict, "bad");
    assert!(found.contains("task_"), "{found}");
}

#[test]
fn outside_of_a_repository_it_still_looks() {
    let stage = Stage::new();
    let printed = stage.env.handoff(["doctor", "--json"]).success().json();
    assert_eq!(
        finding(&printed, "project"),
        (
            "limited".to_owned(),
            "not inside a git repository".to_owned()
        )
    );
}

#[test]
fn a_store_that_cannot_be_used_is_a_problem() {
    let stage = Stage::new();
    fs::create_dir(stage.env.handoff_home()).unwrap();
    fs::write(
        stage.env.handoff_home().join("handoff.db"),
        vec![b'x'; 8192],
    )
    .unwrap();
    let printed = stage.say("doctor --json").failure(12).json();
    assert_eq!(printed["store"], Value::Null);
    let (verdict, found) = finding(&printed, "store");
    assert_eq!(verdict, "bad");
    assert_snapshot!(stage.env.normalize(&found), @"the store is damaged: file is not a database: Error code 26: file is not a database");
}

#[test]
fn a_mistake_in_the_configuration_is_named() {
    let stage = Stage::new();
    stage.configure("[stor]\n");
    assert_snapshot!(stage.say("queue add fix --brief x").snapshot(), @"
    exit status: 1
    --- stderr ---
    error: `$TEMP/config/handoff/config.toml` has a mistake in line 1
    hint: the settings are `[store]` with `url`, `password_file` and `patience`, `[upgrade]` with `url`, `[worker]` with `slots`, `agent`, `limits`, `stagger`, `spawn`, `tab`, `tab_timeout` and `sandbox`, `[notify]` with `command`, `[batch]` with `most`, `[gc]` with `sessions`, `transcripts`, `packages`, `megabytes` and `package_megabytes`, `[checks]` with `time`, `memory_megabytes`, `processes`, `output_megabytes` and `disk_megabytes`, `[sessions]` with `may_answer_children`, `[sandbox]` with `default` and `write`, and `[package]` with `ttl`, `pipeline_version`, `[package.required.kind]`, `[package.required.phase]` and `[package.phases]`
    ");
}
