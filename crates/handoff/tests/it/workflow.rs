//! Runs of workflows with the built-in agent, real git and a real test suite.

mod fan_out;
mod inline_tests;
mod other_clone;
mod people;
mod referee_sandbox;

use std::ffi::OsStr;
use std::fs;

use handoff_testkit::Output;

use crate::stage::Stage;

/// A suite without a runner of its own: each file below `tests/` is a test.
const RUNNER: &str = r#"echo "TAP version 13"
n=0
for t in tests/*.sh; do
  [ -e "$t" ] || continue
  n=$((n + 1)); name=$(basename "$t" .sh)
  if grep -q '^# SKIP' "$t"; then echo "ok $n - $name # SKIP"; continue; fi
  if said=$(sh "$t" 2>&1); then echo "ok $n - $name"
  else echo "not ok $n - $name"; printf '  ---\n  error: %s\n  ...\n' "$said"; fi
done
echo "1..$n"
"#;

const SUITE: &str = r#"
[tests]
command = "sh run-tests.sh"
format = "tap"
paths = ["tests/"]
config = ["run-tests.sh"]
"#;

/// Plays each phase from a shell script that lies outside of the repository: `plan`, `red`, `green`, `refactor`.
const AGENT: &str = r#"
[[step]]
run = ["sh", "-eu", "-c", "phase=${HANDOFF_TASK##*-}; . \"$ACTS/$phase\""]
"#;

const PLAN: &str = r#"
[ -e test-list.md ] || printf '%s\n' '- [ ] adds two numbers' '- [ ] knows its name' > test-list.md
echo '{"summary":"planned"}' | "$HANDOFF" done --result -
"#;

/// The second line of the list asks for what is there already.
const RED: &str = r#"
if [ -e tests/adds.sh ]; then
  echo '. ./calc.sh; [ "$(name)" = calc ]' > tests/name.sh
  echo '{"test":"name"}' | "$HANDOFF" done --result -
else
  mkdir -p tests
  echo '. ./calc.sh; [ "$(add 1 2)" = 3 ] || { echo assertion; exit 1; }' > tests/adds.sh
  echo '{"test":"adds"}' | "$HANDOFF" done --result -
fi
"#;

const GREEN: &str = r#"
echo 'add() { echo $(($1 + $2)); }' >> calc.sh
echo '{"summary":"adds"}' | "$HANDOFF" done --result -
"#;

const REFACTOR: &str = r#"
echo '{"summary":"nothing needed it"}' | "$HANDOFF" done --result -
"#;

struct Play {
    stage: Stage,
}

impl Play {
    fn new() -> Self {
        let mut stage = Stage::new();
        stage.repo.write("run-tests.sh", RUNNER);
        stage.repo.write(
            "calc.sh",
            "name() { echo calc; }\ntwice() { echo $(($1 * 2)); }\n",
        );
        stage
            .repo
            .write("tests/old.sh", ". ./calc.sh; [ \"$(name)\" = calc ]\n");
        stage.repo.commit("a calculator");
        let raw = stage.say("workflow show tdd --raw").success().stdout;
        let (head, phases) = raw.split_at(raw.find("[[phases]]").expect("it has phases"));
        stage.repo.write(
            ".handoff/workflows/tdd.toml",
            format!("{head}{SUITE}\n{phases}"),
        );
        stage.say("workflow trust tdd --yes").success();
        let acts = stage.env.work().join("acts");
        fs::create_dir(&acts).expect("the directory is ours");
        stage.env.set("ACTS", &acts);
        stage.env.set("HANDOFF", env!("CARGO_BIN_EXE_handoff"));
        let play = Self { stage };
        for (phase, act) in [
            ("plan", PLAN),
            ("red", RED),
            ("green", GREEN),
            ("refactor", REFACTOR),
        ] {
            play.act(phase, act);
        }
        play
    }

    fn act(&self, phase: &str, act: &str) {
        fs::write(self.stage.env.work().join("acts").join(phase), act).expect("it is there");
    }

    /// The phase cheats in these ways, one after the other; when it has read why each was refused, it behaves.
    fn cheat(&self, phase: &str, cheats: &[Cheat<'_>], honest: &str) {
        let later = cheats.iter().skip(1).map(|it| it.act).chain([honest]);
        let ways: String = { cheats.iter().zip(later) }
            .map(|(cheat, then)| {
                let why = cheat.why;
                format!("if grep -qF '{why}' \"$HANDOFF_PROMPT_FILE\"; then :\n{then}\nel")
            })
            .collect();
        let act = format!("{ways}se :\n{}\nfi\n", cheats[0].act);
        self.act(phase, &act);
    }

    /// Whether a session was told this.
    fn has_told(&self, why: &str) -> bool {
        let sessions = fs::read_dir(self.stage.env.handoff_home().join("sessions"));
        let prompts = sessions.into_iter().flatten().flatten();
        let mut prompts =
            prompts.filter_map(|it| fs::read_to_string(it.path().join("prompt.md")).ok());
        prompts.any(|it| it.contains(why))
    }

    fn run(&self) -> Output {
        let script = self.stage.script("agent.toml", AGENT);
        let words = [
            "workflow",
            "run",
            "tdd",
            "--goal",
            "A calculator.",
            "--name",
            "calc",
            "--script",
        ];
        let words = words.map(OsStr::new);
        self.stage
            .run(words.into_iter().chain([script.as_os_str()]))
    }

    fn steps(&self) -> Vec<String> {
        let run = self.stage.json("workflow status calc");
        let steps = run["steps"].as_array().expect("a list");
        let told = steps
            .iter()
            .map(|it| format!("{} {}", it["phase"], it["outcome"]).replace('"', ""));
        told.collect()
    }
}

const ALL: [&str; 8] = [
    "plan next",
    "red red",
    "green done",
    "refactor done",
    "plan next",
    "red covered",
    "plan complete",
    "",
];

#[test]
fn a_list_of_tests_is_worked_off_one_by_one() {
    let play = Play::new();
    // A git that was killed as it wrote a note, or moved the branch, leaves this.
    for name in ["notes/handoff.lock", "heads/handoff/calc.lock"] {
        play.stage.repo.write(format!(".git/refs/{name}"), "");
    }
    play.run().success();
    assert_eq!(play.steps(), ALL[..7]);
    let stage = &play.stage;
    let list = stage
        .repo
        .file_of("refs/heads/handoff/calc", "test-list.md");
    assert_eq!(list, "- [x] adds two numbers\n- [x] knows its name\n");
    let subjects = stage
        .repo
        .git(["log", "--format=%s", "--reverse", "HEAD..handoff/calc"]);
    assert_eq!(
        subjects.lines().collect::<Vec<_>>(),
        [
            "plan: A calculator.",
            "test: adds two numbers",
            "feat: adds two numbers",
            "plan: A calculator.",
            "test: knows its name",
            "plan: A calculator.",
        ]
    );
    let note = stage.repo.git([
        "notes",
        "--ref=handoff",
        "show",
        "refs/handoff/run/calc/003-green",
    ]);
    let phases: Vec<_> = { note.lines() }
        .map(|it| serde_json::from_str::<serde_json::Value>(it).unwrap()["phase"].clone())
        .collect();
    assert_eq!(
        phases,
        ["green", "refactor"],
        "one that changed nothing overwrites nothing"
    );
    assert_eq!(
        stage
            .repo
            .git(["status", "--porcelain", "--untracked-files=no"]),
        ""
    );
    assert_eq!(stage.repo.git(["worktree", "list"]).lines().count(), 1);
    stage.say("doctor --audit").success();
    stage.repo.fsck();
}

/// A person agrees to a plan, or says why not; one who looks at the branch keeps it where it is.
#[test]
fn a_gate_waits_for_a_person() {
    let play = Play::new();
    let stage = &play.stage;
    play.act(
        "plan",
        "echo '{\"summary\":\"p\",\"steps\":[\"one\"]}' | \"$HANDOFF\" done --result -",
    );
    play.act(
        "build",
        "echo built > built; echo '{\"summary\":\"b\"}' | \"$HANDOFF\" done --result -",
    );
    play.act(
        "review",
        "echo '{\"outcome\":\"approved\",\"summary\":\"r\"}' | \"$HANDOFF\" done --result -",
    );
    let script = stage.script("agent.toml", AGENT);
    let words = [
        "workflow",
        "run",
        "plan-build-review",
        "--goal",
        "G",
        "--name",
        "pbr",
        "--script",
    ];
    let go = |words: &[&str]| {
        let words = words.iter().map(OsStr::new);
        stage.run(words.chain([script.as_os_str()]))
    };
    go(&words).failure(13);
    stage
        .run(["reject", "pbr", "--reason", "too vague"])
        .success();
    go(&["workflow", "resume", "pbr", "--script"]).failure(13);
    assert!(play.has_told("> too vague"));
    stage.repo.git(["checkout", "--quiet", "handoff/pbr"]);
    let before = stage.repo.head();
    stage.say("approve pbr").success();
    stage.say("approve pbr").failure(4);
    go(&["workflow", "resume", "pbr", "--script"]).success();
    assert_eq!(stage.repo.head(), before);
    let run = stage.json("workflow status pbr");
    assert_eq!(run["state"], "done");
    assert_eq!(
        stage
            .repo
            .file_of("refs/handoff/run/pbr/002-build", "built"),
        "built\n"
    );
}

/// A way to cheat, and why it is refused.
struct Cheat<'a> {
    act: &'a str,
    why: &'a str,
}

const SAY_DONE: &str = "echo '{\"summary\":\"x\"}' | \"$HANDOFF\" done --result -";
const SAY_RED: &str = "echo '{\"test\":\"adds\"}' | \"$HANDOFF\" done --result -";

/// Both phases cheat, are refused each time with the reason, and the run comes to its end all the same.
fn refused(red: &[Cheat<'_>], green: &[Cheat<'_>]) {
    let play = Play::new();
    play.act("plan", &PLAN.replace(" '- [ ] knows its name'", ""));
    play.cheat("red", red, RED);
    play.cheat("green", green, GREEN);
    play.run().success();
    let steps = [
        "plan next",
        "red red",
        "green done",
        "refactor done",
        "plan complete",
    ];
    assert_eq!(play.steps(), steps);
    for cheat in red.iter().chain(green) {
        assert!(play.has_told(cheat.why), "{}", cheat.why);
    }
}

#[test]
fn nobody_touches_what_is_not_theirs() {
    let breaks = RED.replace(
        "mkdir -p tests",
        "mkdir -p tests; echo 'name() { echo x; }' > calc.sh",
    );
    let damage = "sed -i 's/[*] 2/* 0/' calc.sh; mkdir -p tests; \
        echo '. ./calc.sh; [ \"$(twice 2)\" = 4 ] || { echo assertion; exit 1; }' > tests/adds.sh; \
        echo '{\"test\":\"adds\",\"stubs\":[\"calc.sh\"]}' | \"$HANDOFF\" done --result -";
    let red = [
        Cheat {
            act: &breaks,
            why: "changed `calc.sh`",
        },
        Cheat {
            act: damage,
            why: "passes on the code as it was",
        },
    ];
    let test = format!("echo true > tests/adds.sh; {SAY_DONE}");
    let runner = format!(
        "echo 'echo TAP version 13; echo ok 1 - adds; echo 1..1' > run-tests.sh; {SAY_DONE}"
    );
    let green = [
        Cheat {
            act: &test,
            why: "changed `tests/adds.sh`",
        },
        Cheat {
            act: &runner,
            why: "changed `run-tests.sh`",
        },
    ];
    refused(&red, &green);
}

#[test]
fn nobody_is_believed() {
    let two = RED.replace(
        "> tests/adds.sh",
        "> tests/adds.sh; cp tests/adds.sh tests/more.sh",
    );
    let red = [
        Cheat {
            act: SAY_RED,
            why: "no test called `adds` ran",
        },
        Cheat {
            act: &two,
            why: "`more` came with it",
        },
    ];
    let idle = format!("echo '# I tried.' >> calc.sh; {SAY_DONE}");
    let green = [
        Cheat {
            act: "\"$HANDOFF\" done",
            why: "handed over no result",
        },
        Cheat {
            act: &idle,
            why: "`adds` still fails",
        },
    ];
    refused(&red, &green);
}

#[test]
fn no_progress_stops_and_says_so() {
    let play = Play::new();
    play.act("plan", "\"$HANDOFF\" done");
    let output = play.run().failure(1);
    assert!(
        output.stdout.contains("makes no progress"),
        "{}",
        output.stdout
    );
    let run = play.stage.json("workflow status calc");
    assert_eq!(
        (&run["state"], &run["phase"]),
        (&"stopped".into(), &"plan".into())
    );
    play.act("plan", PLAN);
    play.stage.say("workflow retry calc").success();
    let script = play.stage.script("agent.toml", AGENT);
    let words = ["workflow", "resume", "calc", "--script"].map(OsStr::new);
    play.stage
        .run(words.into_iter().chain([script.as_os_str()]))
        .success();
    assert_eq!(play.steps(), ALL[..7]);
}

#[test]
fn commands_of_a_repository_run_when_a_person_said_so() {
    let play = Play::new();
    let path = ".handoff/workflows/tdd.toml";
    let text = fs::read_to_string(play.stage.repo.path().join(path)).unwrap();
    play.stage
        .repo
        .write(path, text.replace("run-tests.sh", "other.sh"));
    let output = play.run().failure(9);
    assert!(
        output.stderr.contains("are not trusted"),
        "{}",
        output.stderr
    );
    assert_eq!(
        play.stage.json("workflow status")["runs"],
        serde_json::json!([])
    );
}
