//! What a person sets for all packages: how long they live, what they need, which phases there are.

use std::fs;

use super::{create, stage};
use crate::stage::Stage;

fn configure(stage: &Stage, text: &str) {
    let place = stage.env.config_home().join("handoff");
    fs::create_dir_all(&place).unwrap();
    fs::write(place.join("config.toml"), text).unwrap();
}

#[test]
fn the_time_to_live_is_a_setting() {
    let stage = stage();
    let usual = stage.json("package create");
    assert!(usual["expires_at"].is_string(), "there is one by default");
    configure(&stage, "[package]\nttl = \"0s\"\n");
    let forever = stage.json("package create");
    assert_eq!(forever["expires_at"], serde_json::Value::Null);
    let said = stage.json("package create --ttl 2d");
    assert!(said["expires_at"].is_string());
    configure(&stage, "[package]\nttl = \"soon\"\n");
    let told = stage.say("package create").failure(1).snapshot();
    assert!(told.contains("line 2"), "{told}");
}

#[test]
fn what_a_kind_or_a_phase_needs_is_named_when_it_is_missing() {
    let stage = stage();
    let early = create(&stage, &["--source-phase", "synthesis"]);
    configure(
        &stage,
        "[package.required.kind]\nmanual = [\"phase.a\"]\n\
         [package.required.phase]\nsynthesis = [\"phase.z\", \"phase.y\"]\n",
    );
    create(&stage, &[]);
    let told = stage.say("package create --target-phase synthesis");
    let told = told.failure(1).snapshot();
    assert!(told.contains("lacks `phase.y`, `phase.z`"), "{told}");
    let verified = stage.say(&format!("package verify {early} --json"));
    let objections = verified.failure(12).json()["objections"].to_string();
    assert!(
        objections.contains("lacks `phase.y`, `phase.z`"),
        "{objections}"
    );
    stage.say(&format!("package receive {early}")).failure(12);
    let listed = stage.json("package list --status active");
    assert_eq!(
        listed["packages"].as_array().unwrap().len(),
        2,
        "it is untouched"
    );
    stage.say("context set phase.y 1").success();
    stage.say("context set phase.z 1").success();
    create(&stage, &["--target-phase", "synthesis"]);
}

#[test]
fn a_place_to_go_on_that_does_not_exist_is_refused_and_others_are_said_to_be_words() {
    let stage = stage();
    let at = |phase: &str, step: &str| create(&stage, &["--source-phase", phase, "--step", step]);
    let (known, unknown, beyond) = (
        at("analysis", "2/5"),
        at("magic", "1/1"),
        at("analysis", "6/9"),
    );
    let words = stage.json(&format!("package verify {known}"));
    assert_eq!(words["resolution"], "unresolved");
    configure(&stage, "[package.phases]\nanalysis = 5\n");
    assert_eq!(
        stage.json(&format!("package verify {known}"))["resolution"],
        "resolved"
    );
    for (id, why) in [(unknown, "no phase `magic`"), (beyond, "has 5 steps here")] {
        let told = stage.say(&format!("package receive {id}")).failure(12);
        assert!(told.snapshot().contains(why), "{}", told.snapshot());
        assert_eq!(
            stage.json(&format!("package show {id}"))["state"],
            "created"
        );
    }
    stage.say(&format!("package receive {known}")).success();
}

#[test]
fn a_package_of_another_pipeline_is_received_only_if_somebody_says_so() {
    let stage = stage();
    configure(&stage, "[package]\npipeline_version = \"3\"\n");
    let (ours, theirs) = (
        create(&stage, &[]),
        create(&stage, &["--pipeline-version", "2"]),
    );
    let shown = stage.json(&format!("package show {ours}"));
    assert_eq!(shown["payload"]["metadata"]["pipelineVersion"], "3");
    stage.say(&format!("package receive {ours}")).success();
    let told = stage.say(&format!("package receive {theirs}")).failure(12);
    assert!(
        told.snapshot()
            .contains("version 2 of the pipeline, and here is 3"),
        "{}",
        told.snapshot()
    );
    let shown = stage.json(&format!("package show {theirs}"));
    assert_eq!(shown["state"], "created");
    stage
        .say(&format!("package receive {theirs} --any-version"))
        .success();
}

#[test]
fn the_feature_and_its_plan_say_where_to_go_on() {
    let stage = stage();
    stage.feature("login", "- [x] One\n- [ ] Two\n");
    let made = stage.json("package create");
    let id = made["id"].as_str().unwrap();
    let shown = stage.json(&format!("package show {id}"));
    assert_eq!(shown["label"]["feature"], "login");
    assert_eq!(
        shown["payload"]["checkpoint"],
        serde_json::json!({"phase": "plan", "step": 1, "totalSteps": 2, "status": "paused", "resumePoint": "Two"})
    );
    let verified = stage.json(&format!("package verify {id}"));
    assert_eq!(verified["resolution"], "resolved");
    stage.feature("login", "- [x] One\n");
    let moved = stage.json(&format!("package verify {id}"));
    assert_eq!(moved["resolution"], "unresolved");
    assert!(
        moved["unresolved"]
            .as_str()
            .unwrap()
            .contains("1 steps here")
    );
}
