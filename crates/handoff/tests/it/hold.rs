//! `handoff hold` and `handoff unhold`.

use insta::assert_snapshot;

use crate::stage::Stage;

#[test]
fn a_held_task_is_not_handed_out() {
    let stage = Stage::new();
    stage.add("fix");
    let held = stage.run(["hold", "fix", "--reason", "Wait for the review."]);
    assert_snapshot!(held.snapshot(), @"
    exit status: 0
    --- stdout ---
    fix is held
    ");
    assert_snapshot!(stage.say("queue list").snapshot(), @"
    exit status: 0
    --- stdout ---
    NAME  STATE  PRIO  TRY  BRIEF
    fix   held   0     0    Do fix.
    ");
    stage.say("queue claim").failure(11);
    assert_snapshot!(stage.say("unhold fix").snapshot(), @"
    exit status: 0
    --- stdout ---
    unheld fix: queued
    ");
    stage.say("queue claim").success();
    stage.say("hold --everything").success();
    let lifted = stage.say("unhold --everything").success();
    assert_eq!(
        lifted.stdout,
        "The hold on everything is gone: work is handed out.\n"
    );
}

#[test]
fn a_held_project_hands_out_nothing_and_says_why() {
    let stage = Stage::new();
    stage.add("fix");
    let held = stage.run(["hold", "--reason", "Release day."]);
    assert_snapshot!(held.snapshot(), @"
    exit status: 0
    --- stdout ---
    This project is held: no work is handed out, what runs goes on.
    ");
    assert_snapshot!(stage.say("queue list").snapshot(), @"
    exit status: 0
    --- stdout ---
    NAME  STATE  PRIO  TRY  BRIEF
    fix   held   0     0    Do fix.
    --- stderr ---
    This project is held: Release day.
    ");
    assert_snapshot!(stage.say("queue claim fix").snapshot(), @"
    exit status: 4
    --- stderr ---
    error: this project is held, so no task of it is handed out
    hint: see who holds it and why: `handoff queue list`; `handoff unhold` hands it out again
    ");
    assert_snapshot!(stage.say("unhold").snapshot(), @"
    exit status: 0
    --- stdout ---
    This project is not held: work is handed out.
    ");
    stage.say("queue claim").success();
}

#[test]
fn holding_a_project_leaves_the_others_alone() {
    let stage = Stage::new();
    let other = stage.env.repo("other");
    stage.add("fix");
    stage
        .env
        .handoff_in(other.path(), ["queue", "add", "fix", "--brief", "x"])
        .success();
    stage.say("hold").success();
    stage
        .env
        .handoff_in(other.path(), ["queue", "claim"])
        .success();
}

#[test]
fn holding_everything_reaches_every_project() {
    let stage = Stage::new();
    let other = stage.env.repo("other");
    stage.add("fix");
    assert_snapshot!(stage.env.handoff_in(other.path(), ["hold", "--everything"]).snapshot(), @"
    exit status: 0
    --- stdout ---
    Everything is held: no work is handed out, what runs goes on.
    ");
    stage.say("queue claim").failure(11);
    assert_snapshot!(stage.say("queue list").snapshot(), @"
    exit status: 0
    --- stdout ---
    NAME  STATE  PRIO  TRY  BRIEF
    fix   held   0     0    Do fix.
    --- stderr ---
    Everything is held
    ");
    let unheld = stage.say("unhold --everything --json").success();
    assert_snapshot!(unheld.snapshot(), @r#"
    exit status: 0
    --- stdout ---
    {"schema":"handoff.hold/1","scope":"everything","is_held":false,"reason":null,"by":null,"since":null,"key":"key_1","is_repeat":false}
    "#);
    stage.say("queue claim").success();
}
