//! `handoff validate`: all problems, with file and line.

use std::fs;
use std::os::unix::fs::symlink;

use insta::assert_snapshot;

use crate::stage::Stage;

#[test]
fn a_sound_workspace_has_no_problem() {
    let stage = Stage::new();
    stage.feature("login", "- [ ] One\n");
    stage
        .repo
        .write(".handoff/features/login/FEATURE.md", "Log in.\n");
    assert_snapshot!(stage.say("validate").snapshot(), @"
    exit status: 0
    --- stderr ---
    Nothing is wrong.
    ");
    assert_snapshot!(stage.say("validate --json").snapshot(), @r#"
    exit status: 0
    --- stdout ---
    {"schema":"handoff.validate/1","features":["login"],"is_valid":true,"problems":[]}
    "#);
}

#[test]
fn a_new_workspace_is_only_warned_about() {
    let stage = Stage::new();
    stage.say("init login").success();
    assert_snapshot!(stage.say("validate").snapshot(), @"
    exit status: 0
    --- stdout ---
    .handoff/features/login/FEATURE.md: warning: nobody has written the goal into it yet
    .handoff/features/login/STATE.md: warning: there is no step in the plan
    --- stderr ---
    2 warnings, and no error.
    ");
}

#[test]
fn everything_that_is_wrong_is_named_with_its_line() {
    let stage = Stage::new();
    stage.feature("login", "- [>] One\n- [>]\n- [~] Three\n");
    let feature = ".handoff/features/login";
    stage
        .repo
        .write(format!("{feature}/FEATURE.md"), "Log in.\n>>>>>>> other\n");
    stage.repo.write(format!("{feature}/SPEC.md"), b"a\xff");
    stage.repo.write(".handoff/features/Bad Name/x", "");
    stage
        .repo
        .write(".handoff/config.toml", "\nbudget = \"x\"\n");
    stage
        .repo
        .write(".handoff/templates/default_state.md", "\n{{ nope }}\n");
    fs::remove_file(stage.repo.path().join(feature).join("SESSION.md")).unwrap();
    let said = stage.say("validate");
    assert_snapshot!(said.snapshot(), @"
    exit status: 1
    --- stdout ---
    .handoff/features/Bad Name: warning: no feature can be called so; it is left alone
    .handoff/config.toml:2: error: `budget` is a number of tokens from 200 to 1000000
    .handoff/templates/default_state.md:2: error: `nope` is not known here; known are feature_name, language
    .handoff/features/login/FEATURE.md:2: error: a merge conflict is not resolved
    .handoff/features/login/SPEC.md: error: it is not UTF-8 text: invalid utf-8 sequence of 1 bytes from index 1
    .handoff/features/login/STATE.md:8: error: step 2 is marked as current, and so is step 1
    .handoff/features/login/STATE.md:8: error: step 2 has no text
    .handoff/features/login/STATE.md:9: error: step 3 has the box `[~]`; it can be `[ ]`, `[>]`, `[x]` or `[!]`
    .handoff/features/login/SESSION.md: warning: there is no such file
    --- stderr ---
    7 errors and 2 warnings.
    ");
}

#[test]
fn what_is_current_is_looked_at_too() {
    let stage = Stage::new();
    stage.feature("login", "- [ ] One\n");
    stage
        .repo
        .write(".handoff/features/login/FEATURE.md", "Log in.\n");
    let current = stage.repo.path().join(".handoff/current");
    fs::remove_file(&current).unwrap();
    assert_snapshot!(stage.say("validate").snapshot(), @"
    exit status: 0
    --- stdout ---
    .handoff/current: warning: no feature is current
    --- stderr ---
    1 warning, and no error.
    ");
    symlink("/etc", &current).unwrap();
    assert_snapshot!(stage.say("validate").snapshot(), @r#"
    exit status: 1
    --- stdout ---
    .handoff/current: error: it names no feature: "/etc"
    --- stderr ---
    1 error.
    "#);
    stage.say("validate --feature nope").failure(3);
}

#[test]
fn all_features_are_looked_at_and_none_that_was_put_away() {
    let stage = Stage::new();
    for name in ["done", "search", "login"] {
        stage.feature(name, "- [>] One\n- [>] Two\n");
        stage
            .repo
            .write(format!(".handoff/features/{name}/FEATURE.md"), "Why.\n");
    }
    stage.say("archive done").success();
    assert_snapshot!(stage.say("validate").snapshot(), @"
    exit status: 1
    --- stdout ---
    .handoff/features/login/STATE.md:8: error: step 2 is marked as current, and so is step 1
    .handoff/features/search/STATE.md:8: error: step 2 is marked as current, and so is step 1
    --- stderr ---
    2 errors.
    ");
    let named = stage.say("validate --feature search --json");
    assert_eq!(named.json()["features"], serde_json::json!(["search"]));
}
