//! `handoff gc`: what nobody needs goes, the rest stays with a reason, and nothing is done before somebody says so.

use std::fs;

use handoff_testkit::postgres::fresh_database;
use serde_json::Value;

use crate::stage::Stage;

const WRITE: &str = "[[step]]\nprint = \"I am at it.\"\n\n[[step]]\nwrite = { path = \"new.txt\", text = \"new\\n\" }\n";

/// A task that is done, with its session, its package and its baton; and one that waits.
fn stage() -> Stage {
    let stage = Stage::new();
    let dump = ["dump", "--task", "fix", "--next", "Write.", "--status"];
    stage.run(dump.into_iter().chain(["active"])).success();
    let script = stage.script("agent.toml", WRITE);
    let script = script.to_str().unwrap();
    stage
        .run(["worker", "--once", "--script", script])
        .success();
    // A holder that has said how its session ended keeps its lock for a moment longer.
    stage.until_free("holder.lock");
    let dump = ["dump", "--task", "later", "--next", "Wait.", "--status"];
    stage.run(dump.into_iter().chain(["active"])).success();
    stage
}

/// Each kind with its fate and its count.
fn rows(document: &Value) -> Vec<(String, bool, u64)> {
    let rows = document["rows"].as_array().unwrap().iter();
    rows.map(|it| {
        let kind = it["kind"].as_str().unwrap().to_owned();
        (
            kind,
            it["goes"].as_bool().unwrap(),
            it["count"].as_u64().unwrap(),
        )
    })
    .collect()
}

fn row(kind: &str, goes: bool, count: u64) -> (String, bool, u64) {
    (kind.to_owned(), goes, count)
}

#[test]
fn what_is_over_goes_when_somebody_says_so_and_only_then() {
    let stage = stage();
    let home = stage.env.handoff_home();
    let sessions = || fs::read_dir(home.join("sessions")).unwrap().count();
    let young = rows(&stage.json("gc"));
    assert!(young.contains(&row("session", false, 1)), "{young:?}");
    let planned = stage.json("gc --older-than 0s");
    let expected = [
        row("session", true, 1),
        row("baton", true, 1),
        row("baton", false, 1),
        row("branch", false, 1),
        row("package", false, 1),
    ];
    assert_eq!((rows(&planned), sessions()), (expected.into(), 1));
    // As if one had been killed in the middle.
    fs::create_dir(home.join("sessions/.gone-x")).unwrap();
    let done = stage.json("gc --older-than 0s --apply --yes");
    assert_eq!((rows(&done), sessions()), (rows(&planned), 0));
    let again = stage.json("gc --older-than 0s --apply --yes");
    let left = ["baton", "branch", "package"].map(|kind| row(kind, false, 1));
    assert_eq!(rows(&again), left);
    // What the task proved stays.
    assert_eq!(stage.state("fix"), "done");
    let listed = stage.json("package list --status active");
    assert_eq!(listed["packages"][0]["presence"], "whole");
    stage.say("doctor --audit").success();
}

#[test]
fn a_session_that_lives_or_whose_task_waits_stays() {
    let stage = Stage::new();
    stage.say("gc").success();
    stage.add("fix");
    stage.say("run --detach --id one cat --task fix").success();
    let lives = stage.json("gc --older-than 0s --apply --yes");
    assert_eq!(lives["rows"][0]["why"], "somebody works with it");
    stage.say("stop --id one").success();
    // A holder that has said how its session ended keeps its lock for a moment longer.
    stage.until_free("holder.lock");
    let waits = stage.json("gc --older-than 0s --apply --yes");
    assert_eq!(waits["rows"][0]["why"], "its task has not ended");
    stage.say("queue cancel fix --yes").success();
    stage.configure("[gc]\nsessions = \"0s\"\n");
    let over = stage.json("gc --apply --yes");
    assert_eq!(rows(&over)[0], row("session", true, 1));
    stage.say("pane --id one").failure(3);
    stage.say("run --detach --id one cat").success();
    stage.say("stop --id one").success();
    stage.say("gc --older-than soon").failure(2);
}

/// How many of a kind go or stay for this reason, and whether they take anything.
fn fate(document: &Value, kind: &str, why: &str) -> Option<(bool, u64, bool)> {
    let mut rows = document["rows"].as_array().unwrap().iter();
    let row = rows.find(|it| it["kind"] == kind && it["why"] == why)?;
    let bytes = row["bytes"].as_u64().unwrap();
    Some((
        row["goes"].as_bool().unwrap(),
        row["count"].as_u64().unwrap(),
        bytes > 0,
    ))
}

/// What the sessions of this home were told.
fn prompts(stage: &Stage) -> String {
    let sessions = fs::read_dir(stage.env.handoff_home().join("sessions")).unwrap();
    sessions
        .filter_map(|it| fs::read_to_string(it.unwrap().path().join("prompt.md")).ok())
        .collect()
}

/// A task that was paused with words for the next session, and goes on.
fn resumed(stage: &Stage) -> String {
    stage.add("long");
    stage.claim("long");
    let paused = stage.run([
        "pause",
        "long",
        "--summary",
        "Half is there.",
        "--decision",
        "Use tabs.",
        "--dead-end",
        "Spaces.",
        "--json",
    ]);
    let paused = paused.success().json();
    let id = paused["id"].as_str().unwrap().to_owned();
    stage.say(&format!("resume {id}")).success();
    id
}

const LONG_OVER: &str = "consumed, expired, transferred or deleted long ago";

/// What a prompt is still to be built from stays, however often and with whatever age somebody clears away.
fn a_package_is_there_when_its_task_goes_on(stage: &Stage) {
    let id = resumed(stage);
    let cleared = stage.json("gc --apply --yes --older-than 0s");
    let needed = fate(&cleared, "package", "its task has not ended");
    assert_eq!(needed, Some((false, 1, true)), "{cleared}");
    assert_eq!(stage.json("package gc --older-than 0s")["packages"], 0);
    let script = stage.script("agent.toml", WRITE);
    let script = script.to_str().unwrap();
    let work = ["worker", "--until-empty", "--script", script];
    stage.run(work).success();
    stage.until_free("holder.lock");
    let told = prompts(stage);
    for words in ["Half is there.", "Use tabs.", "Spaces."] {
        assert!(told.contains(words), "{words} is missing:\n{told}");
    }
    // Its task is done: it goes by its age, and not before.
    let lately = "consumed, expired, transferred or deleted lately";
    let young = stage.json("gc --apply --yes");
    assert_eq!(fate(&young, "package", lately), Some((false, 1, true)));
    let old = stage.json("gc --apply --yes --older-than 0s");
    assert_eq!(fate(&old, "package", LONG_OVER), Some((true, 1, true)));
    let again = stage.json("gc --older-than 0s");
    assert_eq!(fate(&again, "package", LONG_OVER), None);
    let gone = stage.say(&format!("package show {id}")).failure(3);
    let words = "is consumed, and what was in it was cleared away";
    assert!(gone.stderr.contains(words), "{}", gone.stderr);
    stage.say("package list").success();
    stage.say("doctor --audit").success();
}

#[test]
fn a_package_that_a_prompt_is_to_be_built_from_stays() {
    a_package_is_there_when_its_task_goes_on(&Stage::new());
}

#[test]
fn a_team_keeps_it_too_and_clears_it_away_when_it_is_over() {
    let Some(database) = fresh_database() else {
        return;
    };
    let mut stage = Stage::new();
    stage.env.set("HANDOFF_STORE", database.url());
    a_package_is_there_when_its_task_goes_on(&stage);
}

#[test]
fn the_oldest_packages_that_are_over_make_room() {
    let stage = Stage::new();
    let text = "x".repeat(120_000);
    for key in ["a", "b", "c", "d", "e", "f"] {
        let value = format!("\"{text}\"");
        stage.run(["context", "set", key, &value]).success();
    }
    let mut over = vec![];
    for _ in 0..3 {
        let made = stage.json("package create");
        over.push(made["id"].as_str().unwrap().to_owned());
    }
    for id in &over[..2] {
        stage.say(&format!("package receive {id}")).success();
    }
    stage.configure("[gc]\npackage_megabytes = 1\n");
    let cleared = stage.json("gc --apply --yes");
    let crowded = "the oldest, and there is too much";
    assert_eq!(fate(&cleared, "package", crowded), Some((true, 2, true)));
    let stays = fate(&cleared, "package", "it can be received");
    assert_eq!(stays, Some((false, 1, true)));
    stage.say(&format!("package receive {}", over[2])).success();
}

#[test]
fn what_waits_for_a_person_is_not_over() {
    let stage = Stage::new();
    let dump = ["dump", "--task", "fix", "--next", "Write."];
    stage.run(dump).success();
    let block = "[[step]]\nprint = \"I am at it.\"\n\n[[step]]\nrun = [\"handoff\", \"block\", \"--reason\", \"What now?\"]\n";
    let script = stage.script("agent.toml", block);
    let work = ["worker", "--once", "--script", script.to_str().unwrap()];
    stage.run(work).failure(12);
    stage.until_free("holder.lock");
    assert_eq!(stage.state("fix"), "blocked");
    let found = stage.json("gc --apply --yes --older-than 0s");
    let waits = "its task failed or is blocked, and may go on";
    for kind in ["session", "transcript", "baton"] {
        let fate = fate(&found, kind, waits);
        assert!(matches!(fate, Some((false, 1, _))), "{kind}: {found}");
    }
}

#[test]
fn what_sessions_printed_goes_before_them_and_the_largest_go_first() {
    let stage = stage();
    let printed = stage.json("gc --older-than 0s");
    assert_eq!(fate(&printed, "transcript", "ended lately"), None);
    stage.configure("[gc]\ntranscripts = \"0s\"\n");
    let found = stage.json("gc --apply --yes");
    assert_eq!(
        rows(&found)[..2],
        [row("session", false, 1), row("transcript", true, 1)]
    );
    let again = stage.json("gc");
    assert_eq!(fate(&again, "transcript", "ended long ago"), None);
    stage.configure("[gc]\nmegabytes = 0\n");
    let crowded = stage.json("gc --apply --yes");
    let why = "the oldest, and there is too much";
    assert_eq!(fate(&crowded, "session", why), Some((true, 1, true)));
}

const MANIFEST: &str = r#"
schema_version = 2
batch_id = "b"
fan_in_task = "together"
sub_tasks = [
    { id = "one", brief = "One.", file_ownership = ["b.one.txt"] },
    { id = "two", brief = "Two.", file_ownership = ["b.two.txt"] },
]
"#;

#[test]
fn branches_go_when_a_branch_of_a_person_has_all_of_them() {
    let stage = Stage::new();
    stage.repo.write("batch.toml", MANIFEST).commit("a batch");
    stage.say("dump --open-batch batch.toml").success();
    let write = "[[step]]\nrun = [\"sh\", \"-c\", \"echo x > $HANDOFF_TASK.txt\"]\n";
    let script = stage.script("agent.toml", write);
    let work = ["worker", "--until-empty", "--script"];
    let work = work.into_iter().chain([script.to_str().unwrap()]);
    stage.run(work).success();
    stage.until_free("holder.lock");
    let branches = || {
        let listed = stage.repo.git(["branch", "--list", "handoff/*"]);
        listed.lines().count()
    };
    let all = u64::try_from(branches()).unwrap();
    assert!(all >= 3, "two parts and the batch");
    let sole = "it may be the only copy, or is checked out";
    let before = stage.json("gc --apply --yes");
    assert_eq!(fate(&before, "branch", sole), Some((false, all, false)));
    stage.say("land b").success();
    // Somebody looks at one of them.
    let tree = stage.env.work().join("look");
    let look = ["worktree", "add", "-q", tree.to_str().unwrap(), "handoff/b"];
    stage.repo.git(look);
    let landed = "all of it is in a branch of yours";
    let after = stage.json("gc --apply --yes");
    assert_eq!(fate(&after, "branch", landed), Some((true, all - 1, false)));
    assert_eq!(
        (fate(&after, "branch", sole), branches()),
        (Some((false, 1, false)), 1)
    );
    for part in ["one", "two"] {
        assert_eq!(stage.repo.file_of("HEAD", &format!("b.{part}.txt")), "x\n");
    }
    stage
        .repo
        .git(["worktree", "remove", tree.to_str().unwrap()]);
    stage.say("gc --apply --yes").success();
    assert_eq!(branches(), 0);
    stage.say("batch show b").success();
    stage.say("doctor --audit").success();
}

/// How many trees there are that a worker made ahead.
fn spares(stage: &Stage) -> usize {
    let listed = stage.json("worktree list");
    let trees = listed["worktrees"].as_array().unwrap().iter();
    trees.filter(|it| it["is_spare"] == true).count()
}

#[test]
fn a_spare_tree_is_listed_and_goes_when_its_worker_is_gone() {
    let stage = Stage::new();
    stage.repo.write("code", "1").commit("first");
    for task in ["one", "two"] {
        stage.add(task);
    }
    let script = stage.script("agent.toml", "[[step]]\nexpect = \"never\"\n");
    let words = ["worker", "--slots", "1", "--script"];
    let mut worker = stage.start(words.into_iter().chain([script.to_str().unwrap()]));
    while spares(&stage) == 0 {}
    let listed = stage.say("worktree list").success().stdout;
    assert!(listed.contains("spare"), "{listed}");
    let (works, spare) = (
        "somebody works with it",
        "a worker made it for the next attempt",
    );
    let found = stage.json("gc --apply --yes");
    for why in [works, spare] {
        assert_eq!(fate(&found, "worktree", why), Some((false, 1, true)));
    }
    worker.kill();
    let unused = "its worker is gone, and nobody worked there";
    let cleared = stage.json("gc --apply --yes");
    assert_eq!(fate(&cleared, "worktree", unused), Some((true, 1, true)));
    // The agent goes on without its worker.
    let used = fate(&cleared, "worktree", works);
    assert_eq!((used, spares(&stage)), (Some((false, 1, true)), 0));
    let session = stage.json("ps")["sessions"][0]["name"].clone();
    let stop = format!("stop --id {}", session.as_str().unwrap());
    stage.say(&stop).success();
}
