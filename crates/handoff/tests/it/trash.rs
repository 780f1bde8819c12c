//! `handoff archive` and `handoff clean`: what goes away, and how it comes back.

use std::os::unix::fs::symlink;
use std::path::PathBuf;

use insta::assert_snapshot;

use crate::pseudo_terminal;
use crate::stage::{Stage, tree};

fn path(stage: &Stage, relative: &str) -> PathBuf {
    stage.repo.path().join(".handoff").join(relative)
}

#[test]
fn archive_clears_the_current_feature_and_takes_a_name_again() {
    let stage = Stage::new();
    stage.say("init login").success();
    assert_snapshot!(stage.say("archive login").snapshot(), @"
    exit status: 0
    --- stdout ---
    `login` is archived as `.handoff/features/login.archived`.
    It was the current feature; none is now. Choose one: `handoff switch <feature>`.
    ");
    stage.say("init login").success();
    assert_snapshot!(stage.say("archive login --json").snapshot(), @r#"
    exit status: 0
    --- stdout ---
    {"schema":"handoff.archive/1","name":"login","folder":"login.archived-2","was_current":true}
    "#);
    stage.say("archive login").failure(3);
    stage.say("clean --force").success();
    assert!(path(&stage, "features/login.archived").is_dir());
    assert!(path(&stage, "features/login.archived-2").is_dir());
}

#[test]
fn clean_shows_what_it_does_and_can_be_taken_back() {
    let stage = Stage::new();
    for name in ["one", "two", "keep"] {
        stage.run(["init", name, "--force"]).success();
    }
    let before = tree(&path(&stage, "features"));
    assert_snapshot!(stage.say("clean --dry-run").snapshot(), @"
    exit status: 0
    --- stdout ---
    Nothing was changed; this is what would be.
    --- stderr ---
    To the trash: one  two
    Kept: `keep`, because it is current, and all archives
    ");
    assert_eq!(tree(&path(&stage, "features")), before);
    assert_snapshot!(stage.say("clean").snapshot(), @"
    exit status: 0
    --- stdout ---
    2 features are in `.handoff/trash/`. To bring all of this back: `handoff clean --undo`.
    --- stderr ---
    To the trash: one  two
    Kept: `keep`, because it is current, and all archives
    ");
    assert_snapshot!(stage.say("clean").snapshot(), @"
    exit status: 0
    --- stderr ---
    There is nothing to clean away.
    ");
    stage.say("init one").success();
    assert_snapshot!(stage.say("clean --undo").snapshot(), @"
    exit status: 4
    --- stderr ---
    error: a feature `one` is there again
    hint: put that one away first: `handoff archive one`
    ");
    stage.say("archive one").success();
    assert_snapshot!(stage.say("clean --undo").snapshot(), @"
    exit status: 0
    --- stdout ---
    Back from the trash: one  two
    ");
    assert_snapshot!(stage.say("clean --undo").snapshot(), @"
    exit status: 3
    --- stderr ---
    error: there is no cleaning to take back
    ");
}

#[test]
fn clean_asks_on_a_terminal() {
    let stage = Stage::new();
    stage.say("init one").success();
    stage.say("init keep --force").success();
    let seen = pseudo_terminal::run(stage.command(["clean"]), "n\n");
    assert!(
        seen.text.contains("Go on? [y/N]") && seen.text.contains("Nothing was changed."),
        "{}",
        seen.text
    );
    assert!(path(&stage, "features/one").is_dir());
    pseudo_terminal::run(stage.command(["clean"]), "y\n");
    assert!(!path(&stage, "features/one").exists());
}

#[test]
fn clean_without_a_current_feature_needs_force() {
    let stage = Stage::new();
    stage.say("init one").success();
    stage.say("init two --force").success();
    stage.say("archive two").success();
    assert_snapshot!(stage.say("clean").snapshot(), @"
    exit status: 4
    --- stderr ---
    error: no feature is current, so there is none to keep
    hint: choose the one to keep: `handoff list`, then `handoff switch <feature>`
    hint: see what cleaning everything would do: `handoff clean --force --dry-run`
    ");
    assert_snapshot!(stage.say("clean --force --json").snapshot(), @r#"
    exit status: 0
    --- stdout ---
    {"schema":"handoff.cleaning/1","outcome":"cleaned","features":["one"],"kept":null,"clears_current":false}
    "#);
    // The original let `current` be `features/` itself, and the next cleaning took everything.
    stage.say("clean --undo").success();
    symlink("features", path(&stage, "current")).unwrap();
    stage.say("clean").failure(4);
}
