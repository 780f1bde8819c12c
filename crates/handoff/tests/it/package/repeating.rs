//! Whoever is killed while a package is received can say the same again.

use std::fs;
use std::path::PathBuf;

use super::{create, stage, value};
use crate::stage::Stage;

/// A claim that kills whoever finds out about it, which is after the package was claimed and before it is consumed.
/// Kills whoever started its supervisor.
const KILLER: &str = "deadly => run:kill -9 $(awk '/PPid/ { print $2 }' /proc/$PPID/status)";

#[test]
fn a_killed_receiver_is_followed_at_once_by_the_next() {
    let stage = stage();
    let id = create(&stage, &["--claim", KILLER]);
    stage.say("context rm phase.a").success();
    for _ in 0..2 {
        let killed = stage.say(&format!("package receive {id} --run-probes"));
        assert_eq!(killed.code(), None, "{}", killed.stderr);
        let shown = stage.json(&format!("package show {id}"));
        assert_eq!(shown["state"], "claimed");
        stage.say("context get phase.a").failure(3);
    }
    stage.say(&format!("package receive {id}")).success();
    assert_eq!(value(&stage, "phase.a"), "9007199254740993");
    stage.say(&format!("package receive {id}")).failure(4);
    stage.say("doctor --audit").success();
}

#[test]
fn a_killed_exporter_is_followed_too() {
    let stage = stage();
    let id = create(&stage, &["--claim", KILLER]);
    let killed = stage.say(&format!("package receive {id} --run-probes"));
    assert_eq!(killed.code(), None);
    let carried = stage.env.work().join("carried.hof");
    let words = ["package", "export", &id, "--transfer-to", "b", "-o"];
    let words = words.into_iter().chain([carried.to_str().unwrap()]);
    stage.run(words).success();
}

#[test]
fn a_receipt_is_told_again_by_its_key() {
    let stage = stage();
    let id = create(&stage, &[]);
    stage.say("context rm phase.a").success();
    let receive = format!("package receive {id} --key again --json");
    let first = stage.say(&receive).success().json();
    let again = stage.say(&receive).success().json();
    assert_eq!(first["report"], again["report"]);
    assert_eq!(first["prompt"], again["prompt"]);
    stage
        .say(&format!("package receive {id} --key other"))
        .failure(4);
    let reusable = create(&stage, &["--reusable"]);
    let receive = format!("package receive {reusable} --key once");
    stage.say(&receive).success();
    stage.say(&receive).success();
    let shown = stage.json("package list");
    let row = shown["packages"].as_array().unwrap().iter();
    let row = row.into_iter().find(|it| it["id"] == reusable.as_str());
    let row = row.expect("it is listed");
    assert_eq!(
        (&row["receipts"], &row["state"]),
        (&1.into(), &"created".into())
    );
}

/// A git that kills whoever asks it: a pause asks when its task is held and fenced, and not sealed yet.
fn deadly_git(stage: &mut Stage) -> PathBuf {
    stage.git_that("kill -9 $PPID")
}

#[test]
fn a_pause_that_was_killed_never_was_one() {
    let mut stage = stage();
    stage.add("fix");
    stage.add("held");
    for task in ["fix", "held"] {
        stage.claim(task);
    }
    stage.say("hold held").success();
    let deadly = deadly_git(&mut stage);
    for task in ["fix", "held"] {
        assert_eq!(stage.say(&format!("pause {task}")).code(), None);
        assert_eq!(stage.state(task), "held");
    }
    fs::remove_file(deadly).unwrap();
    // Whoever changes anything next puts it right; what a person held stays held.
    stage.say("context set seen 1").success();
    assert_eq!(
        (stage.state("fix"), stage.state("held")),
        ("queued".into(), "held".into())
    );
    assert_eq!(
        stage.json("package list")["packages"],
        serde_json::json!([])
    );
    stage.say("pause fix").failure(4);
    stage.claim("fix");
    let paused = stage.json("pause fix");
    let id = paused["id"].as_str().unwrap();
    stage.say(&format!("resume {id}")).success();
    assert_eq!(stage.state("fix"), "queued");
    stage.say("doctor --audit").success();
}

const MANIFEST: &str = r#"
schema_version = 2
batch_id = "b"
fan_in_task = "together"
sub_tasks = [
    { id = "one", brief = "One.", file_ownership = ["1/"] },
    { id = "two", brief = "Two.", file_ownership = ["2/"] },
    { id = "three", brief = "Three.", file_ownership = ["3/"] },
]
"#;

#[test]
fn a_pause_of_a_batch_that_was_killed_leaves_no_package_and_keeps_what_people_hold() {
    let mut stage = stage();
    stage.repo.write("batch.toml", MANIFEST);
    stage.say("dump --open-batch batch.toml").success();
    for part in ["one", "two"] {
        stage.claim(&format!("b.{part}"));
    }
    stage.say("hold b.three").success();
    // The first part is whole when it strikes. Somebody holds it at that moment, for reasons of their own.
    let home = stage.env.handoff_home();
    let packages = home.join("packages");
    let script = format!(
        "ls '{packages}'/*/hof-*.json > /dev/null 2>&1 || exec /usr/bin/git \"$@\"\n\
         cd '{repo}' && PATH=/usr/bin:/bin HANDOFF_HOME='{home}' '{program}' hold b.one > /dev/null\n\
         kill -9 $PPID",
        packages = packages.display(),
        repo = stage.repo.path().display(),
        home = home.display(),
        program = stage.env.binary().display(),
    );
    let deadly = stage.git_that(&script);
    assert_eq!(stage.say("pause --batch b").code(), None);
    fs::remove_file(deadly).unwrap();
    let sealed = stage.json("package list");
    assert_eq!(sealed["packages"].as_array().unwrap().len(), 1, "{sealed}");
    stage.say("context set seen 1").success();
    let left = stage.json("package list");
    assert_eq!(left["packages"][0]["state"], "cancelled", "{left}");
    assert_eq!(left["packages"].as_array().unwrap().len(), 1);
    let states = ["one", "two", "three"].map(|part| stage.state(&format!("b.{part}")));
    assert_eq!(states, ["held", "queued", "held"]);
    assert_eq!(stage.json("batch show b")["is_held"], false);
    let notes = fs::read_dir(packages).unwrap().next().unwrap().unwrap();
    assert_eq!(
        fs::read_dir(notes.path().join("pauses")).unwrap().count(),
        0
    );
    // The work goes on, and can be paused.
    stage.say("unhold b.one").success();
    stage.claim("b.one");
    let paused = stage.json("pause --batch b");
    let id = paused["id"].as_str().unwrap();
    stage.say(&format!("resume {id}")).success();
    assert_eq!(stage.state("b.one"), "queued");
    assert_eq!(stage.state("b.three"), "held");
    stage.say("doctor --audit").success();
}
