//! A run is paused with a package and goes on from it in another clone, whose store has never heard of it.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};

use handoff_testkit::Output;

use super::{AGENT, Play};
use crate::stage::Stage;

const SAYS_PLAN: &str =
    "echo '{\"summary\":\"a fine plan\",\"steps\":[\"one\"]}' | \"$HANDOFF\" done --result -";
/// It has read what was planned in the other store.
const BUILDS: &str = "grep -q 'a fine plan' \"$HANDOFF_PROMPT_FILE\"; echo built > built; \
     echo '{\"summary\":\"b\"}' | \"$HANDOFF\" done --result -";
const APPROVES: &str =
    "echo '{\"outcome\":\"approved\",\"summary\":\"r\"}' | \"$HANDOFF\" done --result -";

/// With the script as the last word.
fn go(stage: &Stage, words: &str, script: &Path) -> Output {
    let words = words.split(' ').map(OsStr::new);
    stage.run(words.chain([script.as_os_str()]))
}

/// A run whose plan is proved and agreed to, and the script that plays it.
fn planned() -> (Play, PathBuf) {
    let play = Play::new();
    play.act("plan", SAYS_PLAN);
    play.act("build", BUILDS);
    play.act("review", APPROVES);
    let script = play.stage.script("agent.toml", AGENT);
    let begin = "workflow run plan-build-review --goal G --name pbr --script";
    go(&play.stage, begin, &script).failure(13);
    play.stage.say("workflow pause pbr").failure(4);
    play.stage.say("approve pbr").success();
    (play, script)
}

fn paused(stage: &Stage) -> String {
    let run = stage.json("workflow pause pbr");
    run["package"].as_str().expect("it is sealed").to_owned()
}

#[test]
fn a_paused_run_has_one_package_and_goes_on_with_it_or_without_it() {
    let (play, _script) = planned();
    let here = &play.stage;
    let first = paused(here);
    here.say("workflow pause pbr").failure(4);
    here.say(&format!("resume {first}")).failure(2);
    here.say("workflow resume pbr --detach").success();
    // It went on without it.
    let resume = format!("workflow resume {first} --detach");
    here.say(&resume).failure(4);
    let second = paused(here);
    let shown = here.json(&format!("package show {second}"));
    let run = &shown["payload"]["run"];
    let told = (&run["name"], &run["next"], &run["proved"][0]["phase"]);
    assert_eq!(told, (&"pbr".into(), &"build".into(), &"plan".into()));
    here.say(&format!("workflow resume {second} --detach"))
        .success();
    let shown = here.json(&format!("package show {second}"));
    assert_eq!(shown["state"], "consumed");
    assert_eq!(here.json("workflow status pbr")["state"], "working");
    here.say("doctor --audit").success();
}

#[test]
fn a_paused_run_goes_on_in_another_clone() {
    let (play, script) = planned();
    let (here, mut there) = (&play.stage, Stage::new());
    here.say("context set why because --text --run pbr")
        .success();
    let id = paused(here);
    carry(&id, here, &there);
    // It is theirs now: it does not go on here as well.
    assert_eq!(here.json("workflow status pbr")["state"], "cancelled");
    here.say("workflow resume pbr --detach").failure(1);
    let resume = format!("workflow resume {id} --detach");
    let untold = there.say(&resume).failure(3);
    assert!(untold.stderr.contains("git fetch"), "{}", untold.stderr);
    let branch = "+refs/heads/handoff/pbr:refs/heads/handoff/pbr";
    let source = here.repo.path().to_str().unwrap();
    there.repo.git(["fetch", "--quiet", source, branch]);
    there.say(&resume).failure(9);
    trust(here, &there);
    there.say(&resume).success();
    there.say(&resume).success();
    let entry = there.json("context get why --run pbr");
    assert_eq!(entry["value"], "\"because\"");
    there.env.set("ACTS", here.env.work().join("acts"));
    there.env.set("HANDOFF", env!("CARGO_BIN_EXE_handoff"));
    go(&there, "workflow resume pbr --script", &script).success();
    let run = there.json("workflow status pbr");
    let steps = run["steps"].as_array().unwrap().iter();
    let phases: Vec<_> = steps.map(|it| it["phase"].as_str().unwrap()).collect();
    assert_eq!(phases, ["plan", "build", "review"]);
    assert_eq!(run["state"], "done");
    here.say(&resume).failure(4);
    for stage in [here, &there] {
        stage.say("doctor --audit").success();
    }
}

/// The package goes to the other store.
fn carry(id: &str, here: &Stage, there: &Stage) {
    let bundle = there.env.work().join("run.hof");
    let export = ["package", "export", id, "--transfer-to", "there", "-o"];
    let export = export.iter().map(OsStr::new).chain([bundle.as_os_str()]);
    here.run(export).success();
    let import = ["package", "import"].map(OsStr::new);
    there
        .run(import.into_iter().chain([bundle.as_os_str()]))
        .success();
}

fn trust(here: &Stage, there: &Stage) {
    let key = here.json("keys export")["keys"][0]["key"].clone();
    let key = key.as_str().expect("a key is told");
    there
        .run(["keys", "trust", key, "--name", "here", "--yes"])
        .success();
}
