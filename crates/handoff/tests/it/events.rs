//! `handoff events`, read once. Following is in `waiting`.

use insta::assert_snapshot;

use crate::stage::Stage;

fn lived() -> Stage {
    let stage = Stage::new();
    stage.add("fix");
    let fence = stage.claim("fix");
    stage
        .say(&format!(
            "queue complete fix --fence {fence} --summary Fixed."
        ))
        .success();
    stage
}

#[test]
fn the_ledger_reads_as_a_story() {
    let stage = lived();
    stage.say("hold").success();
    assert_snapshot!(stage.say("events").snapshot(), @"
    exit status: 0
    --- stdout ---
           1  <time>  fix #1 added: Do fix., by person
           2  <time>  fix #2 claimed with fence 1, by person
           3  <time>  fix #3 completed: Fixed., by person
           4  <time>  hold/proj_1 #1 held, by person
    ");
    assert_eq!(
        stage.say("events --snapshot").stdout,
        stage.say("events").stdout
    );
}

#[test]
fn an_event_is_one_object_a_line() {
    let stage = lived();
    let printed = stage.say("events --json").success();
    let first = printed.stdout.lines().next().unwrap();
    assert_snapshot!(stage.env.normalize(first), @r#"{"schema":"handoff.event/1","cursor":"1","stream":"task_1","seq":1,"project":"proj_1","at":"<time>","by":"person","event":{"type":"added","spec":{"name":"fix","brief":"Do fix.","priority":0}}}"#);
    let kinds: Vec<_> = printed
        .json_lines()
        .iter()
        .map(|it| (it["seq"].clone(), it["event"]["type"].clone()))
        .collect();
    assert_eq!(
        kinds,
        [(1, "added"), (2, "claimed"), (3, "completed")]
            .map(|(seq, kind)| (seq.into(), kind.into()))
    );
}

#[test]
fn since_a_cursor_there_is_only_what_came_later() {
    let stage = lived();
    let all = stage.say("events --json").success().json_lines();
    let cursor = all[0]["cursor"].as_str().unwrap();
    let later = stage
        .say(&format!("events --json --since {cursor}"))
        .success()
        .json_lines();
    assert_eq!(later, all[1..]);
}

#[test]
fn since_now_there_is_nothing_yet() {
    assert_eq!(lived().say("events --since now").success().stdout, "");
}

#[test]
fn a_cursor_that_is_none_is_a_usage_error() {
    assert_snapshot!(lived().say("events --since yesterday").snapshot(), @"
    exit status: 2
    --- stderr ---
    error: invalid value 'yesterday' for '--since <CURSOR|now>': a cursor is a number such as `42`, or two such as `981.42`, as printed by `handoff events`

    For more information, try '--help'.
    ");
}

#[test]
fn events_of_everything_tell_of_other_projects() {
    let stage = lived();
    let other = stage.env.repo("other");
    let count = |args: &[&str]| {
        let printed = stage.env.handoff_in(other.path(), args).success();
        printed.stdout.lines().count()
    };
    assert_eq!(count(&["events"]), 0);
    assert_eq!(count(&["events", "--everything"]), 3);
}
