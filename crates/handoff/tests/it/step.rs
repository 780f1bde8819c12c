//! `handoff step` and `handoff next`: the plan, changed and read by command.

use std::fs;
use std::path::PathBuf;

use insta::assert_snapshot;

use crate::stage::Stage;

const PLAN: &str =
    "- [x] Read the code\n- [>] Write the parser\n  Keep every byte.\n- [ ] Write the tests\n";

fn stage() -> Stage {
    let stage = Stage::new();
    stage.feature("login", PLAN);
    stage
}

fn state_file(stage: &Stage) -> PathBuf {
    stage.repo.path().join(".handoff/features/login/STATE.md")
}

fn state(stage: &Stage) -> String {
    fs::read_to_string(state_file(stage)).unwrap()
}

/// The types of the events that the ledger has, oldest first.
fn events(stage: &Stage) -> Vec<String> {
    let lines = stage.say("events --json").success().stdout;
    let types = lines.lines().map(|line| {
        let event: serde_json::Value = serde_json::from_str(line).unwrap();
        event["event"]["type"].as_str().unwrap().to_owned()
    });
    types.filter(|it| it.starts_with("step")).collect()
}

#[test]
fn a_step_that_is_done_makes_the_next_one_current() {
    let stage = stage();
    assert_snapshot!(stage.say("step done 2").snapshot(), @"
    exit status: 0
    --- stdout ---
    Step 2 is done: Write the parser
    Step 3 is current: Write the tests
    ");
    assert_snapshot!(state(&stage), @"
    # Current Step

    Write the tests

    # Execution Plan

    - [x] Read the code
    - [x] Write the parser
      Keep every byte.
    - [>] Write the tests
    ");
    assert_snapshot!(stage.say("step done 2").snapshot(), @"
    exit status: 0
    --- stdout ---
    Step 2 is already done: Write the parser
    Step 3 is current: Write the tests
    ");
    assert_eq!(events(&stage), ["step_finished"]);
}

#[test]
fn the_next_step_can_be_left_alone() {
    let stage = stage();
    stage.say("step done 2 --no-next").success();
    assert!(state(&stage).contains("- [ ] Write the tests"));
}

#[test]
fn a_step_is_started_by_the_beginning_of_its_text() {
    let stage = stage();
    let started = stage.run(["step", "start", "write the t", "--json"]);
    assert_snapshot!(started.snapshot(), @r#"
    exit status: 0
    --- stdout ---
    {"schema":"handoff.step/1","feature":"login","step":{"number":3,"line":10,"depth":0,"state":"current","title":"Write the tests","reason":null,"notes":[]},"is_repeat":false,"plan":{"verdict":"ready","done":1,"total":3,"current":{"number":3,"line":10,"depth":0,"state":"current","title":"Write the tests","reason":null,"notes":[]}}}
    "#);
    assert!(state(&stage).contains("- [ ] Write the parser"));
}

#[test]
fn a_blocked_step_says_why_and_starting_it_unblocks_it() {
    let stage = stage();
    let before = state(&stage);
    let blocked = stage.run(["step", "block", "2", "--reason", "No grammar yet."]);
    assert_snapshot!(blocked.snapshot(), @"
    exit status: 0
    --- stdout ---
    Step 2 is blocked: Write the parser
    Step 3 is current: Write the tests
    ");
    assert!(state(&stage).contains("- [!] Write the parser\n  blocked: No grammar yet.\n  Keep"));
    stage.say("step start 2").success();
    assert_eq!(state(&stage), before.replace("None.", "Write the parser"));
    assert_eq!(events(&stage), ["step_blocked", "step_started"]);
}

#[test]
fn a_step_is_added_at_the_end_or_behind_another() {
    let stage = stage();
    stage.run(["step", "add", "Ship it"]).success();
    let added = stage.run(["step", "add", "Draw it", "--after", "read"]);
    assert_snapshot!(added.snapshot(), @"
    exit status: 0
    --- stdout ---
    Step 2 is new: Draw it
    Step 3 is current: Write the parser
    ");
    assert_snapshot!(stage.run(["step", "add", "Ship it"]).snapshot(), @"
    exit status: 4
    --- stderr ---
    error: step 5 says the same and is not done
    hint: work on that one: `handoff step start 5`
    ");
}

#[test]
fn the_first_step_takes_the_place_of_the_scaffold() {
    let stage = Stage::new();
    stage.say("init login").success();
    assert_snapshot!(stage.say("step done 1").snapshot(), @"
    exit status: 3
    --- stderr ---
    error: there is no step in the plan yet
    hint: have the plan made: `handoff tasks`; or add a step: `handoff step add TEXT`
    ");
    stage.run(["step", "add", "Begin"]).success();
    assert!(state(&stage).contains("# Execution Plan\n\n- [ ] Begin\n\n# Completed Steps"));
}

#[test]
fn a_step_that_is_not_there_or_not_clear_is_refused_and_nothing_changes() {
    let stage = stage();
    let before = state(&stage);
    assert_snapshot!(stage.say("step done tests").snapshot(), @r#"
    exit status: 3
    --- stderr ---
    error: there is no step "tests"
    hint: name it by its number: 3 is Write the tests
    "#);
    assert_snapshot!(stage.say("step start write").snapshot(), @r#"
    exit status: 2
    --- stderr ---
    error: "write" begins more than one step
    hint: name it by its number: 2 is Write the parser
    hint: name it by its number: 3 is Write the tests
    "#);
    assert_snapshot!(stage.say("step block 1 --reason x").snapshot(), @"
    exit status: 4
    --- stderr ---
    error: step 1 is done
    hint: open it again first: `handoff step start 1`
    ");
    stage.say("step block 2").failure(2);
    stage.say("step done").failure(2);
    stage.run(["step", "add", "two\nlines"]).failure(2);
    stage.say("step done 2 --feature nope").failure(3);
    assert_eq!(state(&stage), before);
    assert_eq!(events(&stage), [""; 0]);
}

#[test]
fn a_plan_with_a_conflict_in_it_is_not_edited() {
    let stage = stage();
    fs::write(
        state_file(&stage),
        format!("# Execution Plan\n<<<<<<< HEAD\n{PLAN}"),
    )
    .unwrap();
    assert_snapshot!(stage.say("step done 2").snapshot(), @"
    exit status: 10
    --- stderr ---
    error: the plan cannot be edited: line 2: a merge conflict is not resolved
    hint: see all that is wrong: `handoff validate`
    ");
}

#[test]
fn another_feature_is_edited_from_a_sub_directory() {
    let stage = stage();
    stage.feature("search", "- [ ] Index\n");
    stage.repo.write("src/deep/a.rs", "");
    let deep = stage.repo.path().join("src/deep");
    let words = ["step", "done", "2", "--feature", "login"];
    stage.env.handoff_in(&deep, words).success();
    assert!(state(&stage).contains("- [x] Write the parser"));
}

#[test]
fn next_says_the_one_next_action() {
    let stage = stage();
    assert_snapshot!(stage.say("next").snapshot(), @"
    exit status: 0
    --- stdout ---
    Step 2: Write the parser
      Keep every byte.
    --- stderr ---
    Then: `handoff step done 2`
    ");
    stage.feature("login", "- [x] One\n");
    assert_snapshot!(stage.say("next").snapshot(), @"
    exit status: 0
    --- stdout ---
    All steps are done. Check the work, and put the feature away.
    --- stderr ---
    Then: `handoff archive login`
    ");
    stage.feature("login", "- [x] One\n- [!] Two\n  blocked: no key\n");
    assert_snapshot!(stage.say("next").snapshot(), @"
    exit status: 0
    --- stdout ---
    Only blocked steps remain. Find out what unblocks one, then start it.
    Step 2 is blocked: Two (no key)
    --- stderr ---
    Then: `handoff step start STEP`
    ");
    stage.feature("login", "- [~] One \u{1b}[2J\n");
    assert_snapshot!(stage.say("next").snapshot(), @"
    exit status: 0
    --- stdout ---
    Put the plan right. `STATE.md` line 7: step 1 has the box `[~]`; it can be `[ ]`, `[>]`, `[x]` or `[!]`
    --- stderr ---
    Then: `handoff validate`
    ");
}

#[test]
fn next_without_a_plan_asks_for_the_goal_and_then_for_the_plan() {
    let stage = Stage::new();
    stage.say("init login").success();
    assert_snapshot!(stage.say("next").snapshot(), @"
    exit status: 0
    --- stdout ---
    Write the goal into `.handoff/features/login/FEATURE.md`.
    ");
    stage
        .repo
        .write(".handoff/features/login/FEATURE.md", "# Goal\n\nLog in.\n");
    assert_snapshot!(stage.say("next --json").snapshot(), @r#"
    exit status: 0
    --- stdout ---
    {"schema":"handoff.next/1","feature":"login","action":"There is no plan yet. Have it made.","command":"handoff start","plan":{"verdict":"not_initialised","done":0,"total":0,"current":null},"blocked":[]}
    "#);
}

#[test]
fn many_writers_at_once_lose_nothing() {
    let stage = stage();
    let commands = (0..20).flat_map(|number| {
        [
            [
                "step".to_owned(),
                "add".to_owned(),
                format!("Step {number}."),
            ]
            .to_vec(),
            ["note".to_owned(), format!("Note {number}.")].to_vec(),
        ]
    });
    let mut running: Vec<_> = commands.map(|words| stage.start(words)).collect();
    for process in &mut running {
        assert_eq!(process.code(), Some(0));
    }
    let notes = stage.repo.path().join(".handoff/features/login/SESSION.md");
    let (state, notes) = (state(&stage), fs::read_to_string(notes).unwrap());
    for number in 0..20 {
        assert!(
            state.contains(&format!("- [ ] Step {number}.\n")),
            "{state}"
        );
        assert!(notes.contains(&format!("- Note {number}.\n")), "{notes}");
    }
    assert_eq!(events(&stage).len(), 20);
}
