//! Where things stand, written down without anyone's help.

use insta::assert_snapshot;

use crate::stage::Stage;

#[test]
fn it_says_the_step_the_commit_and_how_much_is_not_committed() {
    let stage = Stage::new();
    stage.repo.write("code", "1\n").commit("first");
    stage.feature("tables", "- [>] make the table\n");
    stage.repo.write("code", "2\n").write("new", "1\n");
    let said = stage.run(["checkpoint", "--reason", "lunch"]).success();
    let said = said
        .snapshot()
        .replace(&stage.repo.head()[..10], "<commit>");
    assert_snapshot!(said, @"
    exit status: 0
    --- stdout ---
    checkpoint of tables at <commit> (lunch): 2 files not committed (1 file changed, 1 insertion(+), 1 deletion(-)); make the table
    ");
    let status = stage.json("status");
    assert_eq!(status["freshness"], "current");
    assert_eq!(status["recorded"]["uncommitted"], 2);
    let prompt = stage.say("continue --raw").success();
    assert!(
        prompt.stdout.contains("> make the table; lunch"),
        "{}",
        prompt.stdout
    );
}

#[test]
fn before_the_first_commit_it_works_too() {
    let stage = Stage::new();
    let empty = stage.env.root().join("empty");
    stage
        .repo
        .git(["init", "-q", "-b", "main", empty.to_str().unwrap()]);
    let run = |args: [&str; 2]| stage.env.handoff_in(&empty, args).success();
    run(["init", "tables"]);
    let said = run(["checkpoint", "--json"]).json();
    assert_eq!(said["tree"]["commit"], serde_json::Value::Null);
    assert_eq!(said["tree"]["branch"], "main");
}

#[test]
fn a_sub_task_may_not_keep_the_record() {
    let stage = Stage::new();
    stage.feature("tables", "- [>] make the table\n");
    let mut checkpoint = stage.command(["checkpoint"]);
    checkpoint
        .env("HANDOFF_SESSION", "ses_0192f0c47d0a7c3e9f5b2a1c3d4e5f60")
        .env("HANDOFF_ROLE", "sub-task");
    assert_eq!(checkpoint.output().unwrap().status.code(), Some(9));
    assert_eq!(stage.say("events").success().stdout, "");
}

#[test]
fn files_that_git_does_not_know_yet_are_not_committed_either() {
    let stage = Stage::new();
    stage.repo.write("code", "1\n").commit("first");
    stage.feature("tables", "- [>] make the table\n");
    stage.repo.write("new", "1\n");
    assert_eq!(stage.json("checkpoint")["changes"], "1 file not committed");
}
