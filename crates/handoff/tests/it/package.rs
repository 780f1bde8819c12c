//! `handoff context`, `handoff keys` and `handoff package`: what one session hands to the next.

mod batches;
mod carrying;
mod flaws;
mod other_store;
mod repeating;
mod secrets;
mod secure_shell;
mod settings;

use std::fs;

use serde_json::Value;

use crate::stage::Stage;

/// A context with two values, in a repository with a commit.
fn stage() -> Stage {
    let stage = Stage::new();
    stage
        .run(["context", "set", "phase.a", "9007199254740993"])
        .success();
    stage
        .run(["context", "set", "phase.b", r#"{"x": 1.0}"#, "--tag", "t"])
        .success();
    stage
}

fn create(stage: &Stage, more: &[&str]) -> String {
    let words = ["package", "create", "--resume-point", "step 3", "--json"];
    let receipt = stage.run(words.iter().chain(more)).success().json();
    receipt["id"].as_str().unwrap().to_owned()
}

fn file(stage: &Stage, id: &str) -> std::path::PathBuf {
    let listed = stage.json("package list");
    let project = listed["packages"][0]["project"].as_str().unwrap();
    let home = stage.env.handoff_home();
    home.join(format!("packages/{project}/hof-{id}.json"))
}

/// The value of a key.
fn value(stage: &Stage, key: &str) -> String {
    let entry = stage.json(&format!("context get {key}"));
    entry["value"].as_str().unwrap().to_owned()
}

#[test]
fn a_context_keeps_values_exactly_and_by_version() {
    let stage = stage();
    assert_eq!(value(&stage, "phase.a"), "9007199254740993");
    stage.say("context set phase.a 2 --if-version 7").failure(4);
    stage.say("context set phase.a 2 --if-version 1").success();
    stage.say("context set phase.c 1 --if-version 0").success();
    let listed = stage.json("context list phase.*");
    assert_eq!(listed["entries"].as_array().unwrap().len(), 3);
    stage.say("context rm phase.a").success();
    stage.say("context get phase.a").failure(3);
    let history = stage.json("context history phase.a");
    let changes = history["changes"].as_array().unwrap();
    let values: Vec<_> = changes.iter().map(|it| it["value"].clone()).collect();
    let expected: [Value; 3] = ["9007199254740993".into(), "2".into(), Value::Null];
    assert_eq!(values, expected);
    stage.say("context set k {nojson").failure(2);
    stage.say("context set k nojson --text").success();
}

#[test]
fn what_was_created_is_received_once_and_is_the_same() {
    let stage = stage();
    let id = create(
        &stage,
        &["--claim", "committed => commit", "--summary", "Half done."],
    );
    stage.say("context rm phase.a").success();
    stage.say("context rm phase.b").success();
    let verified = stage.json(&format!("package verify {id}"));
    assert_eq!(verified["is_acceptable"], true);
    assert_eq!(verified["drift"], "current");
    assert_eq!(verified["claims"][0]["outcome"], "held");
    let received = stage.json(&format!("package receive {id}"));
    assert_eq!(received["resume_point"], "step 3");
    let prompt = received["prompt"].as_str().unwrap();
    assert!(prompt.contains("> Half done."), "{prompt}");
    assert_eq!(value(&stage, "phase.a"), "9007199254740993");
    assert_eq!(value(&stage, "phase.b"), r#"{"x": 1.0}"#);
    stage.say(&format!("package receive {id}")).failure(4);
    stage.say("doctor --audit").success();
}

#[test]
fn a_conflict_changes_nothing_and_a_policy_settles_it() {
    let stage = stage();
    let id = create(&stage, &[]);
    stage.say("context set phase.a 1").success();
    stage.say("context set other 1").success();
    stage.say(&format!("package receive {id}")).failure(4);
    assert_eq!(value(&stage, "phase.a"), "1");
    let received = stage.json(&format!("package receive {id} --policy replace"));
    let report = received["report"].as_array().unwrap();
    let fates: Vec<_> = report.iter().map(|it| it["fate"].as_str()).collect();
    assert_eq!(fates, [Some("removed"), Some("replaced"), Some("same")]);
    stage.say("context get other").failure(3);
}

#[test]
fn a_damaged_package_is_told_and_left() {
    let stage = stage();
    let (id, other) = (create(&stage, &[]), create(&stage, &[]));
    let path = file(&stage, &id);
    let mut bytes = fs::read(&path).unwrap();
    let middle = bytes.len() / 4;
    bytes[middle] ^= 1;
    fs::write(&path, &bytes).unwrap();
    let listed = stage.json("package list");
    assert_eq!(listed["damaged"].as_array().unwrap().len(), 1);
    for command in ["show", "verify", "receive"] {
        stage.say(&format!("package {command} {id}")).failure(10);
    }
    assert_eq!(fs::read(&path).unwrap(), bytes);
    let audited = stage.say("doctor --audit").failure(12).stdout;
    assert!(audited.contains("not as it was"), "{audited}");
    stage.say(&format!("package receive {other}")).success();
}

#[test]
fn the_audit_reads_what_is_attached() {
    let stage = stage();
    stage.repo.write("log.txt", "hello");
    let id = create(&stage, &["--attach", "log.txt"]);
    stage.say("doctor --audit").success();
    let blobs = file(&stage, &id).with_file_name("blobs");
    let blob = blobs.read_dir().unwrap().next().unwrap().unwrap().path();
    fs::write(&blob, "hallo").unwrap();
    stage.say("doctor --audit").failure(12);
    fs::remove_file(&blob).unwrap();
    stage.say("doctor --audit").failure(12);
}

#[test]
fn a_package_goes_to_another_home_with_its_attachments() {
    let stage = stage();
    stage.repo.write("log.txt", "hello");
    let id = create(&stage, &["--attach", "log.txt"]);
    let carried = stage.env.work().join("carried.hof");
    let carried = carried.to_str().unwrap();
    stage
        .run([
            "package",
            "export",
            &id,
            "-o",
            carried,
            "--transfer-to",
            "b",
        ])
        .success();
    stage.say(&format!("package receive {id}")).failure(4);
    let there = Stage::new();
    there.run(["package", "import", carried]).success();
    // Sound, but of nobody who is trusted there.
    there.say(&format!("package receive {id}")).failure(9);
    let keys = stage.json("keys export");
    let key = keys["keys"][0]["key"].as_str().unwrap();
    there
        .run(["keys", "trust", key, "--name", "a", "--yes"])
        .success();
    there.say(&format!("package receive {id}")).success();
    assert_eq!(value(&there, "phase.a"), "9007199254740993");
    there.say(&format!("keys revoke {key} --yes")).success();
    let verified = there
        .say(&format!("package verify {id} --json"))
        .failure(12);
    assert!(
        verified.json()["objections"]
            .to_string()
            .contains("revoked")
    );
}

#[test]
fn a_secret_is_refused_by_kind_and_never_told() {
    let stage = stage();
    let secret = format!("ghp_{}", "aB3dE5gH7jK9".repeat(3));
    stage
        .run(["context", "set", "notes", &secret, "--text"])
        .success();
    let refused = stage.say("package create").failure(1);
    let told = refused.snapshot();
    assert!(
        told.contains("GitHub token") && !told.contains(&secret),
        "{told}"
    );
    stage.say("package create --redact").success();
    stage.repo.write(".env", "A=1");
    stage.run(["context", "rm", "notes"]).success();
    stage.say("package create --attach .env").failure(1);
}

#[test]
fn nothing_out_of_a_package_runs_unless_a_person_says_so() {
    let stage = stage();
    let id = create(&stage, &["--claim", "it works => run:touch ran"]);
    stage.say(&format!("package verify {id}")).success();
    assert!(!stage.repo.path().join("ran").exists());
    stage
        .say(&format!("package verify {id} --run-probes"))
        .success();
    assert!(stage.repo.path().join("ran").exists());
}

#[test]
fn a_package_without_a_seal_is_taken_in_and_not_believed() {
    let stage = Stage::new();
    let foreign = r#"{"id":"hof-abc123","sessionId":"s1","cloneId":"c7","createdAt":"2026-02-20T10:00:00Z",
        "sourcePhase":"analysis","targetPhase":"synthesis",
        "context":{"entries":[{"key":"a","value":"1","metadata":{"source":"x","tags":[]}}],"size":1,"checksum":"96e7f392104ef415a5d206c30be0f97d65c5272e10cf1738225809fe222782e5"},
        "checkpoint":{"phase":"analysis","step":1,"totalSteps":2,"status":"paused","resumePoint":"p"},
        "metadata":{"version":"1.0","pipelineVersion":"1","createdBy":"system","reason":"manual"},
        "integrity":{"algorithm":"sha256","checksum":"fa832c96ab91f835a9afa39bff0e915c39258b0933847614d945e0d777100e5a"}}"#;
    let path = stage.script("hof-abc123.json", foreign);
    let path = path.to_str().unwrap();
    let receipt = stage.run(["package", "import", path, "--json"]).success();
    let id = receipt.json()["id"].as_str().unwrap().to_owned();
    stage.say(&format!("package receive {id}")).failure(9);
    let carried = stage.env.work().join("foreign.hof");
    let carried = carried.to_str().unwrap();
    stage
        .run(["package", "export", &id, "-o", carried])
        .success();
    stage
        .say(&format!("package receive {id} --untrusted"))
        .success();
    assert_eq!(value(&stage, "a"), "1");
    let listed = stage.json("package list --subject c7");
    assert_eq!(listed["packages"].as_array().unwrap().len(), 1);
    assert_eq!(listed["packages"][0]["origin"], "unsealed");

    // The key of the exporter is trusted there; it does not vouch for a file that the exporter only took in.
    let there = Stage::new();
    let keys = stage.json("keys export");
    let key = keys["keys"][0]["key"].as_str().unwrap();
    there
        .run(["keys", "trust", key, "--name", "a", "--yes"])
        .success();
    let imported = there
        .run(["package", "import", carried, "--json"])
        .success();
    assert!(imported.json()["notes"].to_string().contains("--untrusted"));
    let refused = there
        .say(&format!("package receive {id} --json"))
        .failure(9);
    assert!(refused.snapshot().contains("hof-abc123"));
    let shown = there.json(&format!("package show {id}"));
    assert_eq!(shown["origin"], "unsealed");
    assert_eq!(
        shown["label"]["provenance"]["importedBy"],
        keys["keys"][0]["id"]
    );
    assert!(
        there
            .say("package list")
            .success()
            .snapshot()
            .contains("unsealed file")
    );
    let received = there.json(&format!("package receive {id} --untrusted"));
    let prompt = received["prompt"].as_str().unwrap();
    assert!(prompt.contains("nobody vouches for it: handoff-protocol file"));
}

#[test]
fn a_claim_about_the_context_is_compared_with_the_context_here() {
    let stage = stage();
    let id = create(&stage, &["--claim", "it is so => context:phase.a"]);
    let verify = format!("package verify {id} --json");
    let outcome = |told: &serde_json::Value| told["claims"][0]["outcome"].clone();
    assert_eq!(outcome(&stage.say(&verify).success().json()), "held");
    stage.run(["context", "set", "phase.a", "1"]).success();
    assert_eq!(outcome(&stage.say(&verify).failure(12).json()), "failed");
    let strict = format!("package receive {id} --strict --policy take-theirs");
    stage.say(&strict).failure(12);
    stage.run(["context", "rm", "phase.a"]).success();
    assert_eq!(outcome(&stage.say(&verify).success().json()), "not_run");
}

#[test]
fn a_protocol_file_with_a_wrong_checksum_is_refused() {
    let stage = Stage::new();
    let foreign = r#"{"id":"hof-1","sessionId":"s1","createdAt":"2026-02-20T10:00:00Z","sourcePhase":"a","targetPhase":"b",
        "context":{"entries":[],"size":2,"checksum":"x"},
        "checkpoint":{"phase":"a","step":1,"totalSteps":2,"status":"paused","resumePoint":"p"},
        "metadata":{"version":"1.0","createdBy":"system","reason":"manual"}}"#;
    let path = stage.script("hof-1.json", foreign);
    let refused = stage
        .run(["package", "import", path.to_str().unwrap()])
        .failure(10);
    assert!(refused.snapshot().contains("Integrity check failed"));
}

#[test]
fn wrong_input_is_told_and_changes_nothing() {
    let stage = stage();
    let id = create(&stage, &["--ttl", "1h"]);
    for words in [
        "package show ../../etc/passwd",
        "package create --ttl 1x",
        "package create --step 6/5",
        "package create --expires-at 2020-01-01T00:00:00Z",
        "package create --claim a=>b",
        "package create --for everybody",
    ] {
        stage.say(words).failure(2);
    }
    stage.say("package create --require phase.z").failure(1);
    stage.say(&format!("package release {id}")).failure(4);
    stage
        .say("package show pkg_00000000000000000000000000000000")
        .failure(3);
    stage.say(&format!("package delete {id} --yes")).success();
    stage.say(&format!("package receive {id}")).failure(3);
    assert_eq!(
        stage.json("package list --status active")["packages"],
        serde_json::json!([])
    );
}

#[test]
fn a_paused_task_goes_on_from_its_package() {
    let stage = Stage::new();
    stage.add("fix");
    stage.say("pause fix").failure(4);
    let fence = stage.claim("fix");
    stage.say("context set half 1 --task fix").success();
    let paused = stage.run([
        "pause",
        "fix",
        "--resume-point",
        "Write the test.",
        "--json",
    ]);
    let id = paused.success().json()["id"].as_str().unwrap().to_owned();
    assert_eq!(stage.state("fix"), "held");
    stage
        .say(&format!("queue complete fix --fence {fence}"))
        .failure(6);
    stage.say("queue claim").failure(11);
    let resumed = stage.json(&format!("resume {id}"));
    assert_eq!(resumed["resume_point"], "Write the test.");
    assert_eq!(stage.state("fix"), "queued");
    stage.say(&format!("resume {id}")).failure(4);
}

#[test]
fn a_pause_that_cannot_be_sealed_is_no_pause() {
    let stage = Stage::new();
    stage.add("fix");
    stage.claim("fix");
    let secret = format!("ghp_{}", "aB3dE5gH7jK9".repeat(3));
    stage.run(["pause", "fix", "--summary", &secret]).failure(1);
    assert_eq!(stage.state("fix"), "queued");
}

#[test]
fn a_transferred_task_answers_as_the_protocol_says() {
    let stage = Stage::new();
    stage.add("fix");
    stage.claim("fix");
    let file = stage.env.work().join("fix.hof");
    let file = file.to_str().unwrap();
    let to = |file| ["transfer", "fix", "--to", "host b", "-o", file, "--json"];
    // What cannot be written to is found out before anything is paused.
    stage.run(to("/nowhere/fix.hof")).failure(2);
    let taken = stage.script("taken.hof", "mine");
    stage.run(to(taken.to_str().unwrap())).failure(4);
    assert_eq!(stage.state("fix"), "leased");
    let answer = stage.run(to(file)).success().json();
    assert_eq!(answer["targetProcess"], "host b");
    assert!(answer["handoffId"].is_string() && answer["transferredAt"].is_string());
    let there = Stage::new();
    there.run(["package", "import", file]).success();
}

#[test]
fn what_a_killed_writer_left_is_swept_and_nothing_else() {
    let stage = stage();
    let (id, over) = (create(&stage, &[]), create(&stage, &[]));
    stage.say(&format!("package receive {over}")).success();
    let unknown = file(&stage, "pkg_00000000000000000000000000000000");
    fs::write(&unknown, "half").unwrap();
    let leftover = unknown.with_file_name(".hof-x.json.0123456789abcdef.tmp");
    fs::write(&leftover, "half").unwrap();
    assert_eq!(stage.json("package gc")["packages"], 0);
    let swept = stage.json("package gc --apply --yes --older-than 0s");
    assert_eq!(swept["leftovers"], 1);
    assert_eq!(swept["packages"], 1);
    assert!(unknown.exists() && !leftover.exists());
    stage.say(&format!("package verify {id}")).success();
}

#[test]
fn one_of_twenty_processes_receives_it() {
    let stage = stage();
    let id = create(&stage, &[]);
    let mut started: Vec<_> = (0..20)
        .map(|_| stage.start(["package", "receive", &id]))
        .collect();
    let codes: Vec<_> = started.iter_mut().map(|it| it.code()).collect();
    let won = codes.iter().filter(|code| **code == Some(0)).count();
    assert_eq!(won, 1, "{codes:?}");
    assert!(
        codes.iter().all(|it| matches!(it, Some(0 | 4))),
        "{codes:?}"
    );
}
