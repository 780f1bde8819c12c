//! A worker that is killed, and the next command that puts it right.

use std::path::PathBuf;

use crate::stage::{Background, Stage};

/// An agent that gets half-way, says so and hangs on its first attempt; the second finishes.
const HALF: &str = r#"
[[step]]
when = { env = "HANDOFF_ATTEMPT", is = "1" }
write = { path = "half.txt", text = "half\n" }

[[step]]
when = { env = "HANDOFF_ATTEMPT", is = "1" }
run = ["sh", "-c", "echo there > \"$SIGNAL\""]

[[step]]
when = { env = "HANDOFF_ATTEMPT", is = "1" }
hang = true

[[step]]
write = { path = "whole.txt", text = "whole\n" }
"#;

/// A FIFO: whoever opens it for reading waits until somebody writes, and needs no clock.
fn signal(stage: &mut Stage) -> PathBuf {
    let path = stage.env.work().join("signal");
    let mut mkfifo = stage.env.command("mkfifo");
    mkfifo.arg(&path);
    stage.env.run(mkfifo).success();
    stage.env.set("SIGNAL", &path);
    stage.declare_scratch();
    path
}

fn wait_for(signal: &PathBuf) {
    assert_eq!(std::fs::read_to_string(signal).unwrap(), "there\n");
}

fn start_worker(stage: &Stage, script: &str) -> Background {
    let script = stage.script("agent.toml", script);
    stage.start([
        "worker".as_ref(),
        "--once".as_ref(),
        "--script".as_ref(),
        script.as_os_str(),
    ])
}

/// Kills the holders of the sessions that live, and returns when they are dead; what their agents started goes with them.
fn kill_sessions(stage: &Stage) {
    let live = || {
        let sessions = stage.json("ps")["sessions"].as_array().unwrap().clone();
        sessions.into_iter().filter(|it| it["state"] != "lost")
    };
    for session in live() {
        let holder = session["holder_pid"].as_i64().unwrap();
        let holder = rustix::process::Pid::from_raw(i32::try_from(holder).unwrap()).unwrap();
        rustix::process::kill_process(holder, rustix::process::Signal::KILL).unwrap();
    }
    while live().next().is_some() {
        std::thread::yield_now();
    }
}

fn finish(stage: &Stage) {
    assert_eq!(start_worker(stage, HALF).code(), Some(0));
    assert_eq!(stage.state("fix"), "done");
    let task = stage.json("queue show fix");
    assert_eq!(task["attempts"], 2);
    let kept = stage.repo.refs();
    let quarantine: Vec<_> = kept
        .keys()
        .filter(|name| name.starts_with("refs/handoff/quarantine/"))
        .collect();
    let [quarantine] = &quarantine[..] else {
        panic!("{kept:?}");
    };
    assert_eq!(stage.repo.changes_of(quarantine), ["half.txt"]);
    assert_eq!(stage.repo.git(["worktree", "list"]).lines().count(), 1);
    stage.say("doctor --audit").success();
    assert_eq!(stage.repo.status(), Vec::<String>::new());
    stage.repo.fsck();
}

#[test]
fn a_worker_killed_while_its_agent_works_loses_nothing() {
    let mut stage = Stage::new();
    let signal = signal(&mut stage);
    stage.say("queue add fix --brief x").success();
    let mut worker = start_worker(&stage, HALF);
    wait_for(&signal);
    worker.kill();
    kill_sessions(&stage);
    finish(&stage);
}

#[test]
fn a_worker_killed_during_the_verify_command_loses_nothing() {
    let mut stage = Stage::new();
    let signal = signal(&mut stage);
    let verify = "mkdir \"$SIGNAL.seen\" || exit 0; echo there > \"$SIGNAL\"; exec sleep 1000";
    stage
        .run(["queue", "add", "fix", "--brief", "x", "--verify", verify])
        .success();
    let half = "[[step]]\nwrite = { path = \"half.txt\", text = \"half\\n\" }\n";
    let mut worker = start_worker(&stage, half);
    wait_for(&signal);
    worker.kill();
    // The session has ended, and what it did is there: the next worker judges it.
    assert_eq!(stage.state("fix"), "running");
    assert_eq!(start_worker(&stage, half).code(), Some(0));
    let task = stage.json("queue show fix");
    assert_eq!(
        (&task["state"], &task["attempts"]),
        (&"done".into(), &1.into())
    );
    let branch = task["evidence"][1]["branch"].as_str().unwrap();
    assert_eq!(stage.repo.changes_of(branch), ["half.txt"]);
    stage.say("doctor --audit").success();
    stage.repo.fsck();
}

#[test]
fn the_agent_outlives_its_worker_and_is_taken_over() {
    let mut stage = Stage::new();
    let signal = signal(&mut stage);
    stage.add("fix");
    let script = r#"[[step]]
run = ["sh", "-c", "echo there > \"$SIGNAL\""]
[[step]]
run = ["sh", "-c", "read go < \"$SIGNAL\"; echo $go > new.txt"]
"#;
    let mut worker = start_worker(&stage, script);
    wait_for(&signal);
    worker.kill();
    let mut next = start_worker(&stage, script);
    std::fs::write(&signal, "go\n").unwrap();
    assert_eq!(next.code(), Some(0));
    let task = stage.json("queue show fix");
    assert_eq!(
        (&task["state"], &task["attempts"]),
        (&"done".into(), &1.into())
    );
    let branch = task["evidence"][0]["branch"].as_str().unwrap();
    assert_eq!(stage.repo.file_of(branch, "new.txt"), "go\n");
    stage.say("doctor --audit").success();
}

#[test]
fn a_run_ends_its_session_when_whoever_ran_it_is_gone() {
    for command in ["workflow pause pbr", "workflow cancel pbr --yes"] {
        let stage = Stage::new();
        let begin = "workflow run plan-build-review --goal G --name pbr --detach";
        stage.say(begin).success();
        let mut worker = start_worker(&stage, "[[step]]\nhang = true\n");
        let sessions = |stage: &Stage| stage.json("ps")["sessions"].as_array().unwrap().len();
        let is_running = |stage: &Stage| stage.state("pbr.1-plan") == "running";
        while sessions(&stage) == 0 || !is_running(&stage) {
            std::thread::yield_now();
        }
        worker.kill();
        assert_eq!(sessions(&stage), 1, "{command}");
        stage.say(command).success();
        assert_eq!(sessions(&stage), 0, "{command}");
    }
}

#[test]
fn a_second_worker_leaves_a_live_session_alone() {
    let mut stage = Stage::new();
    let signal = signal(&mut stage);
    stage.add("fix");
    let _worker = start_worker(&stage, HALF);
    wait_for(&signal);
    assert_eq!(start_worker(&stage, HALF).code(), Some(11));
    assert_eq!(stage.json("queue show fix")["lease"]["fence"], 1);
    let worktrees = crate::stage::tree(&stage.env.handoff_home().join("worktrees"));
    assert!(worktrees.keys().any(|path| path.ends_with("half.txt")));
    kill_sessions(&stage);
}
