//! A batch from its manifest to its branch, with the built-in agent and real git.

mod defects;

use std::ffi::OsStr;

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
