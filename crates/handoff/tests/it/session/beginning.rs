//! What a session begins with: a first message, a task, a feature's prompt.

use handoff_testkit::postgres::fresh_database;

use super::hall::{Hall, Process};

#[test]
fn the_context_is_the_first_message() {
    let hall = Hall::new();
    let words = [
        "bash",
        "--context",
        "echo $((6 * 7))",
        "--",
        "--norc",
        "--noprofile",
    ];
    let shell = hall.run("told", &words);
    hall.until("told", "\"type\":\"delivered\"");
    shell.shows("42");
}

#[test]
fn a_task_is_claimed_for_as_long_as_the_session_lives() {
    let hall = Hall::new();
    hall.stage.add("fix");
    let words = ["cat", "--task", "fix", "--context", "Mind the gap."];
    let shell = hall.run("worker", &words);
    assert_eq!(hall.stage.state("fix"), "running");
    assert_eq!(hall.listed("worker")["task"], "fix");
    let events = hall.stage.say("events --id worker --snapshot").stdout;
    assert!(events.contains("# Your task: fix"), "{events}");
    let first = &hall.stage.json("messages --id worker")["messages"][0];
    let text = first["text"].as_str().unwrap();
    assert!(text.ends_with("\nMind the gap.\n"), "{text}");
    let second = hall.stage.say("run cat --detach --task fix --id second");
    assert_eq!(second.code(), Some(4), "{}", second.stderr);
    assert!(second.stderr.contains("fix"), "{}", second.stderr);
    assert_eq!(
        hall.stage.json("ps --id second")["sessions"]
            .as_array()
            .unwrap()
            .len(),
        0
    );
    let agent = shell.agent();
    shell.holder().kill();
    assert!(agent.ends());
    hall.stage.add("another");
    assert_eq!(hall.stage.state("fix"), "queued");
}

#[test]
fn in_the_ledger_of_a_team_the_lease_of_a_session_is_renewed_and_then_given_back() {
    let Some(database) = fresh_database() else {
        return;
    };
    let mut hall = Hall::new();
    hall.stage.env.set("HANDOFF_STORE", database.url());
    hall.stage.add("fix");
    let ledger = hall.stage.start(["events", "--follow"]);
    let until = |part: &str| while !ledger.line().contains(part) {};
    let session = hall.run("worker", &["cat", "--task", "fix"]);
    until("renewed fence 1");
    assert_eq!(hall.stage.state("fix"), "running");
    session.holder().kill();
    until("its session has ended");
    assert_eq!(hall.stage.state("fix"), "queued");
    // One whose task went away meanwhile has nothing to give back.
    let session = hall.run("again", &["cat", "--task", "fix"]);
    until("renewed fence 2");
    hall.stage.say("queue cancel fix --yes").success();
    session.holder().kill();
    assert_eq!(hall.stage.state("fix"), "cancelled");
}

#[test]
fn a_lease_whose_keeper_was_killed_is_kept_again_by_whoever_looks_next() {
    let Some(database) = fresh_database() else {
        return;
    };
    let mut hall = Hall::new();
    hall.stage.env.set("HANDOFF_STORE", database.url());
    hall.stage.add("fix");
    let session = hall.run("worker", &["cat", "--task", "fix"]);
    assert_eq!(hall.listed("worker")["lease"], "kept");
    let journal = std::path::Path::new(session.text("events_log_path"));
    let lock = journal.with_file_name("keeper.lock");
    let keeper = || handoff_files::Lock::holder(&lock).unwrap().unwrap().pid;
    let kill = |pid: u32| {
        let keeper = Process::watch(&pid.into());
        keeper.kill();
        assert!(keeper.ends());
    };
    let first = keeper();
    kill(first);
    let listed = hall.stage.say("ps").success();
    assert!(
        listed
            .stderr
            .contains("another one keeps the lease of `fix` now"),
        "{}",
        listed.stderr
    );
    assert_ne!(keeper(), first);
    assert_eq!(hall.listed("worker")["lease"], "kept");
    // Where the ledger is out of reach nobody pretends to keep it.
    kill(keeper());
    let nowhere = "postgres:///x?host=/nowhere&user=x";
    let mut blind = hall.stage.command(["ps"]);
    blind.env("HANDOFF_STORE", nowhere);
    let listed = hall.stage.env.run(blind).success();
    assert!(listed.stderr.contains("Nobody renews"), "{}", listed.stderr);
    let seen = hall.stage.json("watchdog");
    assert!(
        seen["leases"][0].as_str().unwrap().contains("another one"),
        "{seen}"
    );
    // A task that is over has no lease, and its session is told of as such.
    hall.stage.say("queue cancel fix --yes").success();
    kill(keeper());
    for _ in 0..2 {
        assert_eq!(hall.listed("worker")["lease"], "lost");
    }
}

#[test]
fn a_session_knows_the_lease_that_it_works_under() {
    let hall = Hall::new();
    hall.stage.add("fix");
    let command = "echo $HANDOFF_TASK/$HANDOFF_FENCE; cat";
    let words = ["env", "--task", "fix", "--", "sh", "-c", command];
    let shell = hall.run("worker", &words);
    shell.shows("fix/1");
    assert_eq!(
        hall.stage.say("run sh --detach --task nothing").code(),
        Some(3)
    );
    assert_eq!(
        hall.stage
            .say("run sh --detach --task fix --context x")
            .code(),
        Some(2)
    );
}

#[test]
fn a_feature_begins_in_one_act() {
    let hall = Hall::new();
    hall.stage.feature("login", "- [ ] 1. Write it.\n");
    let started = hall.stage.say("continue --run cat --detach --id go --json");
    assert_eq!(started.code(), Some(0), "{}", started.stderr);
    assert_eq!(started.json()["name"], "go");
    assert_eq!(started.json()["description"], "continue login");
    hall.until("go", "\"type\":\"send\"");
    let refused = hall.stage.say("continue --detach");
    assert_eq!(refused.code(), Some(2), "{}", refused.stderr);
    let refused = hall
        .stage
        .say("continue --run no-such-agent --detach --id x");
    assert_eq!(refused.code(), Some(3), "{}", refused.stderr);
}

#[test]
fn a_shell_is_told_nothing_that_was_written_to_be_read() {
    let hall = Hall::new();
    hall.stage.add("fix");
    hall.stage.feature("login", "- [ ] 1. Write it.\n");
    for words in [
        "run bash --detach --id x --task fix",
        "run /bin/sh --detach --id x --task fix",
        "run bash --detach --id x --watch-file status",
        "run zsh --detach --id x --watch status",
        "continue --run bash --detach --id x",
    ] {
        let refused = hall.stage.say(words).failure(2);
        assert!(refused.stderr.contains("is a shell"), "{}", refused.stderr);
    }
    assert_eq!(hall.stage.state("fix"), "queued");
}
