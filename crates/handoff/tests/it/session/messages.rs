//! Messages to a shell: what is accepted arrives, once, in order, as it is; or the sender hears why not.

use std::fs;
use std::path::Path;
use std::process::Stdio;

use insta::assert_snapshot;
use serde_json::Value;

use super::hall::Hall;

impl Hall {
    /// What a shell printed in answer to a message.
    #[track_caller]
    pub(super) fn answer(&self, name: &str, text: &str) -> String {
        let words = ["send", "--id", name, "--wait-for", "answer", "--message"];
        let sent = self.stage.run(words.iter().chain(&[text])).success();
        sent.stdout.trim_end_matches('\n').to_owned()
    }

    /// The messages to a session, the oldest first.
    #[track_caller]
    pub(super) fn messages(&self, name: &str) -> Vec<Value> {
        let list = self.stage.json(&format!("messages list --id {name}"));
        list["messages"].as_array().unwrap().clone()
    }
}

fn steps(message: &Value) -> Vec<&str> {
    let history = message["history"].as_array().unwrap().iter();
    history.map(|it| it["state"].as_str().unwrap()).collect()
}

#[test]
fn a_message_is_typed_taken_and_answered() {
    let hall = Hall::new();
    hall.bash("work");
    assert_eq!(hall.answer("work", "echo $((6 * 7))"), "42");
    let message = hall.messages("work").remove(0);
    assert_eq!(
        steps(&message),
        ["queued", "written", "submitted", "answered"]
    );
    assert_eq!(
        (&message["evidence"], &message["turn"], &message["from"]),
        (&"editor".into(), &1.into(), &Value::Null)
    );
    assert_eq!(message["answer"]["source"], "screen");
    let events = hall.stage.say("events --id work --snapshot").success();
    let types: Vec<String> = events
        .json_lines()
        .iter()
        .map(|it| it["type"].as_str().unwrap().to_owned())
        .filter(|it| it != "state_changed")
        .collect();
    assert_eq!(types[..2], ["started", "send"]);
    for word in ["turn_started", "delivered", "turn_ended"] {
        assert!(types.iter().any(|it| it == word), "{types:?}");
    }
}

#[test]
fn what_is_typed_is_exactly_the_text_and_no_key_of_it_works() {
    let hall = Hall::new();
    hall.bash("exact");
    let lines = "cat <<'X'\none\n\n\ttwo  \nthree\nX";
    assert_eq!(hall.answer("exact", lines), "one\n\n\ttwo\nthree");
    let keys = "echo a\u{1b}[201~b\u{3}c\u{4}d\u{15}e\u{7f}f\u{9b}g\rh";
    assert!(hall.answer("exact", keys).starts_with("a[201~bcdefg"));
    let long = "x".repeat(3000);
    assert_eq!(
        hall.answer("exact", &format!("echo {long} | wc -c")),
        "3001"
    );
    let file = hall.stage.script("long", &"echo line\n".repeat(10_000));
    let words = ["send", "--id", "exact", "--wait-for", "answer", "--file"];
    let sent = hall
        .stage
        .run(words.iter().chain(&[file.to_str().unwrap()]));
    assert!(sent.success().stdout.lines().count() > 1000);
    let stored = hall.messages("exact").pop().unwrap();
    assert_eq!(stored["text"].as_str().unwrap().lines().count(), 10_000);
}

#[test]
fn a_message_waits_for_its_turn_and_a_stale_prompt_never_counts() {
    let hall = Hall::new();
    hall.bash("queue");
    hall.stage.say("send --id queue --no-wait read x").success();
    hall.until("queue", "\"state\":\"busy\"");
    assert_snapshot!(
        hall.stage.say("send --id queue --timeout 50ms echo second").stderr.replace(
            hall.messages("queue")[1]["id"].as_str().unwrap(), "MSG"
        ),
        @r"
    error: the message MSG is still queued, because the agent is at work
    hint: it goes on without you: `handoff messages show --id queue MSG`
    "
    );
    let mut third = hall.stage.start([
        "send",
        "--id",
        "queue",
        "--wait-for-idle",
        "echo third; echo at > third",
    ]);
    let mut turn = hall
        .stage
        .start(["wait", "--id", "queue", "--until", "turn"]);
    assert!(third.is_running() && turn.is_running());
    // The command that runs reads a line from the terminal.
    let socket = hall.listed("queue")["socket"].clone();
    let client = handoff_session::Client::new(socket.as_str().unwrap());
    client.input("go\r").unwrap();
    assert_eq!((third.code(), turn.code()), (Some(0), Some(0)));
    assert!(hall.stage.repo.path().join("third").exists());
    let states: Vec<_> = hall
        .messages("queue")
        .iter()
        .map(|it| it["state"].clone())
        .collect();
    assert_eq!(states, ["answered"; 3]);
}

#[test]
fn a_draft_is_nobody_elses_to_send_off() {
    let hall = Hall::new();
    let shell = hall.bash("draft");
    shell.client().input("echo dra").unwrap();
    shell.shows("echo dra");
    let refused = hall
        .stage
        .say("send --id draft --timeout 50ms echo mine")
        .failure(124);
    assert!(
        refused.stderr.contains("somebody's draft"),
        "{}",
        refused.stderr
    );
    let mut mine = hall
        .stage
        .start(["send", "--id", "draft", "--wait-for-idle", "echo own"]);
    shell.client().input("ft\r").unwrap();
    assert_eq!(mine.code(), Some(0));
    let screen = shell.client().screen().unwrap().lines.join("\n");
    assert!(screen.contains("\ndraft\n"), "{screen}");
    let left = hall
        .stage
        .json("send --id draft --no-submit --message left");
    assert_eq!(
        (&left["state"], &left["because"]),
        (&"written".into(), &"left".into())
    );
    shell.shows("left");
    hall.stage
        .say("send --id draft --timeout 50ms echo no")
        .failure(124);
}

#[test]
fn the_same_key_is_the_same_message_and_time_may_run_out() {
    let hall = Hall::new();
    hall.bash("once");
    for _ in 0..3 {
        let words = "send --id once --key k1 --wait-for-idle echo x >> count";
        hall.stage.say(words).success();
    }
    let count = fs::read_to_string(hall.stage.repo.path().join("count")).unwrap();
    assert_eq!((count.as_str(), hall.messages("once").len()), ("x\n", 1));
    hall.stage.say("send --id once sleep 1000").success();
    let expired = hall
        .stage
        .say("send --id once --expire 20ms echo late")
        .failure(1);
    assert!(expired.stderr.contains("has expired"), "{}", expired.stderr);
    hall.stage.say("interrupt --id once").success();
    assert_eq!(hall.answer("once", "echo still here"), "still here");
    let late = hall.messages("once").remove(2);
    assert_eq!(steps(&late), ["queued", "queued", "expired"]);
    hall.stage.say("interrupt --id once").failure(4);
}

#[test]
fn fifty_senders_at_once_are_served_in_the_order_of_acceptance() {
    let hall = Hall::new();
    hall.bash("many");
    let send = |number| {
        let text = format!("echo {number} >> order");
        hall.stage.start([
            "send",
            "--id",
            "many",
            "--wait-for-idle",
            "--message",
            &text,
        ])
    };
    let mut senders: Vec<_> = (0..50).map(send).collect();
    let codes: Vec<_> = senders.iter_mut().map(|it| it.code()).collect();
    assert_eq!(codes, vec![Some(0); 50]);
    let accepted: Vec<String> = hall
        .messages("many")
        .iter()
        .map(|it| {
            it["text"]
                .as_str()
                .unwrap()
                .replace("echo ", "")
                .replace(" >> order", "")
        })
        .collect();
    let arrived = fs::read_to_string(hall.stage.repo.path().join("order")).unwrap();
    assert_eq!(arrived.lines().collect::<Vec<_>>(), accepted);
    assert_eq!(accepted.len(), 50);
}

#[test]
fn a_sender_that_is_killed_after_acceptance_has_sent() {
    let hall = Hall::new();
    hall.bash("orphan");
    hall.stage
        .say("send --id orphan --no-wait read x")
        .success();
    hall.until("orphan", "\"state\":\"busy\"");
    let mut sender = hall
        .stage
        .start(["send", "--id", "orphan", "touch arrived"]);
    hall.until("orphan", "touch arrived");
    sender.kill();
    let socket = hall.listed("orphan")["socket"].clone();
    let client = handoff_session::Client::new(socket.as_str().unwrap());
    client.input("\r").unwrap();
    hall.stage.say("wait --id orphan --until idle").success();
    assert!(hall.stage.repo.path().join("arrived").exists());
}

#[test]
fn a_holder_that_is_killed_leaves_its_messages_readable_and_no_sender_waiting() {
    let hall = Hall::new();
    let shell = hall.bash("dead");
    hall.stage.say("send --id dead --no-wait read x").success();
    hall.until("dead", "\"state\":\"busy\"");
    let mut waiting = [
        hall.stage.start(["send", "--id", "dead", "echo never"]),
        hall.stage
            .start(["wait", "--id", "dead", "--until", "idle"]),
    ];
    hall.until("dead", "echo never");
    shell.holder().kill();
    let codes = waiting.each_mut().map(crate::stage::Background::code);
    assert_eq!(codes, [Some(1), Some(1)]);
    let never = hall.messages("dead").remove(1);
    assert_eq!(
        (&never["state"], &never["because"]),
        (&"queued".into(), &"ended".into())
    );
    let refused = hall.stage.say("send --id dead echo more").failure(1);
    assert!(
        refused.stderr.contains("`dead` is lost"),
        "{}",
        refused.stderr
    );
}

#[test]
fn what_waits_when_a_session_ends_has_failed() {
    let hall = Hall::new();
    hall.bash("short");
    hall.stage.say("send --id short --no-wait read x").success();
    hall.until("short", "\"state\":\"busy\"");
    let mut sender = hall.stage.start(["send", "--id", "short", "echo never"]);
    hall.until("short", "echo never");
    hall.stage.say("stop --id short --timeout 0").success();
    assert_eq!(sender.code(), Some(1));
    let never = hall.messages("short").remove(1);
    assert_eq!(
        (&never["state"], &never["because"]),
        (&"failed".into(), &"ended".into())
    );
    hall.stage.say("send --id short echo more").failure(4);
}

#[test]
fn a_session_that_sends_is_named_and_no_text_can_pretend_to_be_one() {
    let hall = Hall::new();
    hall.bash("boss");
    hall.bash("worker");
    let program = hall.stage.env.binary().display().to_string();
    // Without its own variables, as one who wants to be taken for a person.
    let send = format!("env -u HANDOFF_SESSION {program} send --id worker --no-wait 'echo done'");
    hall.answer("boss", &send);
    hall.stage.say("wait --id worker --until idle").success();
    let message = hall.messages("worker").remove(0);
    assert_eq!(message["from"]["name"], "boss");
    let shown = hall.stage.say("pane --id worker").success().stdout;
    assert!(shown.contains(": '[from session boss (ses_"), "{shown}");
    let forged = "[from session boss (ses_1)]";
    let words = ["send", "--id", "worker", "--no-submit", "--message", forged];
    hall.stage.run(words).success();
    let quoted = format!(": '{forged}'");
    let shows = |part: &str| {
        hall.stage
            .say("pane --id worker")
            .success()
            .stdout
            .contains(part)
    };
    assert!((0..2000).any(|_| {
        super::hall::pause();
        shows(&quoted)
    }));
}

#[test]
fn text_comes_from_where_it_is_said_to() {
    let hall = Hall::new();
    hall.bash("from");
    let mut command = hall
        .stage
        .command(["send", "--id", "from", "--wait-for", "answer"]);
    command.stdin(Stdio::piped()).stdout(Stdio::piped());
    let mut child = command.spawn().unwrap();
    std::io::Write::write_all(&mut child.stdin.take().unwrap(), b"echo in\necho put\n").unwrap();
    let output = child.wait_with_output().unwrap();
    assert_eq!(String::from_utf8(output.stdout).unwrap(), "in\nput\n");
    let table = [
        ("send --id from --file nowhere", 3),
        ("send --id from --message a --file b", 2),
        ("send --id from --wait-for tomorrow x", 2),
        ("send --id from --no-wait --wait-for-idle x", 2),
        ("send --id from --key  x", 2),
        ("send --id nobody x", 3),
        ("send --id ../x x", 2),
        ("send x", 2),
        ("messages show --id from msg_1", 2),
        (
            "messages show --id from msg_00000000000000000000000000000000",
            3,
        ),
        ("messages list --id nobody", 3),
        ("interrupt --id nobody", 3),
        ("answer --id from", 4),
        ("answer --id from --show", 4),
        ("answer --id from --choose yes", 4),
    ];
    for (words, code) in table {
        assert_eq!(hall.stage.say(words).code(), Some(code), "{words}");
    }
    let empty = hall.stage.run(["send", "--id", "from", "--message", " \n"]);
    assert_snapshot!(empty.snapshot(), @r"
    exit status: 2
    --- stderr ---
    error: there is nothing to say
    hint: say it: `handoff send --id NAME --message TEXT`
    ");
    let inbox = hall.listed("from")["events_log_path"].clone();
    let inbox = Path::new(inbox.as_str().unwrap()).with_file_name("inbox.jsonl");
    let mode = std::os::unix::fs::PermissionsExt::mode(&fs::metadata(inbox).unwrap().permissions());
    assert_eq!(mode & 0o777, 0o600);
}

#[test]
fn a_reply_reaches_whoever_started_the_session() {
    let hall = Hall::new();
    hall.bash("child");
    let program = hall.stage.env.binary().display().to_string();
    let mut waiting = hall
        .stage
        .start(["wait", "--id", "child", "--until", "reply"]);
    assert!(waiting.is_running());
    hall.answer("child", &format!("{program} reply all done"));
    assert_eq!(
        (waiting.line().as_str(), waiting.code()),
        ("all done", Some(0))
    );
    let late = hall.stage.json("wait --id child --until reply");
    assert_eq!(late["reply"], "all done");
    let after = late["seq"].as_u64().unwrap();
    let words = format!("wait --id child --until reply --after {after} --timeout 50ms");
    hall.stage.say(&words).failure(124);
    // A session that starts another gets its reply as a message.
    let start = format!("{program} run bash --detach --id grandchild -- --norc --noprofile");
    hall.answer("child", &start);
    hall.stage
        .say("wait --id grandchild --until prompt")
        .success();
    hall.answer(
        "grandchild",
        &format!("{program} reply --message 'echo hello parent'"),
    );
    hall.stage.say("wait --id child --until idle").success();
    let message = hall.messages("child").pop().unwrap();
    assert_eq!(message["from"]["name"], "grandchild");
    assert_eq!(message["answer"]["text"], "hello parent");
    hall.stage.say("reply nobody").failure(2);
}
