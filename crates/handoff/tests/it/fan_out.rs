//! A batch from its manifest to its branch, with the built-in agent and real git.

mod defects;

use std::ffi::OsStr;

use handoff_testkit::{Need, skip_without};
use insta::assert_snapshot;

use crate::stage::Stage;

const MANIFEST: &str = r#"
schema_version = 2
batch_id = "spread"
fan_in_task = "merge"
[[sub_tasks]]
id = "one"
brief = "Write one."
file_ownership = ["one/"]
[[sub_tasks]]
id = "two"
brief = "Write two."
file_ownership = ["two/"]
"#;

/// Writes a file below the directory of its part; the fan-in says what it was told.
const AGENT: &str = r#"
[[step]]
when = { env = "HANDOFF_ROLE", is = "sub-task" }
run = ["sh", "-c", "d=${HANDOFF_TASK#spread.}; mkdir $d; echo $HANDOFF_ROLE > $d/role"]

[[step]]
when = { env = "HANDOFF_TASK", is = "spread.two" }
run = ["sh", "-c", "[ ! -e \"$GREEDY\" ] || echo mine > README.md"]

[[step]]
when = { env = "HANDOFF_ROLE", is = "fan-in" }
run = ["sh", "-c", "cp \"$HANDOFF_PROMPT_FILE\" \"$TOLD\""]
"#;

fn work(stage: &Stage) -> handoff_testkit::Output {
    let script = stage.script("agent.toml", AGENT);
    let words = ["worker", "--until-empty", "--slots", "2", "--script"].map(OsStr::new);
    stage.run(words.into_iter().chain([script.as_os_str()]))
}

fn opened() -> Stage {
    let mut stage = Stage::new();
    let manifest = stage.env.work().join("manifest.toml");
    std::fs::write(&manifest, MANIFEST).unwrap();
    for (name, file) in [("GREEDY", "greedy"), ("TOLD", "told.md")] {
        let path = stage.env.work().join(file);
        stage.env.set(name, path);
    }
    stage.declare_scratch();
    let words = ["dump", "--open-batch"].map(OsStr::new);
    stage
        .run(words.into_iter().chain([manifest.as_os_str()]))
        .success();
    stage
}

#[test]
fn what_the_parts_did_is_on_the_branch_of_the_batch_without_an_agent_for_the_fan_in() {
    let stage = opened();
    work(&stage).success();
    let branch = "refs/heads/handoff/spread";
    for part in ["one", "two"] {
        let role = stage.repo.file_of(branch, &format!("{part}/role"));
        assert_eq!(role, "sub-task\n");
    }
    assert_eq!(stage.json("batch show spread")["state"], "done");
    assert!(
        !stage.env.work().join("told.md").exists(),
        "nobody was asked"
    );
    assert_eq!(stage.repo.git(["worktree", "list"]).lines().count(), 1);
    stage.say("doctor --audit").success();
    stage.repo.fsck();
}

#[test]
fn a_part_that_takes_what_is_not_its_own_is_left_out_and_the_fan_in_hears_of_it() {
    let stage = opened();
    std::fs::write(stage.env.work().join("greedy"), "").unwrap();
    work(&stage).failure(12);
    assert_eq!(stage.state("spread.two"), "blocked");
    let told = std::fs::read_to_string(stage.env.work().join("told.md")).unwrap();
    assert!(
        told.contains("the session changed what it does not own: `README.md`"),
        "{told}"
    );
    let branch = "refs/heads/handoff/spread";
    assert_eq!(stage.repo.file_of(branch, "one/role"), "sub-task\n");
    assert_eq!(stage.repo.resolve(&format!("{branch}:two/role")), None);
    stage.say("doctor --audit").success();
}

#[test]
fn what_is_not_in_a_result_is_told_by_whoever_shows_it() {
    let stage = opened();
    std::fs::write(stage.env.work().join("greedy"), "").unwrap();
    work(&stage).failure(12);
    let shown = stage.say("batch show spread").success();
    let told =
        "Not in it: two (it is not done). See what such a part left: `handoff rescue spread.two`.";
    assert!(shown.stderr.contains(told), "{}", shown.stderr);
    assert!(!shown.stderr.contains("batch retry"), "{}", shown.stderr);
    let left_out = &stage.json("batch show spread")["left_out"];
    assert_eq!(left_out.to_string(), r#"[{"part":"two","why":"not_done"}]"#);
    let status = stage.say("status").success();
    let need = "batch spread: it is done without 1 of its parts";
    assert!(status.stdout.contains(need), "{}", status.stdout);
    let refused = stage.say("land spread.two").failure(3);
    let hint = "see what it left: `handoff rescue spread.two`";
    assert!(refused.stderr.contains(hint), "{}", refused.stderr);

    stage.say("land spread").success();
    let status = stage.say("status").success();
    assert!(!status.stdout.contains("spread"), "{}", status.stdout);
}

#[test]
fn a_result_that_has_not_landed_waits_for_a_person() {
    let stage = opened();
    work(&stage).success();
    let needs = &stage.json("status")["project"]["needs"];
    assert_eq!(needs[0]["why"], "it is done, and has not landed");
    assert_eq!(needs[0]["command"], "handoff land spread");
    stage.say("land spread").success();
    let needs = &stage.json("status")["project"]["needs"];
    assert_eq!(needs.as_array().unwrap().len(), 0);
}

#[test]
fn a_batch_that_came_to_nothing_does_not_land_what_an_earlier_one_of_its_name_made() {
    let stage = opened();
    work(&stage).success();
    let manifest = stage.env.work().join("manifest.toml");
    let words = ["dump", "--open-batch"].map(OsStr::new);
    let again = words.into_iter().chain([manifest.as_os_str()]);
    stage.run(again).success();
    let refused = stage.say("land spread").failure(3);
    assert!(
        refused.stderr.contains("it is not over"),
        "{}",
        refused.stderr
    );

    let agent = "[[step]]\nwhen = { env = \"HANDOFF_ROLE\", is = \"sub-task\" }\nexit = 1\n";
    let script = stage.script("broken.toml", agent);
    let words = ["worker", "--until-empty", "--script"].map(OsStr::new);
    stage
        .run(words.into_iter().chain([script.as_os_str()]))
        .failure(12);
    let before = stage.repo.head();
    stage.say("land spread").failure(3);
    assert_eq!(stage.repo.head(), before);
    let shown = stage.say("batch show spread").success();
    let told = "It has no result: none of its parts is in it.";
    assert!(shown.stderr.contains(told), "{}", shown.stderr);
}

#[test]
fn parts_that_may_change_the_same_lines_are_all_in_the_result() {
    let stage = Stage::new();
    let part = |id: &str| {
        format!(
            "[[sub_tasks]]\nid = \"{id}\"\nbrief = \"Add a line.\"\nfile_ownership = [\"list\"]\n"
        )
    };
    let manifest = format!(
        "schema_version = 2\nbatch_id = \"lines\"\nfan_in_task = \"merge\"\noverlap = \"serialise\"\n{}{}{}",
        part("a"),
        part("b"),
        part("c")
    );
    let file = stage.env.work().join("lines.toml");
    std::fs::write(&file, manifest).unwrap();
    let words = ["dump", "--open-batch"].map(OsStr::new);
    stage
        .run(words.into_iter().chain([file.as_os_str()]))
        .success();
    let agent = "[[step]]\nrun = [\"sh\", \"-c\", \"echo ${HANDOFF_TASK#lines.} >> list\"]\n";
    let script = stage.script("lines-agent.toml", agent);
    let words = ["worker", "--until-empty", "--slots", "3", "--script"].map(OsStr::new);
    stage
        .run(words.into_iter().chain([script.as_os_str()]))
        .success();
    let list = stage.repo.file_of("refs/heads/handoff/lines", "list");
    let mut lines: Vec<_> = list.lines().collect();
    lines.sort_unstable();
    assert_eq!(lines, ["a", "b", "c"]);
    let shown = stage.json("batch show lines");
    assert_eq!(shown["left_out"].as_array().unwrap().len(), 0);
}

/// What the prompts of the earlier tool tell agents to type.
const SEED_AGENT: &str = r#"
[[step]]
when = { env = "HANDOFF_TASK", is = "spread.one" }
run = ["sh", "-c", "mkdir one; exec > one/told 2>&1; handoff heartbeat; echo code=$?; handoff dump --task later --next x; echo code=$?; handoff dump --task merge --next x --status done; echo code=$?; exec > /dev/null 2>&1; handoff dump --batch-id spread --task one-done --next 'All of it.' --batch-done"]

[[step]]
when = { env = "HANDOFF_TASK", is = "spread.two" }
run = ["handoff", "dump", "--batch-id", "spread", "--task", "two", "--blocked-reason", "Which one?", "--batch-blocked"]
"#;

#[test]
fn a_part_says_its_last_word_in_the_words_of_the_earlier_tool() {
    if skip_without(&[Need::Landlock]) {
        return;
    }
    let stage = opened();
    let script = stage.script("agent.toml", SEED_AGENT);
    let words = ["worker", "--until-empty", "--slots", "2", "--script"].map(OsStr::new);
    stage.run(words.into_iter().chain([script.as_os_str()]));
    assert_eq!(stage.state("spread.one"), "done");
    assert_eq!(stage.json("queue show spread.one")["said"], "All of it.");
    let two = stage.json("queue show spread.two");
    assert_eq!(
        (&two["state"], &two["said"]),
        (&"blocked".into(), &"Which one?".into())
    );
    let told = stage.repo.file_of("refs/heads/handoff/spread", "one/told");
    let session = told.split_whitespace().find(|it| it.starts_with("ses_"));
    let told = told.replace(session.unwrap(), "SESSION");
    assert_snapshot!(told, @"
    renewed spread.one: running
    code=0
    error: not allowed
      because SESSION may not add tasks
    hint: a session speaks for its own task only: `handoff done --summary TEXT`, `handoff block --reason TEXT`
    code=9
    error: this session works on `spread.one`, and speaks of no other task
    hint: say what you know of it with your last word: `handoff done --summary TEXT`, `handoff block --reason TEXT`
    code=9
    ");
}
