//! `continue`: what it refuses, what it tells, and how much of it.

use insta::assert_snapshot;

use crate::stage::Stage;

fn stage(steps: &str) -> Stage {
    let stage = Stage::new();
    stage.repo.write("code", "1").commit("first");
    stage.feature("tables", steps);
    stage
}

#[test]
fn a_feature_without_a_plan_is_begun_and_not_continued() {
    assert_snapshot!(stage("Nothing yet.\n").say("continue").snapshot(), @"
    exit status: 4
    --- stderr ---
    error: the feature `tables` has no plan to continue
    hint: see what comes first: `handoff next`
    ");
}

#[test]
fn several_current_steps_are_named_by_their_lines() {
    assert_snapshot!(stage("- [>] one\n- [>] two\n").say("continue").snapshot(), @"
    exit status: 4
    --- stderr ---
    error: the plan of `tables` cannot be followed as it is
      because STATE.md:8: step 2 is marked as current, and so is step 1
    hint: see all of it: `handoff validate`
    ");
}

#[test]
fn when_nothing_remains_there_is_nothing_to_continue() {
    assert_snapshot!(stage("- [x] one\n").say("continue").snapshot(), @"
    exit status: 4
    --- stderr ---
    error: every step of `tables` is done
    hint: prove it: `handoff verify --run`; more to do: `handoff step add TEXT`
    hint: put it away when it is finished: `handoff archive tables`
    ");
}

#[test]
fn when_only_blocked_steps_remain_somebody_has_to_answer() {
    let stage = stage("- [!] one\n  blocked: why?\n");
    assert_snapshot!(stage.say("continue").snapshot(), @"
    exit status: 4
    --- stderr ---
    error: only blocked steps of `tables` remain
    hint: see what is missing: `handoff status`; then `handoff step start STEP`
    hint: the prompt anyway: `handoff prompt continue`
    ");
    let prompt = stage.say("prompt continue --raw").success();
    assert!(prompt.stdout.contains("> one; why?"), "{}", prompt.stdout);
}

#[test]
fn the_prompt_tells_where_the_last_session_was() {
    let stage = stage("- [>] saw the boards\n- [ ] glue them\n");
    stage.checks("test = 'true'\n");
    stage
        .repo
        .write(".handoff/features/tables/FEATURE.md", "Make a table.\n");
    stage
        .run(["decide", "oak", "--because", "it is hard"])
        .success();
    stage
        .run(["note", "glue before sanding", "--dead-end"])
        .success();
    stage.say("verify --run").success();
    stage.say("step done 1").success();
    stage.repo.write("half.txt", "half");
    let prompt = stage.say("continue --raw").success();
    assert_eq!(prompt.stderr, "");
    for part in [
        "**dirty: 1 file not committed.**",
        "- not committed > half.txt",
        "Step 2 of 2, 1 done:\n- step 2, STATE.md:8 > glue them",
        "> Make a table.",
        "> oak because: it is hard",
        "> glue before sanding",
        "- verified by `true` at ",
    ] {
        assert!(
            prompt.stdout.contains(part),
            "{part}\n---\n{}",
            prompt.stdout
        );
    }
}

#[test]
fn a_long_plan_fits_the_budget() {
    let steps: String = (1..=200)
        .map(|n| format!("- [x] step number {n} of the plan\n"))
        .collect();
    let stage = stage(&format!("{steps}- [>] the last one\n"));
    let prompt = |words: &str| stage.say(words).success().stdout.len();
    assert!(prompt("continue --raw") < 2000 * 4);
    assert!(prompt("continue --raw --budget 8000") > 2000 * 4);
    assert_eq!(stage.say("continue --budget 7").code(), Some(2));
}

#[test]
fn an_edit_by_hand_is_noticed() {
    let stage = stage("- [>] one\n- [ ] two\n");
    stage.say("checkpoint").success();
    let path = ".handoff/features/tables/STATE.md";
    let plan = stage.repo.read(path).unwrap();
    stage.repo.write(
        path,
        plan.replace("- [>] one\n- [ ] two", "- [x] one\n- [>] two"),
    );
    let prompt = stage.say("continue --raw").success();
    assert!(
        prompt
            .stdout
            .contains("STATE.md` was edited since that record")
    );
    assert!(prompt.stdout.contains("- unverified: step 1"));
}

#[test]
fn without_git_it_works_and_says_what_it_cannot_know() {
    let stage = Stage::new();
    let place = stage.env.root().join("plain");
    std::fs::create_dir(&place).unwrap();
    let run = |args: &[&str]| stage.env.handoff_in(&place, args).success();
    run(&["init", "tables"]);
    run(&["step", "add", "saw the boards"]);
    let prompt = run(&["continue", "--raw"]);
    assert!(
        prompt
            .stdout
            .contains("unknown: there is no git repository here")
    );
    assert!(prompt.stdout.contains("> saw the boards"));
}

#[test]
fn a_note_does_not_make_a_plan_current_that_is_not() {
    let stage = stage("- [>] one\n- [ ] two\n");
    stage.say("ignore").success();
    stage.say("step done 1").success();
    stage.repo.write("code", "2").commit("second");
    stage.say("note hello").success();
    let prompt = stage.say("continue --raw").success();
    assert!(
        prompt.stdout.contains("**ahead by 1 commit.**"),
        "{}",
        prompt.stdout
    );
}

#[test]
fn a_feature_that_is_made_again_has_none_of_the_proof_of_the_old_one() {
    let stage = stage("- [>] one\n- [ ] two\n");
    stage.checks("test = 'true'\n");
    for away in ["archive tables", "clean --force"] {
        stage.say("verify --run").success();
        stage.say("step done 1").success();
        assert!(stage.say("continue --raw").stdout.contains("- verified by"));
        stage.say(away).success();
        stage.feature("tables", "- [x] one\n- [>] two\n");
        let prompt = stage.say("continue --raw").success();
        assert!(
            prompt.stdout.contains("- unverified: step 1"),
            "{away}: {}",
            prompt.stdout
        );
        stage.feature("tables", "- [>] one\n- [ ] two\n");
    }
}

#[test]
fn where_the_work_began_is_known_without_any_command_of_the_agent() {
    let stage = stage("Nothing yet.\n");
    stage.say("ignore").success();
    stage
        .repo
        .write(".handoff/features/tables/FEATURE.md", "Make a table.\n");
    stage.say("start").success();
    stage.repo.write("code", "2").commit("second");
    let plan = "# Execution Plan\n- [x] one\n- [>] two\n";
    stage.repo.write(".handoff/features/tables/STATE.md", plan);
    let prompt = stage.say("continue --raw").success();
    assert!(
        prompt.stdout.contains("**ahead by 1 commit.**"),
        "{}",
        prompt.stdout
    );
    assert!(prompt.stdout.contains("was edited since that record"));
}
