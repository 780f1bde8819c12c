//! What people suffered from before there was such a tool, and the first thing that they did with the earlier one: each from end
//! to end, with real git and the built-in agent.

use std::ffi::OsStr;

use handoff_files::Watch;
use serde_json::Value;

use super::on_postgres;
use crate::stage::{PATIENCE, Stage};

on_both_stores! {
    what_is_dumped_is_taken_by_a_worker_that_waits,
    a_session_that_finishes_hands_on_to_the_next,
    a_commit_has_nothing_of_what_another_has_staged,
    a_session_that_crashes_leaves_the_next_a_proved_beginning,
    one_task_becomes_several_and_comes_together,
    a_session_reaches_the_ledger_without_knowing_the_way,
}

const WRITE: &str = "[[step]]\nwrite = { path = \"new.txt\", text = \"new\\n\" }\n";

fn work(stage: &Stage, script: &str) -> handoff_testkit::Output {
    let script = stage.script("agent.toml", script);
    let words = ["worker", "--until-empty", "--script"].map(OsStr::new);
    stage.run(words.into_iter().chain([script.as_os_str()]))
}

/// Where the one commit of a task is.
fn branch(task: &Value) -> String {
    let evidence = task["evidence"].as_array().unwrap();
    let branch = evidence.iter().find_map(|it| it["branch"].as_str());
    branch.expect("it was committed").to_owned()
}

/// The quickstart of the earlier tool: dump, and a session opens by itself.
fn what_is_dumped_is_taken_by_a_worker_that_waits(stage: &Stage) {
    let script = stage.script("agent.toml", WRITE);
    let words = ["worker", "--script"].map(OsStr::new);
    let worker = stage.start(words.into_iter().chain([script.as_os_str()]));
    let dumped = stage.run([
        "dump",
        "--task",
        "fix-bug-123",
        "--next",
        "Fix the off-by-one in the discount calculation.",
        "--status",
        "active",
        "--tests",
        "tests/test_discount.py",
    ]);
    dumped.success();
    let project = stage.json("queue show fix-bug-123")["project"].clone();
    let baton = stage.env.handoff_home().join("queue");
    let baton = baton.join(project.as_str().unwrap()).join("fix-bug-123.md");
    let baton = std::fs::read_to_string(baton).unwrap();
    for part in ["Fix the off-by-one", "tests/test_discount.py"] {
        assert!(baton.contains(part), "{part} is not in {baton}");
    }
    assert_eq!(worker.line(), "fix-bug-123 is done");
    let task = stage.json("queue show fix-bug-123");
    assert_eq!(stage.repo.changes_of(&branch(&task)), ["new.txt"]);
}

/// 1: a tab finishes its task, and the next one never begins.
fn a_session_that_finishes_hands_on_to_the_next(stage: &Stage) {
    stage.add("first");
    let program = env!("CARGO_BIN_EXE_handoff");
    let worked = work(
        stage,
        &HANDING_ON.replace("[\"HANDOFF\"", &format!("[{program:?}")),
    )
    .success();
    assert_eq!(worked.stdout, "first is done\nsecond is done\n");
    let task = stage.json("queue show second");
    let branch = branch(&task);
    assert_eq!(stage.repo.changes_of(&branch), ["all.txt", "prompt.md"]);
    assert_eq!(stage.repo.file_of(&branch, "all.txt"), "half\nwhole\n");
    let prompt = stage.repo.file_of(&branch, "prompt.md");
    for part in [
        "Go on.",
        "> The first half is there; the second needs care.",
        "with what `first` left",
    ] {
        assert!(prompt.contains(part), "{part} is not in {prompt}");
    }
}

/// The first hands on before it has finished; what it writes after that, and what it says at the end, is for the next one too.
const HANDING_ON: &str = r#"
[[step]]
when = { env = "HANDOFF_TASK", is = "first" }
run = ["HANDOFF", "dump", "--task", "second", "--next", "Go on."]
[[step]]
when = { env = "HANDOFF_TASK", is = "first" }
write = { path = "half.txt", text = "half\n" }
[[step]]
when = { env = "HANDOFF_TASK", is = "first" }
run = ["HANDOFF", "done", "--summary", "The first half is there; the second needs care."]
[[step]]
when = { env = "HANDOFF_TASK", is = "second" }
run = ["sh", "-ec", "(cat half.txt; echo whole) > all.txt; cp \"$HANDOFF_PROMPT_FILE\" prompt.md"]
"#;

/// 2: a commit sweeps in what another session has staged.
fn a_commit_has_nothing_of_what_another_has_staged(stage: &Stage) {
    stage.repo.write("theirs", "staged").git(["add", "theirs"]);
    stage.repo.write("mine", "mine");
    stage.say("safe-commit -m mine mine").success();
    assert_eq!(stage.repo.changes_of("HEAD"), ["mine"]);
    let staged = stage.repo.git(["diff", "--cached", "--name-only"]);
    assert_eq!(staged.trim(), "theirs");
}

/// On the first attempt half of the work, and no end.
const CRASHING: &str = r#"
[[step]]
when = { env = "HANDOFF_FENCE", is = "1" }
write = { path = "half.txt", text = "half" }
[[step]]
when = { env = "HANDOFF_FENCE", is = "1" }
hang = true
[[step]]
run = ["sh", "-c", "cp \"$HANDOFF_PROMPT_FILE\" prompt.md; echo new > new.txt"]
"#;

/// 3: a session crashes in the middle, and the next one inherits what is half done.
fn a_session_that_crashes_leaves_the_next_a_proved_beginning(stage: &Stage) {
    stage
        .say("queue add fix --brief Fix. --verify true")
        .success();
    let script = stage.script("agent.toml", CRASHING);
    let words = ["worker", "--until-empty", "--script"].map(OsStr::new);
    let mut worker = stage.start(words.into_iter().chain([script.as_os_str()]));
    kill_holder(stage);
    assert_eq!(worker.line().split(':').next(), Some("fix is given back"));
    assert_eq!(worker.line(), "fix is done");
    // How it ended is what counts.
    assert_eq!(worker.code(), Some(0));
    let task = stage.json("queue show fix");
    let branch = branch(&task);
    assert_eq!(stage.repo.changes_of(&branch), ["new.txt", "prompt.md"]);
    let prompt = stage.repo.file_of(&branch, "prompt.md");
    assert!(prompt.contains("`half.txt`"), "{prompt}");
    let rescued = stage.json("rescue fix");
    let half = serde_json::json!(["half.txt"]);
    let saved = rescued["saved"].as_array().unwrap();
    // What was committed and has not landed is named beside it.
    assert!(saved.iter().any(|it| it["paths"] == half), "{rescued}");
}

/// Kills the process that holds the only session, when its agent has written.
fn kill_holder(stage: &Stage) {
    let trees = stage.env.handoff_home().join("worktrees");
    let session = loop {
        let list = stage.json("ps");
        let session = list["sessions"][0].clone();
        let tree = session["cwd"].as_str().map(std::path::PathBuf::from);
        let Some(tree) = tree else {
            std::thread::yield_now();
            continue;
        };
        assert!(tree.starts_with(&trees), "{}", tree.display());
        let mut written = Watch::on_directories(&[&tree]).unwrap();
        while !tree.join("half.txt").exists() {
            written.wait(Some(PATIENCE)).unwrap();
        }
        break session;
    };
    let mut kill = stage.env.command("kill");
    kill.args(["-9", &session["holder_pid"].to_string()]);
    stage.env.run(kill).success();
}

const MANIFEST: &str = r#"
schema_version = 2
batch_id = "spread"
fan_in_task = "merge"
[[sub_tasks]]
id = "one"
brief = "Write one."
file_ownership = ["one/"]
[[sub_tasks]]
id = "two"
brief = "Write two."
file_ownership = ["two/"]
[[sub_tasks]]
id = "greedy"
brief = "Write three."
file_ownership = ["three/"]
"#;

/// Each writes where it may, and one of them where it may not.
const SPREADING: &str = r#"
[[step]]
when = { env = "HANDOFF_TASK", is = "spread.one" }
write = { path = "one/new", text = "one" }
[[step]]
when = { env = "HANDOFF_TASK", is = "spread.two" }
write = { path = "two/new", text = "two" }
[[step]]
when = { env = "HANDOFF_TASK", is = "spread.greedy" }
write = { path = "one/stolen", text = "greedy" }
"#;

/// 4: one task is to become several, and nobody can bring them together.
fn one_task_becomes_several_and_comes_together(stage: &Stage) {
    stage.repo.write("batch.toml", MANIFEST);
    stage.say("dump --open-batch batch.toml").success();
    work(stage, SPREADING).failure(12);
    assert_eq!(stage.state("spread.greedy"), "blocked");
    assert_eq!(stage.state("merge"), "done");
    let branch = "refs/heads/handoff/spread";
    for part in ["one", "two"] {
        let text = stage.repo.file_of(branch, &format!("{part}/new"));
        assert_eq!(text, part);
    }
    assert_eq!(stage.repo.resolve(&format!("{branch}:one/stolen")), None);
    assert_eq!(stage.repo.git(["worktree", "list"]).lines().count(), 1);
    std::fs::remove_file(stage.repo.path().join("batch.toml")).unwrap();
    stage.say("land spread").success();
    assert_eq!(stage.repo.resolve("HEAD"), stage.repo.resolve(branch));
}

/// Sets context, commits by itself, looks, and asks for what it is not to know.
const ERRANDS: &str = r#"
[[step]]
run = ["sh", "-ec", """
test -z "$HANDOFF_STORE$PGPASSWORD"
handoff context set phase.plan '{"n":1}'
echo new > new.txt
handoff safe-commit -m 'new: by itself' new.txt
handoff queue show first --json > seen.json
"""]
"#;

/// The address of a server and its password are nobody's business in a session, and still what it does there is recorded.
fn a_session_reaches_the_ledger_without_knowing_the_way(stage: &Stage) {
    stage.add("first");
    let worked = work(stage, ERRANDS).success();
    assert_eq!(worked.stdout, "first is done\n");
    let task = stage.json("queue show first");
    let tip = branch(&task);
    let subjects = stage.repo.git(["log", "--format=%s", "-2", &tip]);
    assert!(subjects.contains("new: by itself"), "{subjects}");
    let seen: Value = serde_json::from_str(&stage.repo.file_of(&tip, "seen.json")).unwrap();
    assert_eq!(seen["name"], "first");
    let context = stage.json("context get phase.plan --task first");
    assert_eq!(context["value"], r#"{"n":1}"#);
}
