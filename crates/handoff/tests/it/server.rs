//! A server of the ledger that ends connections under whoever stays.

use handoff_testkit::postgres::{Database, fresh_database};

use crate::stage::{Background, Stage};

const OURS: &str =
    "FROM pg_stat_activity WHERE datname = current_database() AND application_name = 'handoff'";

fn end_connections(database: &Database) {
    let sql = format!("SELECT pg_terminate_backend(pid) {OURS}");
    database.execute(&sql).unwrap();
}

fn connections(database: &Database) -> usize {
    let counted = database.execute(&format!("SELECT count(*) {OURS}"));
    counted.unwrap().trim().parse().unwrap()
}

fn until_completed(follower: &Background) {
    while !follower.line().contains("completed") {}
}

/// Twice: between two tasks, and with nothing to do. What was queued meanwhile is taken.
#[test]
fn workers_and_followers_go_on_when_the_server_ends_their_connections() {
    let Some(database) = fresh_database() else {
        return;
    };
    let mut stage = Stage::new();
    stage.env.set("HANDOFF_STORE", database.url());
    stage.add("first");
    let script = stage.script(
        "agent.toml",
        "[[step]]\nwrite = { path = \"new.txt\", text = \"new\\n\" }\n",
    );
    let script = script.to_str().unwrap();
    let follower = stage.start(["events", "--follow", "--json"]);
    let mut worker = stage.start(["worker", "--slots", "4", "--script", script]);
    until_completed(&follower);
    for task in ["second", "third"] {
        end_connections(&database);
        stage.add(task);
        until_completed(&follower);
        assert_eq!(stage.state(task), "done");
    }
    assert!(worker.is_running());
    // One for work and one to listen, each; whoever just ended may still be counted.
    while connections(&database) > 4 {
        std::thread::yield_now();
    }
    stage.say("doctor --audit").success();
}
