//! `handoff batch`, `handoff dump --open-batch` and `handoff hold --batch`.

use handoff_testkit::postgres::fresh_database;
use insta::assert_snapshot;

use crate::stage::{Stage, tree};

const MANIFEST: &str = r#"
schema_version = 2
batch_id = "discounts"
fan_in_task = "merge-discounts"

[fan_in]
estimated_minutes = 5

[[sub_tasks]]
id = "model"
brief = "The rule."
estimated_minutes = 20
file_ownership = ["src/model.rs"]

[[sub_tasks]]
id = "pages"
brief = "The pages."
estimated_minutes = 10
file_ownership = ["web/"]

[[sub_tasks]]
id = "docs"
brief = "The documents."
estimated_minutes = 10
file_ownership = ["docs/"]
depends_on = ["model"]
"#;

fn opened() -> Stage {
    let stage = Stage::new();
    stage.repo.write("batch.toml", MANIFEST);
    stage.say("dump --open-batch batch.toml").success();
    stage
}

fn report(stage: &Stage, part: &str, how: &str) {
    let fence = stage.claim(&format!("discounts.{part}"));
    let words =
        format!("dump --batch-id discounts --task {part} --next Told. {how} --fence {fence}");
    stage.say(&words).success();
}

#[test]
fn a_plan_shows_waves_and_times_and_opens_nothing() {
    let stage = Stage::new();
    stage.repo.write("batch.toml", MANIFEST);
    let before = tree(stage.repo.path());
    assert_snapshot!(stage.say("batch plan batch.toml --slots 2").snapshot(), @"
    exit status: 0
    --- stdout ---
    discounts: 3 parts on 2 slots

    WAVE  PART   TAKES  OWNS
    1     model  <duration>    src/model.rs
    1     pages  <duration>    web/
    2     docs   <duration>    docs/

      model   ████████████████████████████████████████████████████
      pages   ██████████████████████████
      docs                                                       ███████████████████████████
      fan-in                                                                               █████████████

    One after the other <duration>, like this <duration>: 1.3 times faster; 1.8 is the most on 2 slots.
    ");
    let plan = stage.json("dump --open-batch batch.toml --dry-run --slots 2");
    assert_eq!(plan["waves"].to_string(), r#"[["model","pages"],["docs"]]"#);
    assert_eq!(tree(stage.repo.path()), before);
}

#[test]
fn all_mistakes_of_a_manifest_are_told_and_nothing_is_opened() {
    let stage = Stage::new();
    let manifest = MANIFEST
        .replace("web/", "src/")
        .replace("[\"model\"]", "[\"nobody\"]");
    stage.repo.write("batch.toml", manifest);
    let before = tree(stage.repo.path());
    assert_snapshot!(stage.say("dump --open-batch batch.toml").snapshot(), @r#"
    exit status: 1
    --- stderr ---
    error: the manifest has 2 mistakes
      because sub_tasks[2] (docs): it depends on `nobody`, which is no part of this batch
      because sub_tasks: `src/model.rs` of `model` and `src/` of `pages` overlap, for example at `src/model.rs`; let one depend on the other, or set overlap = "serialise"
    hint: nothing was opened; when it is corrected, look again: `handoff batch plan batch.toml`
    "#);
    assert_eq!(tree(stage.repo.path()), before);
    stage.say("batch plan nowhere.toml").failure(3);
    stage
        .repo
        .write("broken.json", "{\n  \"schema_version\": two\n}");
    assert_snapshot!(stage.say("batch plan broken.json").snapshot(), @"
    exit status: 1
    --- stderr ---
    error: the manifest cannot be read: line 2: expected ident
    hint: nothing was opened; when it is corrected, look again: `handoff batch plan broken.json`
    ");
    assert_eq!(stage.json("batch list")["batches"].to_string(), "[]");
}

#[test]
fn an_opened_batch_is_worked_on_and_comes_to_its_fan_in() {
    let stage = opened();
    assert_eq!(stage.state("discounts.docs"), "waiting");
    assert_eq!(stage.state("merge-discounts"), "waiting");
    report(&stage, "model", "--batch-done");
    report(&stage, "pages", "--batch-blocked");
    let fence = stage.claim("discounts.docs");
    stage
        .say(&format!("queue complete discounts.docs --fence {fence}"))
        .success();
    assert_eq!(stage.state("merge-discounts"), "queued");
    let shown = stage.say("batch show discounts").success().stdout;
    assert!(
        shown.contains("2 of 3 parts done") && shown.contains("pages: Told."),
        "{shown}"
    );
    assert_snapshot!(stage.say("batch retry discounts").snapshot(), @"
    exit status: 0
    --- stdout ---
    discounts is open: 2 of 3 parts done
    ");
    assert_eq!(stage.state("merge-discounts"), "waiting");
    assert_snapshot!(stage.say("batch cancel discounts --reason Later.").snapshot(), @"
    exit status: 0
    --- stdout ---
    discounts is cancelled: 2 of 3 parts done
    ");
    assert_snapshot!(stage.say("batch cancel discounts").snapshot(), @"
    exit status: 4
    --- stderr ---
    error: batch `discounts` is not changed: it was called off
    hint: look at it: `handoff batch show discounts`
    ");
    let list = stage.json("batch list");
    let row = &list["batches"][0];
    assert_eq!(
        (&row["state"], &row["done"]),
        (&"cancelled".into(), &2.into())
    );
}

#[test]
fn a_report_measures_what_the_events_say() {
    let stage = opened();
    for part in ["model", "pages", "docs"] {
        report(&stage, part, "--batch-done");
    }
    let fence = stage.claim("merge-discounts");
    stage
        .say(&format!("queue complete merge-discounts --fence {fence}"))
        .success();
    let report = stage.json("batch report discounts");
    assert_eq!(
        (&report["schema"], &report["width"]),
        (&"handoff.batch-report/1".into(), &1.into())
    );
    assert_eq!(report["batch"]["state"], "done");
    let wall = report["wall_seconds"].as_f64().unwrap();
    let work =
        report["parts_seconds"].as_f64().unwrap() + report["fan_in_seconds"].as_f64().unwrap();
    assert!(work <= wall, "{report}");
    assert_eq!(report["calibration"][0]["samples"], 3);
    let text = stage.say("batch report discounts").success().stdout;
    assert!(text.contains("speed-up") && text.contains("█"), "{text}");
}

#[test]
fn a_held_batch_waits_and_the_rest_goes_on() {
    let stage = opened();
    assert_snapshot!(stage.say("hold --batch discounts").snapshot(), @"
    exit status: 0
    --- stdout ---
    This batch is held: no work is handed out, what runs goes on.
    ");
    stage.say("queue claim").failure(11);
    assert_eq!(stage.state("discounts.model"), "held");
    assert_eq!(stage.json("queue list")["tasks"][0]["state"], "held");
    assert_eq!(stage.json("batch show discounts")["is_held"], true);
    stage.add("other");
    assert_eq!(stage.json("queue claim")["task"]["name"], "other");
    stage.say("unhold --batch discounts").success();
    assert_eq!(stage.json("queue claim")["task"]["name"], "discounts.model");
    stage.say("hold --batch nothing").failure(3);
}

#[test]
fn a_followed_batch_tells_changes_and_ends_with_it() {
    let stage = opened();
    let mut follower = stage.start(["batch", "show", "discounts", "--follow"]);
    while !follower.line().contains("fan-in") {}
    stage.say("batch cancel discounts").success();
    while follower.line() != "discounts: cancelled" {}
    assert_eq!(follower.code(), Some(0));
}

#[test]
fn the_same_key_opens_a_batch_once_and_a_manifest_may_come_from_stdin() {
    let stage = Stage::new();
    let open = ["dump", "--open-batch", "-", "--key", "k", "--json"];
    let run = || {
        let command = stage.command(open);
        stage
            .env
            .run_with_input(command, MANIFEST.as_bytes())
            .success()
            .json()
    };
    let (first, again) = (run(), run());
    assert_eq!(
        (&first["is_repeat"], &again["is_repeat"]),
        (&false.into(), &true.into())
    );
    assert_eq!(first["batch"]["id"], again["batch"]["id"]);
    let other = stage.env.run_with_input(
        stage.command(["dump", "--open-batch", "-"]),
        MANIFEST.as_bytes(),
    );
    other.failure(4);
}

#[test]
fn a_paused_batch_goes_on_in_one_act() {
    pause_and_resume(&opened());
}

#[test]
fn a_team_pauses_its_batches_too() {
    let Some(database) = fresh_database() else {
        return;
    };
    let mut stage = Stage::new();
    stage.env.set("HANDOFF_STORE", database.url());
    stage.repo.write("batch.toml", MANIFEST);
    stage.say("dump --open-batch batch.toml").success();
    pause_and_resume(&stage);
}

fn pause_and_resume(stage: &Stage) {
    let [model, pages] = ["model", "pages"].map(|it| stage.claim(&format!("discounts.{it}")));
    stage
        .say("context set half 1 --task discounts.model")
        .success();
    // As one leaves it who is killed after the first part.
    stage.say("hold --batch discounts").success();
    stage.say("pause discounts.pages").success();
    let paused = stage.json("pause --batch discounts");
    let id = paused["id"].as_str().unwrap();
    assert_eq!(
        stage.json("pause --batch discounts")["id"],
        *id,
        "it is one pause"
    );
    let shown = stage.json(&format!("package show {id}"));
    let parts = shown["payload"]["batch"]["parts"].as_array().unwrap();
    let names: Vec<_> = parts.iter().map(|it| it["name"].as_str()).collect();
    assert_eq!(names, [Some("discounts.model"), Some("discounts.pages")]);
    for (part, fence) in [("model", &model), ("pages", &pages)] {
        let words = format!("queue complete discounts.{part} --fence {fence}");
        stage.say(&words).failure(6);
    }
    stage.say("queue claim").failure(11);
    stage.say(&format!("resume {id}")).success();
    assert_eq!(stage.state("discounts.model"), "queued");
    assert_eq!(stage.state("discounts.pages"), "queued");
    let entry = stage.json("context get half --task discounts.model");
    assert_eq!(entry["value"], "1");
    stage.say(&format!("resume {id}")).failure(4);
    // As one leaves it who is killed before the hold is taken away.
    stage.say("hold --batch discounts").success();
    stage.say(&format!("resume {id}")).success();
    stage.claim("discounts.model");
    let offered = stage.json("transfer --batch discounts --to friend");
    assert_eq!(offered["transferredAt"], serde_json::Value::Null);
    let offered = offered["handoffId"].as_str().unwrap();
    stage.say(&format!("resume {offered}")).success();
    stage.say("batch cancel discounts").success();
    stage.say("pause --batch discounts").failure(4);
    stage.say("pause --batch nothing").failure(3);
    stage.say("doctor --audit").success();
}
