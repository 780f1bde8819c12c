//! What a person is told: before anybody works, at a gate, and of what was shared.

use std::ffi::OsStr;
use std::fs;

use super::{AGENT, Play};
use crate::pseudo_terminal;

#[test]
fn a_suite_that_does_not_run_is_told_before_anybody_works() {
    let play = Play::new();
    play.stage
        .repo
        .write("run-tests.sh", "echo 'no such runner'; exit 7\n");
    play.stage.repo.commit("a runner that is none");
    let told = play.run().failure(1);
    assert!(
        told.stdout
            .contains("no proof possible: the test suite does not run as it is")
            && told.stdout.contains("no such runner"),
        "{}",
        told.stdout
    );
    assert!(!play.has_told("# Your role"), "no session was begun for it");
    let run = play.stage.json("workflow status calc");
    assert_eq!(
        (&run["state"], &run["cause"]),
        (&"stopped".into(), &"no proof possible".into())
    );
}

#[test]
fn a_run_that_nobody_can_work_on_is_not_begun() {
    let play = Play::new();
    for (agent, why) in [
        ("", "which agent is to work?"),
        (" --agent nosuch", "no agent is called `nosuch`"),
    ] {
        let words = format!("workflow run tdd --goal Sums. --name calc{agent}");
        let refused = play.stage.say(&words);
        assert!(
            !refused.status.success() && refused.stderr.contains(why),
            "{}",
            refused.stderr
        );
    }
    assert_eq!(
        play.stage.json("workflow status")["runs"],
        serde_json::json!([])
    );
}

const ASKING: &str = r#"schema_version = 1
description = "One phase, one question."

[[phases]]
name = "paint"
role = "You paint."
prompt = "Paint it."
takes = ["context:colour"]
proof = "checks"
gate = "human"
ask = "Is it the right colour?"
next = "end"
"#;

#[test]
fn a_gate_shows_what_is_asked_and_what_changed() {
    let play = Play::new();
    let stage = &play.stage;
    stage.repo.write(".handoff/workflows/asking.toml", ASKING);
    stage.say("workflow trust asking --yes").success();
    stage
        .run(["context", "set", "colour", "\"blue\""])
        .success();
    play.act("paint", "echo blue > wall; \"$HANDOFF\" done");
    let script = stage.script("agent.toml", AGENT);
    let words = [
        "workflow", "run", "asking", "--goal", "A wall.", "--name", "wall", "--script",
    ];
    let words = words.map(OsStr::new);
    let told = stage
        .run(words.into_iter().chain([script.as_os_str()]))
        .failure(13);
    for said in [
        "Is it the right colour? `handoff approve wall`",
        "wall | 1 +",
        "+blue",
        "All of it: `git diff ",
    ] {
        assert!(told.stdout.contains(said), "{said}: {}", told.stdout);
    }
    assert!(play.has_told("What the project's context says of `colour`"));
    let again = stage.say("workflow status wall").success().stdout;
    assert!(
        again.contains("wall | 1 +") && again.contains("+blue"),
        "{again}"
    );
    stage.say("approve wall").success();
    assert_eq!(
        fs::read_to_string(stage.repo.path().join("wall")).ok(),
        None,
        "it is on its branch"
    );
}

const PAINTING: &str = r#"schema_version = 1
description = "Two phases, and nobody asks."

[[phases]]
name = "paint"
role = "You paint."
prompt = "Paint it."
proof = "checks"
next = "varnish"

[[phases]]
name = "varnish"
role = "You varnish."
prompt = "Varnish it."
proof = "checks"
next = "end"
"#;

/// Says something, and goes on when somebody has typed an answer at its terminal.
const PATIENT: &str = r#"
[[step]]
print = "May I begin?\n"

[[step]]
expect = "begin"

[[step]]
run = ["sh", "-eu", "-c", "phase=${HANDOFF_TASK##*-}; . \"$ACTS/$phase\""]
"#;

#[test]
fn a_person_sits_at_each_session_and_is_asked_between_two() {
    let play = Play::new();
    let stage = &play.stage;
    let path = ".handoff/workflows/painting.toml";
    stage.repo.write(path, PAINTING);
    stage.say("workflow trust painting --yes").success();
    play.act("paint", "date +%N > wall; \"$HANDOFF\" done");
    play.act("varnish", "echo shiny > shine; \"$HANDOFF\" done");
    let script = stage.script("agent.toml", PATIENT);
    let words = "workflow run painting --goal Walls. --name wall --interactive --script";
    let words = words.split(' ').map(OsStr::new);
    let words: Vec<_> = words.chain([script.as_os_str()]).collect();
    let alone = stage.run(&words).failure(2);
    assert!(
        alone.stderr.contains("there is no terminal"),
        "{}",
        alone.stderr
    );

    let seen = pseudo_terminal::converse(
        stage.command(&words),
        &[
            ("May I begin?", "begin\r"),
            ("Go on? [y]es", "n\n"),
            ("Why?", "not so bright\n"),
            ("May I begin?", "begin\r"),
            ("Go on? [y]es", "what?\n"),
            ("Go on? [y]es", "y\n"),
            ("May I begin?", "begin\r"),
            ("Go on? [y]es", "q\n"),
        ],
    );
    assert_eq!(seen.code, Some(13), "{}", seen.text);
    assert!(seen.text.contains("+shiny"), "{}", seen.text);
    assert!(play.has_told("> not so bright"));
    let run = stage.json("workflow status wall");
    assert_eq!(
        (&run["state"], &run["phase"]),
        (&"gated".into(), &"varnish".into())
    );

    let resume = stage.command("workflow resume wall".split(' '));
    let seen = pseudo_terminal::converse(resume, &[("Go on? [y]es", "y\n")]);
    assert_eq!(seen.code, Some(0), "{}", seen.text);
    assert_eq!(stage.json("workflow status wall")["state"], "done");
}

#[test]
fn a_session_gets_the_package_of_the_phase_before() {
    let play = Play::new();
    play.run().success();
    for said in [
        "# What the session before you left (calc.1-plan)",
        "> {\"summary\":\"planned\"}",
        "Proved by the tool: `next` with commit ",
        "# What the session before you left (calc.2-red)",
        "Proved by the tool: `red` with commit ",
        " for the test `adds` (1 tests pass, 1 fail, 0 are skipped)",
    ] {
        assert!(play.has_told(said), "{said}");
    }
    assert!(
        !play.has_told("# What phase `plan` handed over"),
        "once is enough"
    );
}

#[test]
fn a_feature_says_what_is_wanted() {
    let play = Play::new();
    let stage = &play.stage;
    stage.feature("sums", "- [ ] add\n");
    stage.repo.write(
        ".handoff/features/sums/FEATURE.md",
        "# Sums\n\nIt adds two numbers.\n",
    );
    let script = stage.script("agent.toml", AGENT);
    let run = |feature: &str| {
        let words = [
            "workflow",
            "run",
            "tdd",
            "--name",
            "calc",
            "--feature",
            feature,
            "--script",
        ];
        let words = words.map(OsStr::new);
        stage.run(words.into_iter().chain([script.as_os_str()]))
    };
    let unknown = run("none").failure(3);
    assert!(
        unknown.stderr.contains("there is no feature `none`"),
        "{}",
        unknown.stderr
    );
    run("sums").success();
    assert!(play.has_told("> It adds two numbers."));
    assert_eq!(play.steps(), super::ALL[..7]);
}

#[test]
fn the_schemas_of_a_workflow_are_published() {
    let play = Play::new();
    for name in ["tdd", "plan-build-review", "pipeline", "ralph"] {
        let document = play.stage.json(&format!("workflow show {name} --schemas"));
        let phases = document["phases"].as_array().unwrap();
        assert!(!phases.is_empty());
        for phase in phases {
            assert_eq!(
                phase["takes"]["properties"]["goal"]["type"], "string",
                "{phase}"
            );
            assert_eq!(phase["gives"]["type"], "object", "{phase}");
        }
    }
}

/// What a test asks for is to change: the plan names it, a person agrees, sees what became of it, and the rest stays.
#[test]
fn a_test_changes_on_purpose_when_a_person_agrees() {
    let play = Play::new();
    let stage = &play.stage;
    let plan = r#"
[ -e test-list.md ] || printf '%s\n' '- [ ] is called sums' '- [ ] tidy up' > test-list.md
if grep -q '\[x\] tidy' test-list.md; then echo '{"summary":"all done"}'
elif grep -q '\[x\] is called' test-list.md; then echo '{"summary":"tidy","kind":"restructure"}'
else echo '{"summary":"another name","kind":"fix","alters":["old"]}'; fi | "$HANDOFF" done --result -
"#;
    play.act("plan", plan);
    let red = "echo '. ./calc.sh; [ \"$(name)\" = sums ] || { echo assertion; exit 1; }' > tests/old.sh; \
               echo '{\"test\":\"old\"}' | \"$HANDOFF\" done --result -";
    play.act("red", red);
    let green = "sed -i 's/echo calc/echo sums/' calc.sh; echo '{\"summary\":\"s\"}' | \"$HANDOFF\" done --result -";
    play.act("green", green);
    let told = play.run().failure(13);
    let asked =
        "Tests that were there before are to ask for something else: `old`. Is that wanted?";
    assert!(told.stdout.contains(asked), "{}", told.stdout);
    assert!(
        play.has_told("> old: passes"),
        "whoever plans knows what is there"
    );
    let script = stage.script("agent.toml", AGENT);
    let words = ["workflow", "resume", "calc", "--script"].map(OsStr::new);
    let resume = || stage.run(words.into_iter().chain([script.as_os_str()]));
    stage.say("approve calc").success();
    let told = resume().failure(13);
    assert!(told.stdout.contains("= sums ]"), "{}", told.stdout);
    assert!(play.has_told("# The tests that are to ask for something else"));
    stage.say("approve calc").success();
    resume().success();
    let steps = [
        "plan next",
        "red red",
        "green done",
        "refactor done",
        "plan restructure",
        "refactor done",
        "plan complete",
    ];
    assert_eq!(play.steps(), steps);
    let subjects = stage
        .repo
        .git(["log", "--format=%s", "--reverse", "HEAD..handoff/calc"]);
    assert!(subjects.contains("fix: is called sums"), "{subjects}");
}
