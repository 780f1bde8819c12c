//! What is refused, and that nothing is left of it.

use insta::assert_snapshot;

use super::hall::Hall;

#[test]
fn two_sessions_of_one_name_are_refused_but_not_in_another_project() {
    let hall = Hall::new();
    hall.bash("one");
    assert_snapshot!(hall.stage.say("run bash --detach --id one").snapshot(), @r"
    exit status: 4
    --- stderr ---
    error: a session called `one` lives already in this project
    hint: sit down at it: `handoff attach --id one`
    hint: or choose another name with `--id`
    ");
    let other = hall.stage.env.repo("other");
    let words = ["run", "sh", "--detach", "--id", "one"];
    hall.stage.env.handoff_in(other.path(), words).success();
    let list = hall.stage.json("ps --all");
    assert_eq!(list["sessions"].as_array().unwrap().len(), 2);
    let here = hall.stage.json("ps");
    assert_eq!(here["sessions"].as_array().unwrap().len(), 1);
}

#[test]
fn wrong_input_starts_nothing() {
    let hall = Hall::new();
    let table = [
        ("run no-such-program --detach", 3),
        ("run ./no-such-program --detach", 3),
        ("run bash --detach --cwd nowhere", 3),
        ("run bash --detach --id Bad", 2),
        ("run bash --detach --timeout soon", 2),
        ("run bash", 2),
        ("attach --id x", 2),
        ("run", 2),
        ("stop --id x", 3),
        ("pane --id x", 3),
        ("logs --id x", 3),
        ("events --id x", 1),
        ("wait --id x", 3),
        ("wait --id ../x", 2),
        ("wait --id x --until tomorrow", 2),
        ("events --id x --from yesterday", 1),
        ("events --from 2026-01-01T00:00:00Z", 2),
    ];
    for (words, code) in table {
        assert_eq!(hall.stage.say(words).code(), Some(code), "{words}");
    }
    assert_snapshot!(hall.stage.say("ps --all").snapshot(), @r"
    exit status: 0
    --- stderr ---
    No session lives. Start one: `handoff run bash`.
    ");
}

#[test]
fn a_program_that_cannot_be_run_leaves_no_session() {
    let hall = Hall::new();
    let script = hall.stage.script("script", "not a program");
    let started = hall
        .stage
        .run(["run", script.to_str().unwrap(), "--detach", "--id", "no"]);
    let started = started.failure(1);
    assert!(
        started.stderr.contains("cannot start the session `no`"),
        "{}",
        started.stderr
    );
    assert!(
        started.stderr.contains("Permission denied"),
        "{}",
        started.stderr
    );
    assert_eq!(
        hall.stage.json("ps --all --ended")["sessions"],
        serde_json::json!([])
    );
    hall.bash("no");
}

#[test]
fn waiting_ends_when_the_time_is_over() {
    let hall = Hall::new();
    hall.bash("long");
    assert_snapshot!(hall.stage.say("wait --id long --timeout 0").snapshot(), @r"
    exit status: 124
    --- stderr ---
    error: the session `long` has not ended in time
    ");
    hall.stage.say("wait --id long --timeout 20ms").failure(124);
}

#[test]
fn a_sub_task_session_may_look_but_not_touch() {
    let mut hall = Hall::new();
    hall.bash("one");
    let session = "ses_0192f0c47d0a7c3e9f5b2a1c3d4e5f60";
    hall.stage.env.set("HANDOFF_SESSION", session);
    hall.stage.env.set("HANDOFF_ROLE", "sub-task");
    hall.stage.say("ps").success();
    hall.stage.say("pane --id one").success();
    for words in ["stop --id one", "run sh --detach"] {
        hall.stage.say(words).failure(9);
    }
}

#[test]
fn a_holder_refuses_what_it_does_not_understand_and_lives_on() {
    use std::io::{Read as _, Write as _};
    let hall = Hall::new();
    let session = hall.bash("tough");
    let ask = |bytes: &[u8]| {
        let socket = session.text("socket");
        let mut stream = std::os::unix::net::UnixStream::connect(socket).unwrap();
        stream.write_all(bytes).unwrap();
        let mut answer = String::new();
        // A holder that has heard enough may close before it has read everything.
        stream.read_to_string(&mut answer).ok();
        answer.lines().next().unwrap_or_default().to_owned()
    };
    assert_eq!(
        ask(b"GET /v1/nothing HTTP/1.1\r\n\r\n"),
        "HTTP/1.1 404 Not Found"
    );
    assert_eq!(ask(b"nonsense\r\n\r\n"), "HTTP/1.1 400 Bad Request");
    assert_eq!(ask(&[b'x'; 8192]), "HTTP/1.1 413 Content Too Large");
    let silent: Vec<_> = (0..200)
        .map(|_| std::os::unix::net::UnixStream::connect(session.text("socket")).unwrap())
        .collect();
    assert_eq!(session.client().status().unwrap().state.word(), "prompt");
    drop(silent);
}
