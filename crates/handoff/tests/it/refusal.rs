//! How commands say no: exit code, sentence, cause and hint.

use std::fs;

use handoff_testkit::Output;
use insta::assert_snapshot;
use rusqlite::Connection;

use crate::stage::{Stage, tree};

const SESSION: &str = "ses_0192f0c47d0a7c3e9f5b2a1c3d4e5f60";

#[test]
fn outside_of_a_repository_there_are_no_tasks() {
    let stage = Stage::new();
    assert_snapshot!(stage.env.handoff(["queue", "list"]).snapshot(), @"
    exit status: 3
    --- stderr ---
    error: there is no git repository here
      because `$TEMP/work` is not in a git repository
    hint: change to a repository, or make one with `git init`
    ");
    assert_snapshot!(stage.env.handoff(["dump", "--task", "x", "--next", "y"]).snapshot(), @"
    exit status: 3
    --- stderr ---
    error: there is no git repository here
      because `$TEMP/work` is not in a git repository
    hint: change to a repository, or make one with `git init`
    ");
    assert!(!stage.env.handoff_home().exists());
}

#[test]
fn a_deleted_directory_is_no_place_to_be() {
    let stage = Stage::new();
    let gone = stage.env.work().join("gone");
    fs::create_dir(&gone).unwrap();
    let mut shell = stage.env.command("sh");
    shell.current_dir(&gone).args([
        "-c".as_ref(),
        "rmdir ../gone && exec \"$0\" queue list".as_ref(),
        stage.env.binary().as_os_str(),
    ]);
    assert_snapshot!(stage.env.run(shell).snapshot(), @"
    exit status: 1
    --- stderr ---
    error: the working directory does not exist any more
    ");
}

#[test]
fn an_unknown_task_is_not_found() {
    let stage = Stage::new();
    assert_snapshot!(stage.say("queue show nobody").snapshot(), @r#"
    exit status: 3
    --- stderr ---
    error: there is no task "nobody" in this project
    hint: see what there is: `handoff queue list --all`
    "#);
    stage.add("fix");
    assert_snapshot!(stage.say("queue show nobody").snapshot(), @"
    exit status: 3
    --- stderr ---
    error: there is no task `nobody` in this project
    hint: see what there is: `handoff queue list --all`
    ");
    stage.say("queue complete nobody").failure(3);
    stage
        .say("queue add next --brief x --after nobody")
        .failure(3);
    stage
        .say(&format!("queue show task_{}", "0".repeat(32)))
        .failure(3);
}

#[test]
fn a_bad_name_is_a_usage_error_wherever_it_is_given() {
    let stage = Stage::new();
    stage.add("fix");
    let before = stage.say("events").stdout;
    let long = "x".repeat(65);
    for name in [
        "../etc", "a/b", "Fix", "fix\n", "a..b", ".hidden", "a.lock", "-x", "", "é", &long,
    ] {
        for command in [
            vec!["queue", "add", "--brief", "x", "--", name],
            vec!["queue", "show", "--", name],
            vec!["queue", "claim", "--", name],
            vec!["queue", "cancel", "--", name],
            vec!["hold", "--", name],
            vec!["dump", "--next", "x", &format!("--task={name}")],
            vec![
                "queue",
                "add",
                "ok",
                "--brief",
                "x",
                &format!("--after={name}"),
            ],
        ] {
            assert_eq!(stage.run(&command).code(), Some(2), "{command:?}");
        }
    }
    assert_eq!(stage.say("events").stdout, before);
    assert_snapshot!(stage.say("queue add Fix --brief x").snapshot(), @"
    exit status: 2
    --- stderr ---
    error: invalid value 'Fix' for '<NAME>': 'F' cannot stand at place 1 of a name; use a-z, 0-9, `.`, `_` and `-`, beginning with a letter or digit

    For more information, try '--help'.
    ");
    assert_snapshot!(stage.say("queue show Fix").snapshot(), @r#"
    exit status: 2
    --- stderr ---
    error: "Fix" is not the name of a task
      because 'F' cannot stand at place 1 of a name; use a-z, 0-9, `.`, `_` and `-`, beginning with a letter or digit
    "#);
}

#[test]
fn a_taken_name_is_a_conflict() {
    let stage = Stage::new();
    stage.add("fix");
    assert_snapshot!(stage.say("queue add fix --brief Else.").snapshot(), @"
    exit status: 4
    --- stderr ---
    error: a live task with the name `fix` exists already: task_1
    hint: look at it: `handoff queue show fix`
    ");
    assert_snapshot!(stage.say("queue add fix --brief Else. --json").snapshot(), @r#"
    exit status: 4
    --- stdout ---
    {"schema":"handoff.error/1","error":"conflict","exit_code":4,"message":"a live task with the name `fix` exists already: task_1","causes":[],"hints":["look at it: `handoff queue show fix`"]}
    "#);
}

#[test]
fn a_reused_key_is_a_conflict() {
    let stage = Stage::new();
    stage.say("queue add fix --brief It. --key k1").success();
    assert_snapshot!(stage.say("queue add other --brief It. --key k1").snapshot(), @"
    exit status: 4
    --- stderr ---
    error: the key `k1` was used for a different request
    hint: use a new key for a new request
    ");
}

#[test]
fn a_lost_lease_tells_to_stop() {
    let stage = Stage::new();
    stage.add("fix");
    stage.claim("fix");
    stage.say("queue release fix --fence 1").success();
    stage.claim("fix");
    assert_snapshot!(stage.say("queue complete fix --fence 1").snapshot(), @"
    exit status: 6
    --- stderr ---
    error: task `fix` is not changed: fence 1 is no longer valid, its newest lease has fence 2
    hint: stop working on this task; what you have is still in your tree: `handoff queue show fix`
    ");
    stage.say("queue heartbeat fix --fence 1").failure(6);
    stage
        .say("dump --task fix --next x --status done --fence 1")
        .failure(6);
    assert_eq!(stage.json("queue show fix")["version"], 4);
}

#[test]
fn a_leased_task_needs_its_fence() {
    let stage = Stage::new();
    stage.add("fix");
    stage.claim("fix");
    assert_snapshot!(stage.say("queue complete fix").snapshot(), @"
    exit status: 4
    --- stderr ---
    error: task `fix` is not changed: person holds the lease with fence 1
    hint: show the fence you got when you claimed it with `--fence`
    ");
    assert_snapshot!(stage.say("queue claim fix").snapshot(), @"
    exit status: 4
    --- stderr ---
    error: task `fix` is not changed: it is leased, not queued
    hint: look at it: `handoff queue show fix`
    ");
}

#[test]
fn an_ended_task_stays_ended() {
    let stage = Stage::new();
    stage.add("fix");
    stage.say("queue complete fix").success();
    assert_snapshot!(stage.say("queue fail fix --reason x").snapshot(), @"
    exit status: 4
    --- stderr ---
    error: task `fix` is not changed: it is already done
    hint: look at it: `handoff queue show fix`
    ");
    assert_snapshot!(stage.say("queue retry fix").snapshot(), @"
    exit status: 4
    --- stderr ---
    error: task `fix` is not changed: it is done; only one that failed, is blocked or was cancelled can be retried
    hint: look at it: `handoff queue show fix`
    ");
}

#[test]
fn with_nothing_ready_a_claim_says_so() {
    let stage = Stage::new();
    assert_snapshot!(stage.say("queue claim").snapshot(), @"
    exit status: 11
    --- stderr ---
    Nothing is ready to be claimed.
    ");
    assert_snapshot!(stage.say("queue claim --json").snapshot(), @r#"
    exit status: 11
    --- stdout ---
    {"schema":"handoff.claim/1","task":null,"key":"key_1","is_repeat":false}
    "#);
}

#[test]
fn a_session_may_only_report_on_its_own_task() {
    let mut stage = Stage::new();
    stage.add("own");
    stage.add("other");
    let id = stage.json("queue claim own")["task"]["id"]
        .as_str()
        .unwrap()
        .to_owned();
    stage
        .env
        .set("HANDOFF_SESSION", SESSION)
        .set("HANDOFF_ROLE", "sub-task")
        .set("HANDOFF_TASK_ID", id);
    assert_snapshot!(stage.say("queue claim").snapshot(), @"
    exit status: 9
    --- stderr ---
    error: not allowed
      because ses_1 may not claim tasks
    ");
    for forbidden in [
        "queue claim other",
        "queue add more --brief x",
        "queue complete other",
        "queue cancel own",
        "queue retry other",
        "hold",
        "unhold --everything",
    ] {
        stage.say(forbidden).failure(9);
    }
    stage.env.set("HANDOFF_ROLE", "main");
    stage.say("queue claim other").failure(9);
    stage.say("queue add more --brief x").success();
    stage.say("queue complete own --fence 1").failure(9);
    stage
        .say("queue block own --fence 1 --reason stuck")
        .success();
}

#[test]
fn a_session_that_cannot_be_told_apart_is_refused() {
    let mut stage = Stage::new();
    stage.env.set("HANDOFF_SESSION", "root");
    assert_snapshot!(stage.say("queue add x --brief y").snapshot(), @"
    exit status: 2
    --- stderr ---
    error: HANDOFF_SESSION has no valid value
      because not a session id: expected `ses_` followed by 32 lower-case hexadecimal digits
    ");
    stage
        .env
        .set("HANDOFF_SESSION", SESSION)
        .set("HANDOFF_ROLE", "boss");
    assert_snapshot!(stage.say("queue add x --brief y").snapshot(), @r#"
    exit status: 2
    --- stderr ---
    error: HANDOFF_ROLE has the unknown value "boss"
      because a role is `main`, `sub-task` or `fan-in`
    "#);
    assert!(!stage.env.handoff_home().exists());
}

#[test]
fn a_usage_error_is_json_under_json() {
    let stage = Stage::new();
    assert_snapshot!(stage.say("queue add").snapshot(), @"
    exit status: 2
    --- stderr ---
    error: the following required arguments were not provided:
      --brief <TEXT>
      <NAME>

    Usage: handoff queue add --brief <TEXT> <NAME>

    For more information, try '--help'.
    ");
    let error = stage.say("queue add --json").failure(2).json();
    assert_eq!(
        (&error["schema"], &error["error"], &error["exit_code"]),
        (&"handoff.error/1".into(), &"usage".into(), &2.into())
    );
    assert!(
        error["message"].as_str().unwrap().contains("--brief"),
        "{error}"
    );
    let error = stage.say("--json nonsense").failure(2).json();
    assert_eq!(error["error"], "usage");
}

#[test]
fn a_store_of_a_newer_version_is_left_as_it_is() {
    let stage = Stage::new();
    stage.add("fix");
    let database = stage.env.handoff_home().join("handoff.db");
    let newer = Connection::open(&database).unwrap();
    newer.pragma_update(None, "user_version", 99).unwrap();
    // In one file, so that it can be compared.
    newer.pragma_update(None, "journal_mode", "DELETE").unwrap();
    drop(newer);
    let before = fs::read(&database).unwrap();
    let output = stage.say("queue list").failure(10);
    let complaint = "the store has schema version 99; this program knows versions up to ";
    assert!(output.stderr.contains(complaint), "{}", output.stderr);
    let hint = "hint: use the version of handoff that made this store";
    assert!(output.stderr.contains(hint), "{}", output.stderr);
    stage.say("queue add more --brief x").failure(10);
    assert_eq!(fs::read(&database).unwrap(), before);
}

#[test]
fn a_database_of_another_program_is_left_as_it_is() {
    let stage = Stage::new();
    fs::create_dir_all(stage.env.handoff_home()).unwrap();
    let database = stage.env.handoff_home().join("handoff.db");
    Connection::open(&database)
        .unwrap()
        .execute_batch("CREATE TABLE theirs (x)")
        .unwrap();
    let before = fs::read(&database).unwrap();
    assert_snapshot!(stage.say("queue add fix --brief x").snapshot(), @"
    exit status: 10
    --- stderr ---
    error: `$TEMP/state/handoff/handoff.db` is a database of another program
    ");
    assert_eq!(fs::read(&database).unwrap(), before);
}

#[test]
fn a_damaged_mark_is_left_as_it_is() {
    let stage = Stage::new();
    stage.add("fix");
    stage.repo.write(".git/handoff/project", "half a ma");
    let before = tree(&stage.repo.path().join(".git"));
    assert_snapshot!(stage.say("queue list").snapshot(), @"
    exit status: 10
    --- stderr ---
    error: cannot tell which project this repository is
      because `$TEMP/repo/.git/handoff/project` is damaged
      because expected one line with a project id and a store id
    ");
    stage.say("queue add more --brief x").failure(10);
    assert_eq!(tree(&stage.repo.path().join(".git")), before);
}

#[test]
fn a_server_on_another_machine_is_refused_without_a_word_to_it() {
    let mut stage = Stage::new();
    // 192.0.2.0/24 is nobody's: an attempt to reach it would hang, not fail at once.
    stage
        .env
        .set("HANDOFF_STORE", "postgres://me:hunter2@192.0.2.1/tasks");
    assert_snapshot!(stage.say("queue add fix --brief x").snapshot(), @"
    exit status: 1
    --- stderr ---
    error: the server `192.0.2.1` is on another machine; connections over a network need TLS, which is not built in yet: use a unix socket or a loopback address
    ");
    assert!(!stage.env.handoff_home().exists());
}

#[test]
fn a_server_that_is_not_there_is_unavailable() {
    let mut stage = Stage::new();
    stage
        .env
        .set("HANDOFF_STORE", "postgres://me@127.0.0.1:1/tasks")
        .set("HANDOFF_STORE_PATIENCE", "0s");
    assert_snapshot!(stage.say("queue add fix --brief x").snapshot(), @"
    exit status: 5
    --- stderr ---
    error: the store cannot be used: no connection to postgres://me@127.0.0.1/tasks
      because error connecting to server
      because Connection refused (os error 111)
    hint: see what is wrong: `handoff doctor`
    ");
}

fn assert_silent(secret: &str, printed: &Output) {
    assert_ne!(printed.code(), Some(0));
    for stream in [&printed.stdout, &printed.stderr] {
        assert!(!stream.contains(secret), "{stream}");
    }
}

#[test]
fn a_password_is_in_no_output() {
    let mut stage = Stage::new();
    stage.env.set("HANDOFF_STORE_PATIENCE", "0s");
    let commands = [
        "queue add fix --brief x",
        "queue claim --json",
        "events --everything",
        "doctor",
        "doctor --json",
    ];
    for address in [
        "postgres://me:hunter2@127.0.0.1:1/tasks",
        "postgres://me:hunter2@192.0.2.1/tasks",
        "postgres://me:hunter2@127.0.0.1:port/tasks",
        "mysql://me:hunter2@localhost/tasks",
        "host=127.0.0.1 port=1 user=me password=hunter2 oops",
    ] {
        stage.env.set("HANDOFF_STORE", address);
        for command in commands {
            assert_silent("hunter2", &stage.say(command));
        }
    }
    stage
        .env
        .set("HANDOFF_STORE", "postgres://me@127.0.0.1:1/tasks")
        .set("PGPASSWORD", "hunter2");
    for command in commands {
        assert_silent("hunter2", &stage.say(command));
    }
}
