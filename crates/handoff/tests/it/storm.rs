//! Work that takes everybody along who touches it is tried again later, longer each time.

use std::ffi::OsStr;
use std::fs;

use handoff_testkit::Output;

use crate::stage::Stage;

const WRITE: &str = "[[step]]\nwrite = { path = \"new.txt\", text = \"new\\n\" }\n";

/// A stage whose calls for a person are written down.
fn stage() -> Stage {
    let stage = Stage::new();
    let told = stage.env.work().join("told.jsonl");
    stage.configure(&format!(
        "[notify]\ncommand = [\"tee\", \"-a\", {told:?}]\n"
    ));
    stage
}

fn told(stage: &Stage) -> Vec<serde_json::Value> {
    let text = fs::read_to_string(stage.env.work().join("told.jsonl")).unwrap_or_default();
    let read = |line| serde_json::from_str(line).unwrap();
    text.lines().map(read).collect()
}

fn work(stage: &Stage) -> Output {
    let script = stage.script("agent.toml", WRITE);
    let words = ["worker", "--once", "--script"].map(OsStr::new);
    stage.run(words.into_iter().chain([script.as_os_str()]))
}

#[test]
fn a_task_that_takes_every_worker_along_rests_longer_each_time() {
    let mut stage = stage();
    stage.add("fix");
    // It strikes when the tree of an attempt is filled: somebody has the task, and no session has begun.
    let strike = "case \" $* \" in *' read-tree '*) kill -9 $PPID; exit 1;; esac";
    let git = stage.git_that(&format!("{strike}\nexec /usr/bin/git \"$@\""));
    for _ in 0..3 {
        let died = work(&stage);
        assert_eq!(died.code(), None, "{died:?}");
        // A program that it had just started has its descriptors until the kernel has loaded it.
        stage.until_free("worker.lock");
    }
    let rests = work(&stage).failure(12);
    assert!(
        rests.stdout.contains("3 attempts in a row were lost"),
        "{rests:?}"
    );
    assert_eq!(stage.state("fix"), "resting");
    assert_eq!(
        told(&stage),
        [serde_json::Value::Null; 0],
        "nobody is called"
    );
    work(&stage).failure(11);
    // When a person has seen to it, it is as any other.
    fs::remove_file(git).unwrap();
    stage.say("unhold fix").success();
    work(&stage).success();
    assert_eq!(stage.state("fix"), "done");
    stage.say("doctor --audit").success();
}

#[test]
fn an_attempt_whose_judges_die_waits_for_the_next_one() {
    let stage = stage();
    // In a sandbox nobody outside could be reached.
    let config = stage.env.config_home().join("handoff/config.toml");
    let text = std::fs::read_to_string(config).unwrap();
    stage.configure(&format!("{text}[sandbox]\ndefault = \"none\"\n"));
    let deadly = "kill -9 $(awk '/PPid/ { print $2 }' /proc/$PPID/status)";
    stage
        .run(["queue", "add", "fix", "--brief", "x", "--verify", deadly])
        .success();
    // The one who began it, and two who took over.
    for _ in 0..3 {
        let died = work(&stage);
        assert_eq!(died.code(), None, "{died:?}");
        assert_eq!(stage.json("queue show fix")["attempts"], 1);
    }
    // Whoever comes next does not die over it, and nobody gives it up.
    work(&stage).failure(11);
    assert_eq!(stage.state("fix"), "running");
    assert_eq!(
        told(&stage),
        [serde_json::Value::Null; 0],
        "nobody is called"
    );
    stage.say("doctor --audit").success();
}
