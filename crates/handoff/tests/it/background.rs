//! Workers in the background: they can be found, read and stopped, and their agents do not notice.

use std::path::Path;

use crate::stage::{PATIENCE, Stage};

const WAITS: &str = "[[step]]\nwait_for = \"{env.GO}\"\n";

/// A stage on which no worker stays when it is left.
struct Yard(Stage);

impl std::ops::Deref for Yard {
    type Target = Stage;

    fn deref(&self) -> &Stage {
        &self.0
    }
}

impl Drop for Yard {
    fn drop(&mut self) {
        self.0.run(["worker", "stop", "--all"]);
    }
}

fn stage() -> Yard {
    let mut stage = Stage::new();
    let go = stage.env.work().join("go");
    stage.env.set("GO", go);
    Yard(stage)
}

fn detach(stage: &Stage) -> serde_json::Value {
    let script = stage.script("agent.toml", WAITS);
    let script = script.to_str().unwrap();
    let words = ["worker", "--detach", "--json", "--script", script];
    stage.run(words).success().json()
}

#[test]
fn a_worker_in_the_background_is_stopped_and_its_agents_go_on() {
    let stage = stage();
    stage.add("fix");
    let worker = detach(&stage);
    assert_eq!(worker["schema"], "handoff.worker/1");
    let id = worker["id"].as_str().unwrap();
    while stage.json("ps")["sessions"].as_array().unwrap().is_empty() {
        std::thread::yield_now();
    }
    let listed = stage.say("worker list").success().stdout;
    assert!(
        listed.contains(&format!("worker {id}, process ")),
        "{listed}"
    );
    let log = Path::new(worker["log"].as_str().unwrap());
    let printed = std::fs::read_to_string(log).unwrap();
    assert!(printed.contains("fix begins, attempt 1"), "{printed}");
    let stopped = stage.say(&format!("worker stop {id}")).success();
    assert_eq!(stopped.stdout, format!("worker {id} has stopped\n"));
    assert_eq!(stage.json("worker list")["workers"], serde_json::json!([]));
    assert_eq!(stage.json("ps")["sessions"].as_array().unwrap().len(), 1);
    // The next one goes on with it.
    std::fs::write(stage.env.work().join("go"), "").unwrap();
    let script = stage.script("agent.toml", WAITS);
    let words = [
        "worker",
        "--until-empty",
        "--script",
        script.to_str().unwrap(),
    ];
    stage.run(words).success();
    assert_eq!(stage.state("fix"), "done");
}

#[test]
fn of_several_workers_the_one_that_is_meant_is_stopped() {
    let stage = stage();
    let none = stage.say("worker stop").failure(3);
    assert!(
        none.stderr.contains("no worker lives here"),
        "{}",
        none.stderr
    );
    let (first, second) = (detach(&stage), detach(&stage));
    while stage.json("worker list")["workers"]
        .as_array()
        .unwrap()
        .len()
        < 2
    {
        std::thread::yield_now();
    }
    let many = stage.say("worker stop").failure(2);
    assert!(
        many.stderr.contains("which one is meant?"),
        "{}",
        many.stderr
    );
    stage.say("worker stop nobody").failure(3);
    let id = first["id"].as_str().unwrap();
    stage.say(&format!("worker stop {id}")).success();
    let left = stage.json("worker list");
    assert_eq!(left["workers"][0]["id"], second["id"], "{left}");
    let stopped = stage.json("worker stop --all");
    assert_eq!(stopped["stopped"], serde_json::json!([second["id"]]));
}

#[test]
fn a_worker_that_is_stopped_at_a_terminal_says_so_and_ends_well() {
    let stage = stage();
    let script = stage.script("agent.toml", WAITS);
    let mut worker = stage.start(["worker", "--script", script.to_str().unwrap()]);
    while stage.json("worker list")["workers"]
        .as_array()
        .unwrap()
        .is_empty()
    {
        std::thread::yield_now();
    }
    stage.say("worker stop").success();
    assert_eq!(worker.try_line(PATIENCE), None);
    assert_eq!(worker.code(), Some(0));
}
