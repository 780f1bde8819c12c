//! `handoff worker --once`, with the built-in agent. What the engine does is tested there.

use insta::assert_snapshot;

use crate::stage::Stage;

fn work(stage: &Stage, script: &str) -> handoff_testkit::Output {
    let script = stage.script("agent.toml", script);
    stage.run([
        "worker".as_ref(),
        "--once".as_ref(),
        "--script".as_ref(),
        script.as_os_str(),
    ])
}

const WRITE: &str = "[[step]]\nwrite = { path = \"new.txt\", text = \"new\\n\" }\n";

#[test]
fn accepted_work_is_done_and_on_its_branch() {
    let stage = Stage::new();
    stage
        .say("queue add fix --brief Write. --verify true")
        .success();
    assert_snapshot!(work(&stage, WRITE).snapshot(), @"
    exit status: 0
    --- stdout ---
    fix is done
    ");
    let task = stage.json("queue show fix");
    let proofs: Vec<_> = task["evidence"]
        .as_array()
        .unwrap()
        .iter()
        .map(|it| it["type"].clone())
        .collect();
    assert_eq!(proofs, ["verified", "committed", "sealed"]);
    let branch = task["evidence"][1]["branch"].as_str().unwrap();
    assert_eq!(stage.repo.changes_of(branch), ["new.txt"]);
}

#[test]
fn a_script_that_cannot_be_played_costs_no_attempt() {
    let stage = Stage::new();
    stage.add("fix");
    let missing = stage.say("worker --once --script nowhere.toml");
    assert_snapshot!(missing.snapshot(), @"
    exit status: 2
    --- stderr ---
    error: `--script` names nothing that can be played
      because cannot read the script `$TEMP/repo/nowhere.toml`
      because No such file or directory (os error 2)
    ");
    let wrong = work(&stage, "[[step]]\ndance = true\n").failure(2);
    assert!(wrong.stderr.contains("is wrong"), "{}", wrong.stderr);
    let task = stage.json("queue show fix");
    assert_eq!(
        (&task["state"], &task["attempts"]),
        (&"queued".into(), &0.into())
    );
}

#[test]
fn rejected_work_is_a_failed_check() {
    let stage = Stage::new();
    stage
        .run([
            "queue",
            "add",
            "fix",
            "--brief",
            "Write.",
            "--verify",
            "echo no good; exit 3",
        ])
        .success();
    assert_snapshot!(work(&stage, WRITE).snapshot(), @"
    exit status: 12
    --- stdout ---
    fix is failed: `echo no good; exit 3` exited with 3: no good
    ");
    assert_eq!(stage.state("fix"), "failed");
}

#[test]
fn work_outside_of_its_ownership_is_blocked() {
    let stage = Stage::new();
    stage
        .say("queue add fix --brief Write. --own src/")
        .success();
    assert_snapshot!(work(&stage, WRITE).snapshot(), @"
    exit status: 12
    --- stdout ---
    fix is blocked: the session changed what it does not own: `new.txt`
    ");
    assert_eq!(stage.state("fix"), "blocked");
}

#[test]
fn with_nothing_ready_a_worker_says_so() {
    let stage = Stage::new();
    assert_snapshot!(work(&stage, WRITE).snapshot(), @"
    exit status: 11
    --- stderr ---
    Nothing is ready to be claimed.
    ");
}

#[test]
fn how_it_ended_is_json_too() {
    let stage = Stage::new();
    stage.add("fix");
    let script = stage.script("agent.toml", "[[step]]\nexit = 7\n");
    let walked = stage.run([
        "worker".as_ref(),
        "--json".as_ref(),
        "--once".as_ref(),
        "--script".as_ref(),
        script.as_os_str(),
    ]);
    assert_snapshot!(walked.snapshot(), @r#"
    exit status: 12
    --- stdout ---
    {"schema":"handoff.walked/1","task":"fix","ending":"failed","reason":"the agent exited with 7"}
    "#);
}

#[test]
fn a_session_may_not_be_a_worker() {
    let mut stage = Stage::new();
    stage.add("fix");
    stage
        .env
        .set("HANDOFF_SESSION", "ses_0192f0c47d0a7c3e9f5b2a1c3d4e5f60")
        .set("HANDOFF_ROLE", "sub-task");
    work(&stage, WRITE).failure(9);
    assert_eq!(stage.state("fix"), "queued");
}
