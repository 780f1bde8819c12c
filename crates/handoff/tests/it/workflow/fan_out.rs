//! A phase that is split into a batch, end to end: the batch is opened, its results are judged, and the run goes on with them.

use std::ffi::OsStr;

use handoff_testkit::Output;

use super::{AGENT, Play, SUITE};

const PHASES: &str = r#"
[[phases]]
name = "plan"
role = "You split the work."
prompt = "Split it."
may = ["batch.toml"]
proof = "checks"

[phases.next.done]
fan_out = "file:batch.toml"
join = "look"

[[phases]]
name = "look"
role = "You look."
prompt = "Look."
may = ["look.md"]
proof = "same"
next = "end"
"#;

/// Each part ends at its own file; the second one also spoils a test that passed.
const BATCH: &str = r#"
schema_version = 2
batch_id = "bb"
fan_in_task = "together"
[[sub_tasks]]
id = "one"
brief = "Write one."
file_ownership = ["one"]
[[sub_tasks]]
id = "two"
brief = "Write two."
file_ownership = ["two", "calc.sh"]
"#;

const SAY: &str = "\"$HANDOFF\" done";

fn play() -> Play {
    let play = Play::new();
    let stage = &play.stage;
    stage.repo.write(
        ".handoff/workflows/split.toml",
        format!("schema_version = 1\ndescription = \"d\"\n{SUITE}\n{PHASES}"),
    );
    stage.say("workflow trust split --yes").success();
    play.act("plan", &format!("cat > batch.toml <<'E'\n{BATCH}E\n{SAY}"));
    play.act("bb.one", &format!("echo 1 > one; {SAY}"));
    play.act("bb.two", &format!("echo 2 > two; {SAY}"));
    play.act("together", SAY);
    play.act("look", SAY);
    play
}

impl Play {
    fn go(&self, words: &[&str]) -> Output {
        let script = self.stage.script("agent.toml", AGENT);
        let words = words.iter().map(OsStr::new);
        let words = [OsStr::new("workflow")].into_iter().chain(words);
        self.stage
            .run(words.chain([OsStr::new("--script"), script.as_os_str()]))
    }

    fn begin(&self) -> Output {
        self.go(&["run", "split", "--goal", "G", "--name", "calc"])
    }
}

/// What is wrong with a batch is told to the next attempt; a part that spoils what worked is left out of the results.
#[test]
fn a_phase_is_split_and_its_parts_are_joined() {
    let play = play();
    let stage = &play.stage;
    let wrong = BATCH.replace("\"two\", \"calc.sh\"", "\"one\"");
    let wrong = format!("cat > batch.toml <<'E'\n{wrong}E\n{SAY}");
    let right = format!("cat > batch.toml <<'E'\n{BATCH}E\n{SAY}");
    play.act(
        "plan",
        &format!(
            "if grep -qF 'not accepted' \"$HANDOFF_PROMPT_FILE\"; then {right}\nelse {wrong}\nfi"
        ),
    );
    play.act(
        "bb.two",
        &format!("echo 2 > two; echo 'name() {{ echo x; }}' > calc.sh; {SAY}"),
    );
    play.begin().success();
    assert_eq!(play.steps(), ["plan done", "plan joined", "look done"]);
    assert!(play.has_told("overlap, for example at `one`"));
    assert!(
        play.has_told("The check fails with two"),
        "whoever judges is told"
    );
    let head = "refs/heads/handoff/calc";
    assert_eq!(stage.repo.file_of(head, "one"), "1\n");
    let files = stage.repo.git(["ls-tree", "--name-only", head]);
    assert!(!files.lines().any(|it| it == "two"), "{files}");
    assert!(stage.repo.file_of(head, "calc.sh").contains("echo calc"));
    assert_eq!(stage.repo.git(["worktree", "list"]).lines().count(), 1);
    stage.say("doctor --audit").success();
}

/// What lacks a part goes on when a person says so; called off, the run takes its batch along.
#[test]
fn a_person_decides_about_missing_parts() {
    let play = play();
    let stage = &play.stage;
    play.act("bb.two", "\"$HANDOFF\" block --reason 'which colour?'");
    let asked = play.begin().failure(13);
    assert!(
        asked.stdout.contains("lack the parts two"),
        "{}",
        asked.stdout
    );
    stage.say("approve calc").success();
    play.go(&["resume", "calc"]).success();
    assert_eq!(play.steps(), ["plan done", "plan degraded", "look done"]);

    let run = ["run", "split", "--goal", "G", "--name", "later", "--detach"];
    play.go(&run).success();
    stage.say("worker --once").failure(2);
    let script = stage.script("agent.toml", AGENT);
    let once = ["worker", "--once", "--script"].map(OsStr::new);
    stage
        .run(once.into_iter().chain([script.as_os_str()]))
        .success();
    let status = stage.json("workflow status later");
    assert_eq!(status["state"], "fanned-out");
    assert_eq!(status["batch"]["parts"], 2);
    stage.say("workflow cancel later").success();
    assert_eq!(stage.json("batch show bb")["state"], "cancelled");
}
