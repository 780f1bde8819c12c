//! Commands that run code of sessions: what they can change, what they may use, and that nothing of them is left.

use std::fs;
use std::io::{BufRead as _, BufReader};
use std::os::unix::process::CommandExt as _;
use std::path::Path;
use std::process::{Command, Stdio};

use handoff_testkit::{Need, skip_without};
use serde_json::{Value, json};

use crate::stage::Stage;

const MIB: u64 = 1024 * 1024;

/// Runs a command below a supervisor with small bounds. Says how that ended and what was printed.
fn supervised(stage: &Stage, options: &[&str], script: &str) -> (Value, String) {
    let output = command(stage, options, script).output().unwrap();
    let told = String::from_utf8(output.stderr).unwrap();
    let outcome = serde_json::from_str(&told).unwrap_or_else(|_| panic!("{told}"));
    (
        outcome,
        String::from_utf8_lossy(&output.stdout).into_owned(),
    )
}

fn command(stage: &Stage, options: &[&str], script: &str) -> Command {
    let place = stage.env.work();
    let usual = [
        "check-supervisor",
        "--time-ms=20000",
        "--memory=100000000",
        "--processes=30",
        "--output=1048576",
        "--disk=8388608",
        "--write",
        place.to_str().unwrap(),
    ];
    let is_set = |it: &&str| {
        let name = it.split('=').next().unwrap_or_default();
        it.contains('=') && options.iter().any(|option| option.starts_with(name))
    };
    let mut command = stage.command(usual.into_iter().filter(|it| !is_set(it)));
    command
        .args(options)
        .args(["--", "/bin/sh", "-c", script])
        .current_dir(stage.env.work());
    command
}

#[test]
fn the_end_of_a_check_is_told_as_it_was() {
    let stage = Stage::new();
    let table = [
        ("true", json!({ "type": "passed" })),
        ("exit 3", json!({ "type": "failed", "code": 3 })),
        ("kill -9 $$", json!({ "type": "killed", "signal": 9 })),
    ];
    for (script, expected) in table {
        let (outcome, printed) = supervised(&stage, &[], &format!("echo hello; {script}"));
        assert_eq!(
            (outcome, printed.as_str()),
            (expected, "hello\n"),
            "{script}"
        );
    }
}

#[test]
fn what_is_ended_says_which_limit() {
    let stage = Stage::new();
    let limit = |limit: Value| json!({ "type": "over_limit", "limit": limit });
    let grow = "python3 -c 'a = []\nwhile len(a) < 400: a.append(bytearray(1 << 20))\nimport time; time.sleep(60)'";
    let shared_among = format!("{grow} & {grow} & wait");
    let one_file = "head -c 20000000 /dev/zero > big";
    let table: [(&[&str], &str, Value); 8] = [
        (
            &["--time-ms=150"],
            "sleep 1000",
            json!({ "type": "time", "milliseconds": 150 }),
        ),
        (
            &["--time-ms=150"],
            "trap '' TERM; while :; do :; done",
            json!({ "type": "time", "milliseconds": 150 }),
        ),
        (&[], grow, json!({ "type": "memory", "bytes": 100_000_000 })),
        (
            &["--memory=600000000"],
            &shared_among,
            json!({ "type": "memory", "bytes": 600_000_000 }),
        ),
        (
            &[],
            "i=0; while [ $i -lt 60 ]; do setsid sleep 1000 & i=$((i+1)); done; wait",
            json!({ "type": "processes", "most": 30 }),
        ),
        (
            &[],
            "head -c 4000000 /dev/zero",
            json!({ "type": "output", "bytes": MIB }),
        ),
        (&[], "yes", json!({ "type": "output", "bytes": MIB })),
        (&[], one_file, json!({ "type": "disk", "bytes": 8 * MIB })),
    ];
    for (options, script, expected) in table {
        let (outcome, printed) = supervised(&stage, options, script);
        assert_eq!(outcome, limit(expected), "{script}");
        assert!(printed.len() as u64 <= 2 * MIB);
    }
}

#[test]
fn many_files_are_as_much_as_one() {
    let stage = Stage::new();
    let several =
        "for it in 1 2 3 4; do head -c 6000000 /dev/zero > part-$it; done; sync; sleep 1000";
    let nameless = "exec 3> gone 4> lost; rm gone lost; head -c 6000000 /dev/zero >&3; head -c 6000000 /dev/zero >&4; sync; sleep 1000";
    for script in [several, nameless] {
        let (outcome, _) = supervised(&stage, &[], script);
        assert_eq!(outcome["limit"]["type"], "disk", "{script}: {outcome}");
    }
}

/// A process with exactly this in its command line.
fn lives(argument: &str) -> bool {
    let mut processes = fs::read_dir("/proc").unwrap().flatten();
    processes.any(|it| {
        let line = fs::read(it.path().join("cmdline")).unwrap_or_default();
        line == format!("sleep\0{argument}\0").as_bytes()
    })
}

#[test]
fn nothing_outlives_a_check_however_it_ends() {
    let stage = Stage::new();
    let away = |number: &str| {
        format!(
            "(setsid sh -c 'setsid sleep {number} <&- >&- 2>&- & echo ready; exit' &) ; sleep 0"
        )
    };
    let (ended, _) = supervised(&stage, &[], &away("31415.1"));
    assert_eq!(ended["type"], "passed");
    assert!(!lives("31415.1"));
    let (ended, _) = supervised(
        &stage,
        &["--time-ms=300"],
        &format!("{}; sleep 1000", away("31415.2")),
    );
    assert_eq!(ended["limit"]["type"], "time");
    assert!(!lives("31415.2"));
    for (number, signal) in [("31415.3", "TERM"), ("31415.4", "INT"), ("31415.5", "HUP")] {
        let mut told = command(&stage, &[], &format!("{}; sleep 1000", away(number)));
        let mut told = told.stdout(Stdio::piped()).spawn().unwrap();
        let mut line = String::new();
        BufReader::new(told.stdout.as_mut().unwrap())
            .read_line(&mut line)
            .unwrap();
        let mut kill = stage.env.command("kill");
        stage.env.run({
            kill.args(["-s", signal, &told.id().to_string()]);
            kill
        });
        told.wait().unwrap();
        assert!(!lives(number), "{signal}");
    }
}

#[test]
fn a_check_ends_with_whoever_started_it() {
    let stage = Stage::new();
    let script = "setsid sleep 31415.6 <&- >&- 2>&- & echo ready; sleep 1000";
    let inner = command(&stage, &[], script);
    // A shell that dies with the supervisor below it, which asks to be told of that as it starts.
    let mut outer = stage.env.command("/bin/sh");
    outer
        .args(["-c", "\"$@\" & wait", "sh"])
        .arg(inner.get_program())
        .args(inner.get_args())
        .current_dir(stage.env.work())
        .process_group(0)
        .stdout(Stdio::piped());
    let mut outer = outer.spawn().unwrap();
    let mut stdout = BufReader::new(outer.stdout.take().unwrap());
    let mut line = String::new();
    stdout.read_line(&mut line).unwrap();
    assert_eq!(line, "ready\n");
    outer.kill().unwrap();
    outer.wait().unwrap();
    // The pipe closes when the supervisor, which ends last, has ended.
    line.clear();
    stdout.read_line(&mut line).unwrap();
    assert!(!lives("31415.6"));
}

/// What a session leaves that owns the tests: they do what it likes.
const HOSTILE: &str = r#"
REPO="$(git rev-parse --path-format=absolute --git-common-dir)/.."
echo hijacked >> "$REPO/README"
git -C "$REPO" branch hijacked
git update-ref refs/heads/hijacked-too HEAD
echo "$(git rev-parse HEAD)" > "$REPO/.git/refs/heads/by-hand"
git config user.name hijacked
echo hijacked > "$HOME/.profile"
echo hijacked > ../sibling
env | grep '^HANDOFF_' && echo hijacked > has-ours
[ -n "$XDG_RUNTIME_DIR" ] && echo hijacked > has-runtime
for words in "queue add more --brief more" "queue cancel fix" "hold" "approve x" "trust --revoke" "answer --id x --choose 1"; do
  HANDOFF_HOME="$STATE" "$PROGRAM" $words && echo hijacked > did-it
done
echo changed > README
echo done > "$TMPDIR/scratch" || exit 9
"#;

#[test]
fn the_check_of_a_task_changes_nothing_but_its_own_tree() {
    if skip_without(&[Need::Landlock]) {
        return;
    }
    let mut stage = Stage::new();
    stage.repo.write("README", "ours\n").commit("base");
    let (program, state) = (stage.env.binary().to_owned(), stage.env.handoff_home());
    stage.env.set("PROGRAM", &program);
    stage.env.set("STATE", &state);
    stage
        .env
        .set("XDG_RUNTIME_DIR", stage.env.work().join("runtime"));
    stage
        .run([
            "queue",
            "add",
            "fix",
            "--brief",
            "x",
            "--own",
            "tests/",
            "--verify",
            "sh tests/run.sh; ! ls | grep -E 'has-|did-it'",
        ])
        .success();
    let config = fs::read_to_string(stage.repo.path().join(".git/config")).unwrap();
    let text = HOSTILE
        .replace('\\', "\\\\")
        .replace('"', "\\\"")
        .replace('\n', "\\n");
    let script = format!("[[step]]\nwrite = {{ path = \"tests/run.sh\", text = \"{text}\" }}\n");
    let script = stage.script("agent.toml", &script);
    let script = script.to_str().unwrap();
    stage
        .run(["worker", "--once", "--script", script])
        .success();
    let repo = stage.repo.path();
    assert_eq!(fs::read_to_string(repo.join("README")).unwrap(), "ours\n");
    assert_eq!(
        fs::read_to_string(repo.join(".git/config")).unwrap(),
        config
    );
    let refs = stage.repo.refs();
    let foreign: Vec<_> = { refs.keys() }
        .filter(|it| it.contains("hijacked") || it.contains("by-hand"))
        .collect();
    assert_eq!(foreign, Vec::<&String>::new());
    assert!(!Path::new(&stage.env.home()).join(".profile").exists());
    let tasks = stage.json("queue list --all").to_string();
    assert!(!tasks.contains("\"more\""), "{tasks}");
    let task = stage.json("queue show fix");
    let branch = task["evidence"][1]["branch"].as_str().unwrap();
    assert_eq!(
        stage.repo.changes_of(branch),
        ["tests/run.sh"],
        "what the check wrote is not committed"
    );
}

#[test]
fn a_check_over_its_limit_fails_the_task_and_says_which() {
    let stage = Stage::new();
    stage.configure("[checks]\ntime = \"1s\"\n");
    stage
        .run([
            "queue",
            "add",
            "fix",
            "--brief",
            "x",
            "--verify",
            "echo begun; sleep 1000",
        ])
        .success();
    let write = "[[step]]\nwrite = { path = \"new.txt\", text = \"new\\n\" }\n";
    let script = stage.script("agent.toml", write);
    let ended = stage
        .run(["worker", "--once", "--script", script.to_str().unwrap()])
        .failure(12);
    assert!(
        ended.stdout.contains("was ended: over 1.0 s: begun"),
        "{}",
        ended.stdout
    );
    let limit = &stage.json("queue show fix")["evidence"][0]["limit"];
    assert_eq!(limit, &json!({ "type": "time", "milliseconds": 1000 }));
}
