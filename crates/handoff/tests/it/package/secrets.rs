//! A secret does not get into a package, wherever it stands and whoever seals it.

use std::fs;

use super::{create, stage};
use crate::stage::Stage;

/// Put together at run time, so that no scanner takes this file for a leak.
fn secret() -> String {
    format!("ghp_{}", "aB3dE5gH7jK9".repeat(3))
}

#[test]
fn a_secret_in_any_option_is_refused_by_place_and_never_told() {
    let stage = stage();
    let secret = secret();
    for (option, place) in [
        ("--resume-point", "checkpoint.resumePoint"),
        ("--source-phase", "sourcePhase"),
        ("--subject", "subjectId"),
        ("--created-by", "metadata.createdBy"),
        ("--pipeline-version", "metadata.pipelineVersion"),
        ("--decision", "decisions[0]"),
        ("--dead-end", "deadEnds[0]"),
    ] {
        let refused = stage.run(["package", "create", option, &secret]).failure(1);
        let told = refused.snapshot();
        assert!(
            told.contains("GitHub token") && told.contains(place),
            "{told}"
        );
        assert!(!told.contains(&secret), "{option}");
    }
    let claim = format!("it works => run:curl -H {secret}");
    let told = stage
        .run(["package", "create", "--claim", &claim])
        .failure(1);
    assert!(told.snapshot().contains("claims[0].probe.command"));
    assert_eq!(
        stage.json("package list")["packages"],
        serde_json::json!([])
    );
}

#[test]
fn a_secret_in_a_tag_or_an_attachment_is_refused_or_redacted() {
    let stage = stage();
    let secret = secret();
    stage
        .run(["context", "set", "k", "1", "--tag", &secret])
        .success();
    stage.say("package create").failure(1);
    let id = create(&stage, &["--redact"]);
    let shown = stage.json(&format!("package show {id}"));
    assert!(!shown.to_string().contains(&secret), "{shown}");
    stage.say("context rm k").success();
    stage.repo.write("notes.txt", format!("first\n{secret}\n"));
    for more in [None, Some("--redact")] {
        let words = ["package", "create", "--attach", "notes.txt"];
        let told = stage.run(words.into_iter().chain(more)).failure(1);
        assert!(told.snapshot().contains("`notes.txt`, line 2"));
        assert!(!told.snapshot().contains(&secret));
    }
}

#[test]
fn a_package_of_the_protocol_is_looked_through_too() {
    let stage = Stage::new();
    let foreign = format!(
        r#"{{"id":"hof-1","sessionId":"s1","cloneId":"c7","createdAt":"2026-02-20T10:00:00Z","sourcePhase":"a","targetPhase":"b",
        "context":{{"entries":[{{"key":"a","value":"\"{}\""}}],"size":1}},
        "checkpoint":{{"phase":"a","step":1,"totalSteps":2,"status":"paused","resumePoint":"p"}},
        "metadata":{{"version":"1.0","createdBy":"system","reason":"manual"}}}}"#,
        secret()
    );
    let path = stage.script("hof-1.json", &foreign);
    let path = path.to_str().unwrap();
    stage.run(["package", "import", path]).failure(1);
    stage.run(["package", "import", path, "--redact"]).success();
}

#[test]
fn what_the_worker_seals_by_itself_carries_marks_instead() {
    let stage = Stage::new();
    let secret = secret();
    let brief = format!("Do it with {secret}.");
    stage
        .run(["queue", "add", "fix", "--brief", &brief])
        .success();
    let script = stage.script(
        "done.toml",
        "[[step]]\nwrite = { path = \"new.txt\", text = \"new\\n\" }\n",
    );
    let words = ["worker", "--once", "--script", script.to_str().unwrap()];
    stage.run(words).success();
    let listed = stage.json("package list");
    let id = listed["packages"][0]["id"].as_str().unwrap();
    let project = listed["packages"][0]["project"].as_str().unwrap();
    let home = stage.env.handoff_home();
    let file = home.join(format!("packages/{project}/hof-{id}.json"));
    let sealed = fs::read_to_string(file).unwrap();
    assert!(sealed.contains("[redacted: GitHub token]"), "{sealed}");
    assert!(!sealed.contains(&secret));
}
