//! What the session of a plain task can do outside of its worktree.

use std::fs;

use handoff_testkit::{Need, skip_without};

use crate::stage::Stage;

/// Moves refs by hand, in every way that no hook sees, and writes a file beside its tree.
const HANDS: &str = "[[step]]\nrun = [\"sh\", \"-c\", '''
G=$(git rev-parse --path-format=absolute --git-common-dir)
git rev-parse HEAD > $G/refs/heads/made
git rev-parse HEAD > $G/refs/heads/moved
rm $G/refs/heads/removed
mkdir -p $G/refs/heads/deep/er; git rev-parse HEAD > $G/refs/heads/deep/er/made
git rev-parse HEAD > $G/refs/tags/tagged
echo outside > $G/../outside
echo mine > mine
''']\n";

fn play(settings: &str) -> Stage {
    let stage = Stage::new();
    stage.configure(settings);
    let first = stage.repo.head();
    stage.repo.write("a", "new").commit("second");
    stage.repo.git(["branch", "moved", &first]);
    stage.repo.git(["branch", "removed", &first]);
    stage.say("hooks install").success();
    stage.add("fix");
    let script = stage.script("agent.toml", HANDS);
    let script = script.to_str().unwrap();
    stage.run(["worker", "--once", "--script", script]);
    stage
}

fn told(stage: &Stage) -> Vec<String> {
    let told = stage.run(["hooks", "status", "--json"]).json();
    let foreign = told["foreign"].as_array().cloned().unwrap_or_default();
    let names = foreign.iter().filter_map(|it| it["name"].as_str());
    names.map(str::to_owned).collect()
}

#[test]
fn refs_that_a_task_without_a_sandbox_moves_are_told() {
    let stage = play("[worker]\nsandbox = \"none\"\n");
    assert_eq!(
        told(&stage),
        [
            "refs/heads/deep/er/made",
            "refs/heads/made",
            "refs/heads/moved",
            "refs/heads/removed",
            "refs/tags/tagged"
        ]
    );
}

#[test]
fn a_task_in_the_sandbox_moves_none_and_writes_nowhere_else() {
    if skip_without(&[Need::Landlock]) {
        return;
    }
    let stage = play("[worker]\nsandbox = \"worktree\"\n");
    assert_eq!(told(&stage), Vec::<String>::new());
    let refs = stage.repo.refs();
    assert!(refs.contains_key("refs/heads/removed"), "{refs:?}");
    assert!(!refs.contains_key("refs/heads/made"), "{refs:?}");
    assert!(!fs::exists(stage.repo.path().join("outside")).unwrap());
    let task = stage.json("queue show fix");
    assert_eq!(task["state"], "done", "{task}");
    let branch = task["evidence"][0]["branch"].as_str().unwrap();
    assert_eq!(stage.repo.changes_of(branch), ["mine"]);
}
