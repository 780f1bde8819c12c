//! A task or a batch goes to a store that has never heard of it, and goes on there as what it was.

use std::ffi::OsStr;

use handoff_testkit::Output;
use handoff_testkit::postgres::fresh_database;
use serde_json::Value;

use crate::stage::Stage;

/// Two clones of one repository, each with a store of its own; the second trusts the key of the first.
struct Road {
    here: Stage,
    there: Stage,
}

impl Road {
    fn between(here: Stage, there: Stage) -> Self {
        let road = Self { here, there };
        trust(&road.here, &road.there);
        road
    }

    /// The commits of the first are in the second, as git brings them.
    fn fetch(&self) {
        let source = self.here.repo.path().to_str().unwrap();
        let refs = "+refs/heads/*:refs/heads/fetched/*";
        self.there.repo.git(["fetch", "--quiet", source, refs]);
    }
}

fn trust(one: &Stage, by: &Stage) {
    one.say("context set seen 1").success();
    one.say("package create").success();
    let key = one.json("keys export")["keys"][0]["key"].clone();
    let words = [
        "keys",
        "trust",
        key.as_str().unwrap(),
        "--name",
        "x",
        "--yes",
    ];
    by.run(words).success();
}

/// Hands something over in a file; the answer of the protocol.
fn carry(what: &[&str], from: &Stage, to: &Stage) -> String {
    let file = to.env.work().join(format!("{}.hof", what.concat()));
    let words = ["transfer", "--to", "there", "--json"].iter().chain(what);
    let words = words
        .map(OsStr::new)
        .chain(["-o".as_ref(), file.as_os_str()]);
    let answer = from.run(words).success().json();
    assert!(answer["transferredAt"].is_string(), "{answer}");
    to.run([OsStr::new("package"), "import".as_ref(), file.as_os_str()])
        .success();
    answer["handoffId"].as_str().unwrap().to_owned()
}

fn work(stage: &Stage, script: &str) -> Output {
    let script = stage.script("agent.toml", script);
    let words = ["worker", "--until-empty", "--script"].map(OsStr::new);
    stage.run(words.into_iter().chain([script.as_os_str()]))
}

fn shown(stage: &Stage, name: &str) -> Value {
    stage.json(&format!("queue show {name}"))
}

/// Does what the check wants, and keeps what it was told.
const FIXER: &str = r#"
[[step]]
run = ["sh", "-c", "cp \"$HANDOFF_PROMPT_FILE\" \"$TOLD\"; echo fixed > fixed"]
"#;

#[test]
fn a_task_goes_on_in_another_store_as_what_it_was_and_comes_back() {
    let road = Road::between(Stage::new(), Stage::new());
    let (here, mut there) = (road.here, road.there);
    let told = there.env.work().join("told.md");
    there.env.set("TOLD", &told);
    there.declare_scratch();
    let add = [
        "queue",
        "add",
        "fix",
        "--verify",
        "test -e fixed",
        "--priority",
        "3",
    ];
    let owns = ["--brief", "Fix it.", "--own", "fixed"];
    here.run(add.iter().chain(&owns)).success();
    here.claim("fix");
    here.say("context set half 1 --task fix").success();
    let id = carry(&["fix", "--summary", "Half of it."], &here, &there);
    // It is theirs now, and nobody here begins it again by chance.
    assert_eq!(here.state("fix"), "cancelled");
    here.say(&format!("resume {id}")).failure(4);
    let resume = format!("resume {id}");
    let asked = there.say(&resume).failure(9);
    assert!(asked.stderr.contains("test -e fixed"), "{}", asked.stderr);
    there.say("queue show fix").failure(3);
    let verified = there.json(&format!("package verify {id}"));
    assert_eq!(verified["resolution"], "resolved");
    there.say(&format!("{resume} --accept-commands")).success();
    there.say(&resume).failure(4);
    let task = shown(&there, "fix");
    assert_eq!(task["state"], "queued");
    for field in ["brief", "verify", "owns", "priority"] {
        assert_eq!(task[field], shown(&here, "fix")[field], "{field}");
    }
    let entry = there.json("context get half --task fix");
    assert_eq!(entry["value"], "1");
    // And back, before anybody has worked on it.
    trust(&there, &here);
    there.claim("fix");
    let back = carry(&["fix"], &there, &here);
    assert_eq!(there.state("fix"), "cancelled");
    here.say(&format!("resume {back} --accept-commands"))
        .success();
    assert_eq!(here.state("fix"), "queued");
    here.claim("fix");
    let again = carry(&["fix", "--decision", "Not that way."], &here, &there);
    there
        .say(&format!("resume {again} --accept-commands"))
        .success();
    work(&there, FIXER).success();
    assert_eq!(there.state("fix"), "done");
    let told = std::fs::read_to_string(told).unwrap();
    assert!(told.contains("> Not that way."), "{told}");
    assert!(told.contains("> half = 1"), "{told}");
    for stage in [&here, &there] {
        stage.say("doctor --audit").success();
    }
}

#[test]
fn an_arrival_that_was_killed_can_be_repeated() {
    let Road { here, mut there } = Road::between(Stage::new(), Stage::new());
    here.add("fix");
    here.claim("fix");
    here.say("context set half 1 --task fix").success();
    let id = carry(&["fix"], &here, &there);
    // Git is asked where the code stands when the task is written down and its package is not received yet.
    let deadly = there.git_that("kill -9 $PPID");
    let resume = format!("resume {id}");
    for _ in 0..2 {
        assert_eq!(there.say(&resume).code(), None);
    }
    std::fs::remove_file(deadly).unwrap();
    assert_eq!(there.state("fix"), "held");
    there.say("queue claim").failure(11);
    there.say(&resume).success();
    assert_eq!(there.state("fix"), "queued");
    let entry = there.json("context get half --task fix");
    assert_eq!(entry["value"], "1");
    let tasks = there.json("queue list --all");
    assert_eq!(tasks["tasks"].as_array().unwrap().len(), 1, "{tasks}");
    there.say("doctor --audit").success();
}

#[test]
fn whoever_is_in_the_way_of_an_arrival_is_told_and_nothing_is_taken() {
    let Road { here, there } = Road::between(Stage::new(), Stage::new());
    here.add("fix");
    here.claim("fix");
    let id = carry(&["fix"], &here, &there);
    there.add("fix");
    let resume = format!("resume {id}");
    let refused = there.say(&resume).failure(4);
    assert!(refused.stderr.contains("fix"), "{}", refused.stderr);
    assert_eq!(
        there.json(&format!("package show {id}"))["state"],
        "created"
    );
    there.say("queue cancel fix --yes").success();
    there.say(&resume).success();
    assert_eq!(there.state("fix"), "queued");
    let stranger = Stage::new();
    let file = there.env.work().join("fix.hof");
    let import = [OsStr::new("package"), "import".as_ref(), file.as_os_str()];
    stranger.run(import).success();
    stranger.say(&resume).failure(9);
    stranger.say("queue show fix").failure(3);
}

const MANIFEST: &str = r#"
schema_version = 2
batch_id = "spread"
fan_in_task = "merge"
next_after_fanin = { task = "announce", brief = "Tell them." }
[[sub_tasks]]
id = "one"
brief = "Write one."
file_ownership = ["one/"]
[[sub_tasks]]
id = "two"
brief = "Write two."
file_ownership = ["two/"]
verify = "test -e two/role"
[[sub_tasks]]
id = "three"
brief = "Write three."
file_ownership = ["three/"]
depends_on = ["one"]
"#;

/// Writes a file below the directory of its part, and keeps what it was told.
const WRITER: &str = r#"
[[step]]
when = { env = "HANDOFF_ROLE", is = "sub-task" }
run = ["sh", "-c", "d=${HANDOFF_TASK#spread.}; mkdir -p $d; echo $HANDOFF_ROLE > $d/role; cp \"$HANDOFF_PROMPT_FILE\" $d/told"]

[[step]]
run = ["sh", "-c", "\"$HANDOFF\" done --summary 'Words of one.'"]
"#;

#[test]
fn a_batch_goes_on_in_another_store_with_what_was_done() {
    batch_goes_on(Stage::new(), Stage::new());
}

#[test]
fn a_batch_goes_from_a_team_to_another_team() {
    let (Some(one), Some(other)) = (fresh_database(), fresh_database()) else {
        return;
    };
    let (mut here, mut there) = (Stage::new(), Stage::new());
    here.env.set("HANDOFF_STORE", one.url());
    there.env.set("HANDOFF_STORE", other.url());
    batch_goes_on(here, there);
}

/// One part is done, the second is at work and the third waits for the first, when all of it is handed over.
fn batch_goes_on(mut here: Stage, mut there: Stage) {
    for stage in [&mut here, &mut there] {
        stage.env.set("HANDOFF", env!("CARGO_BIN_EXE_handoff"));
    }
    let road = Road::between(here, there);
    let (here, there) = (&road.here, &road.there);
    here.repo.write("batch.toml", MANIFEST);
    here.say("dump --open-batch batch.toml").success();
    for part in ["two", "three"] {
        here.say(&format!("hold spread.{part}")).success();
    }
    work(here, WRITER).success();
    assert_eq!(here.state("spread.one"), "done");
    for part in ["two", "three"] {
        here.say(&format!("unhold spread.{part}")).success();
    }
    here.claim("spread.two");
    here.say("context set half 1 --task spread.two").success();
    let id = carry(&["--batch", "spread"], here, there);
    assert_eq!(here.json("batch show spread")["state"], "cancelled");
    here.say("queue claim").failure(11);
    here.say(&format!("resume {id}")).failure(4);
    let resume = format!("resume {id}");
    let untold = there.say(&resume).failure(3);
    assert!(untold.stderr.contains("git fetch"), "{}", untold.stderr);
    road.fetch();
    let asked = there.say(&resume).failure(9);
    assert!(
        asked.stderr.contains("test -e two/role"),
        "{}",
        asked.stderr
    );
    there.say("batch show spread").failure(3);
    let resume = format!("{resume} --accept-commands");
    there.say(&resume).success();
    let states = ["one", "two", "three"].map(|part| there.state(&format!("spread.{part}")));
    assert_eq!(states, ["done", "queued", "queued"]);
    let entry = there.json("context get half --task spread.two");
    assert_eq!(entry["value"], "1");
    there.say(&resume).failure(4);
    work(there, WRITER).success();
    assert_eq!(there.json("batch show spread")["state"], "done");
    let branch = "refs/heads/handoff/spread";
    let written = |part: &str, file: &str| there.repo.file_of(branch, &format!("{part}/{file}"));
    for part in ["one", "two", "three"] {
        assert_eq!(written(part, "role"), "sub-task\n");
    }
    // The part that was paused heard of its own package, the one behind another of that one's.
    let (two, three) = (written("two", "told"), written("three", "told"));
    assert!(two.contains("> half = 1"), "{two}");
    assert!(three.contains("> Words of one."), "{three}");
    assert_eq!(there.state("announce"), "done");
    for stage in [here, there] {
        stage.say("doctor --audit").success();
    }
}
