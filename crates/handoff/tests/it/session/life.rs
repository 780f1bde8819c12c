//! A session from its start to its end.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;

use insta::assert_snapshot;

use super::hall::{Hall, pause};

#[test]
fn a_shell_is_seen_to_read_to_work_and_to_end() {
    let hall = Hall::new();
    let shell = hall.bash("work");
    assert_eq!(hall.listed("work")["source"], "foreground");
    shell.types("read line");
    hall.until("work", "\"state\":\"busy\"");
    shell.types("");
    shell.types("echo $((6 * 7)); exit 3");
    let waited = hall.stage.say("wait --id work --until exited");
    assert_eq!((waited.code(), waited.stdout.as_str()), (Some(3), ""));
    let listed = hall.listed("work");
    assert_eq!(
        (&listed["state"], &listed["exit_code"]),
        (&"exited".into(), &3.into())
    );
    let logs = hall.stage.say("logs --id work --lines 2").success();
    assert_eq!(logs.stdout, "42\nexit\n");
    let events = hall.stage.say("events --id work").success().json_lines();
    let types: Vec<_> = events
        .iter()
        .map(|it| it["type"].as_str().unwrap())
        .collect();
    assert_eq!(
        (types.first(), types.last()),
        (Some(&"started"), Some(&"exited"))
    );
    let numbers: Vec<_> = events
        .iter()
        .map(|it| it["seq"].as_u64().unwrap())
        .collect();
    assert_eq!(numbers, (1..=events.len() as u64).collect::<Vec<_>>());
}

#[test]
fn what_an_agent_says_of_itself_is_its_state() {
    let hall = Hall::new();
    let script = hall.stage.script(
        "agent.toml",
        r#"
[[step]]
osc = "7501;state=working"
[[step]]
expect = "go"
[[step]]
osc = "7501;state=blocked:kind=permission"
[[step]]
expect = "yes"
[[step]]
exit = 4
"#,
    );
    let agent = hall.run("told", &["scripted", "--", script.to_str().unwrap()]);
    hall.until("told", "\"state\":\"busy\",\"source\":\"status\"");
    agent.types("go");
    hall.until("told", "\"state\":\"blocked\",\"kind\":\"permission\"");
    let row = hall.stage.say("ps").success().stdout;
    assert!(row.contains("blocked (permission)"), "{row}");
    agent.types("yes");
    assert_eq!(hall.stage.say("wait --id told").code(), Some(4));
}

#[test]
fn a_terminal_answers_what_a_program_asks() {
    let hall = Hall::new();
    let ask =
        "stty raw -echo; printf '\\033]7501;?\\033\\\\\\033[c'; head -c 19 | od -An -c; sleep 1000";
    let agent = hall.run("asks", &["sh", "--", "-c", ask]);
    agent.shows("033   ]   7   5   0   1   ;   ?");
    agent.shows("c");
}

#[test]
fn a_screen_has_a_size_and_shows_what_a_person_would_see() {
    let hall = Hall::new();
    let shell = hall.bash("seen");
    shell.types("PS1='> '; printf '\\033[2J\\033[Ha\\033[31mb\\033[0m c\\n'; stty size");
    shell.shows("50 200\n>");
    assert_snapshot!(hall.stage.say("pane --id seen").snapshot(), @r"
    exit status: 0
    --- stdout ---
    ab c
    50 200
    >
    ");
    let last = hall.stage.say("pane --id seen --lines 2").success();
    assert_eq!(last.stdout, "50 200\n>\n");
    let coloured = hall.stage.say("pane --id seen --ansi").success();
    assert!(
        coloured.stdout.starts_with("a\u{1b}[31mb\u{1b}[m c"),
        "{:?}",
        coloured.stdout
    );
    let document = hall.stage.json("pane --id seen");
    assert_eq!(
        (&document["rows"], &document["columns"]),
        (&50.into(), &200.into())
    );
}

#[test]
fn everything_that_is_printed_is_kept_and_memory_does_not_grow() {
    let hall = Hall::new();
    let flood = "stty -opost; seq 1 800000; sleep 1000";
    let session = hall.run("flood", &["sh", "--log-limit", "0", "--", "-c", flood]);
    let expected: String = (1..=800_000).map(|number| format!("{number}\n")).collect();
    let log = Path::new(session.text("output_log_path"));
    while fs::metadata(log).unwrap().len() < expected.len() as u64 {
        pause();
    }
    assert!(fs::read(log).unwrap() == expected.as_bytes());
    let holder = hall.listed("flood")["holder_pid"].to_string();
    let status = fs::read_to_string(format!("/proc/{holder}/status")).unwrap();
    let own = status
        .lines()
        .find_map(|line| line.strip_prefix("RssAnon:"));
    let own: u64 = own.unwrap().trim().trim_end_matches(" kB").parse().unwrap();
    assert!(own < 6 * 1024, "the holder has {own} kB of its own");
}

#[test]
fn what_had_to_make_room_is_told_before_what_is_kept() {
    let hall = Hall::new();
    let flood = "stty -opost; yes $(printf %0199d 7) | head -c 2600000; echo THE END";
    let session = hall.run("much", &["sh", "--log-limit", "1", "--", "-c", flood]);
    hall.stage.say("wait --id much").success();
    let log = Path::new(session.text("output_log_path"));
    let older = log.with_file_name("transcript.1.log");
    let kept: u64 = [log, &older]
        .map(|it| fs::metadata(it).unwrap().len())
        .iter()
        .sum();
    assert!(kept < 3 << 20, "{kept}");
    let dropped = 2_600_008 - kept;
    let shown = hall.stage.say("logs --id much --lines 9999999").success();
    let said = format!("[{dropped} bytes were printed before this and are kept no longer]\n");
    assert!(shown.stdout.starts_with(&said), "{:.200}", shown.stdout);
    assert!(shown.stdout.ends_with("\nTHE END\n"));
    let lines = hall
        .stage
        .say("logs --id much --lines 9999999 --json")
        .success();
    assert_eq!(lines.json_lines()[0]["dropped_bytes"], dropped);
    let last = hall.stage.say("logs --id much --lines 1").success();
    assert_eq!(last.stdout, "THE END\n");
    let raw = hall
        .stage
        .say("logs --id much --lines 9999999 --raw")
        .success();
    assert_eq!(raw.stdout.len() as u64, kept);
}

#[test]
fn logs_are_harmless_and_followed_to_the_end() {
    let hall = Hall::new();
    let script = "printf 'a\\033[31mb\\033]52;c;aGk=\\007\\r\\n'; read x; echo last";
    let session = hall.run("log", &["sh", "--", "-c", script]);
    session.shows("ab");
    let mut follower = hall.stage.start(["logs", "--id", "log", "--follow"]);
    assert_eq!(follower.line(), "ab");
    session.types("");
    assert_eq!(follower.line(), "");
    assert_eq!(follower.line(), "last");
    assert_eq!(follower.code(), Some(0));
    let raw = hall.stage.say("logs --id log --raw").success();
    assert!(raw.stdout.contains("\u{1b}]52;c;"), "{:?}", raw.stdout);
    let lines = hall.stage.say("logs --id log --lines 1 --json").success();
    assert_eq!(lines.json()["line"], "last");
}

#[test]
fn the_files_of_a_session_are_private() {
    let hall = Hall::new();
    let session = hall.bash("secret");
    let mode = |path: &Path| fs::metadata(path).unwrap().permissions().mode() & 0o777;
    let socket = Path::new(session.text("socket"));
    assert_eq!(
        (mode(socket), mode(socket.parent().unwrap())),
        (0o600, 0o700)
    );
    assert!(socket.starts_with(hall.stage.env.runtime_dir().join("handoff")));
    for field in ["output_log_path", "events_log_path"] {
        assert_eq!(mode(Path::new(session.text(field))), 0o600);
    }
}

#[test]
fn without_a_runtime_directory_or_with_a_long_one_the_socket_is_found_all_the_same() {
    let mut hall = Hall::new();
    let long = hall.stage.env.root().join("run").join("x".repeat(120));
    fs::create_dir(&long).unwrap();
    hall.stage.env.set("XDG_RUNTIME_DIR", &long);
    assert!(hall.bash("long").client().status().is_ok());
    hall.stage.env.set("XDG_RUNTIME_DIR", "");
    let session = hall.bash("none");
    let home = hall.stage.env.handoff_home();
    assert!(Path::new(session.text("socket")).starts_with(home));
    assert!(session.client().status().is_ok());
}
