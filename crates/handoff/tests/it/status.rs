//! One screen that says how far a feature is, and whether that is still true.

use insta::assert_snapshot;

use crate::stage::Stage;

const PLAN: &str =
    "- [x] make the table\n- [>] fill it\n- [!] print it\n  blocked: which paper?\n- [ ] ship it\n";

fn stage() -> Stage {
    let stage = Stage::new();
    stage.repo.write("code", "1").commit("first");
    stage.feature("tables", PLAN);
    stage
}

fn shown(stage: &Stage) -> String {
    let shown = stage.say("status").success().snapshot();
    shown.replace(&stage.repo.head()[..10], "<commit>")
}

#[test]
fn the_step_the_freshness_and_what_blocks_are_on_one_screen() {
    let stage = stage();
    assert_snapshot!(shown(&stage), @"
    exit status: 0
    --- stdout ---
    tables  ██████░░░░░░░░░░░░░░░░░░  1 of 4 steps done
      step     2: fill it (STATE.md:8)
      fresh    unknown: no state of the code was recorded with this plan
      code     main at <commit>
      blocked  3: print it: which paper?
      next     handoff continue --copy
    ");
}

#[test]
fn each_way_of_being_out_of_date_is_told_apart() {
    let stage = stage();
    // The commits below take everything that git sees.
    stage.say("ignore").success();
    let freshness = || {
        stage.json("status")["freshness"]
            .as_str()
            .unwrap()
            .to_owned()
    };
    stage.say("checkpoint").success();
    assert_eq!(freshness(), "current");
    stage.repo.write("code", "2");
    assert_eq!(freshness(), "dirty: 1 file not committed");
    stage.repo.commit("second");
    assert_eq!(freshness(), "ahead by 1 commit");
    stage.say("checkpoint").success();
    stage.repo.git(["switch", "-q", "-c", "side", "HEAD~1"]);
    assert_eq!(freshness(), "behind by 1 commit; written on branch `main`");
    stage.repo.write("other", "1").commit("third");
    assert_eq!(
        freshness(),
        "diverged: 1 commit added, 1 gone; written on branch `main`"
    );
}

#[test]
fn it_is_the_same_from_a_sub_directory_and_from_a_linked_worktree() {
    let stage = stage();
    stage.repo.write("deep/down/file", "1").commit("deep");
    let linked = stage.env.root().join("linked");
    stage
        .repo
        .git(["worktree", "add", "-q", linked.to_str().unwrap()]);
    for place in [stage.repo.path().join("deep/down"), linked] {
        let status = stage.env.handoff_in(&place, ["status", "--json"]).success();
        assert_eq!(status.json()["feature"], "tables", "{}", place.display());
    }
}

#[test]
fn a_follower_is_told_when_a_document_changes_by_hand_or_by_command() {
    let stage = stage();
    let follower = stage.start(["status", "--follow", "--json"]);
    assert!(follower.line().contains(r#""done":1"#));
    stage.say("step done 2").success();
    assert!(follower.line().contains(r#""done":2"#));
    let path = ".handoff/features/tables/STATE.md";
    let plan = stage.repo.read(path).unwrap();
    stage.repo.write(path, plan.replace("[>]", "[x]"));
    assert!(follower.line().contains(r#""done":3"#));
}

#[test]
fn a_follower_is_told_of_another_current_feature() {
    let stage = stage();
    let follower = stage.start(["status", "--follow", "--json"]);
    assert!(follower.line().contains(r#""feature":"tables""#));
    stage.feature("chairs", "- [ ] saw\n");
    assert!(follower.line().contains(r#""feature":"chairs""#));
}

#[test]
fn without_a_workspace_the_next_step_is_named() {
    let stage = Stage::new();
    assert_snapshot!(stage.say("status").snapshot(), @"
    exit status: 3
    --- stderr ---
    error: there is no workspace here yet
    hint: make one: `handoff init <feature>`
    ");
}

#[test]
fn a_ledger_that_cannot_be_read_keeps_nobody_from_the_plan() {
    let stage = stage();
    stage.say("checkpoint").success();
    let mut status = stage.command(["status", "--json"]);
    status.env("HANDOFF_STORE", "postgres:///x?host=/nowhere&user=x");
    let status = stage.env.run(status).success().json();
    assert_eq!(status["plan"]["done"], 1);
    assert!(
        status["warnings"][0]
            .as_str()
            .unwrap()
            .starts_with("the ledger cannot be read")
    );
}

#[test]
fn an_edit_by_hand_and_a_noted_blocker_are_told() {
    let stage = stage();
    stage.say("step done 2").success();
    assert_eq!(stage.json("status")["is_current"], true);
    stage
        .run(["note", "the mill is closed", "--blocker"])
        .success();
    let path = ".handoff/features/tables/STATE.md";
    let plan = stage.repo.read(path).unwrap();
    stage.repo.write(path, plan.replace("[>]", "[x]"));
    let status = stage.json("status");
    assert_eq!(
        (&status["is_current"], &status["is_plan_edited"]),
        (&false.into(), &true.into())
    );
    assert_eq!(status["blockers"][0], "the mill is closed");
}

/// A repository without a feature, in which things go on.
fn busy_stage() -> Stage {
    let stage = Stage::new();
    stage.repo.write("code", "1").commit("first");
    for name in ["ready", "kept", "asking", "broken"] {
        stage.add(name);
    }
    stage.say("hold kept").success();
    for (name, end) in [("asking", "block"), ("broken", "fail")] {
        stage.run(["queue", "claim", name]).success();
        stage
            .run([
                "queue",
                end,
                name,
                "--fence",
                "1",
                "--reason",
                "Which paper?",
            ])
            .success();
    }
    stage
}

#[test]
fn without_a_feature_it_shows_what_goes_on_and_what_waits_for_a_person() {
    let stage = busy_stage();
    assert_snapshot!(stage.say("status").success().snapshot(), @"
    exit status: 0
    --- stdout ---
      feature  none yet: `handoff init NAME` makes one
      queue    1 queued, 1 held; no worker lives: `handoff worker`
      for you  task broken: failed: Which paper? `handoff queue show broken`
      for you  task asking: blocked: Which paper? `handoff queue show asking`
    ");
    let status = stage.json("status");
    assert!(status.get("feature").is_none());
    assert_eq!(status["project"]["tasks"]["queued"], 1);
    assert_eq!(status["project"]["needs"].as_array().unwrap().len(), 2);
}

#[test]
fn a_feature_comes_first_and_the_rest_of_the_project_after_it() {
    let stage = busy_stage();
    stage.feature("tables", PLAN);
    stage
        .run(["run", "bash", "--id", "api", "--detach"])
        .success();
    stage.say("wait --id api --until prompt").success();
    let shown = stage.say("status").success().stdout;
    let labels: Vec<_> = shown
        .lines()
        .skip(1)
        .filter_map(|it| it.split_whitespace().next())
        .collect();
    assert_eq!(
        labels,
        [
            "step", "fresh", "code", "blocked", "session", "queue", "for", "for", "next"
        ]
    );
    assert!(shown.contains("session  api: bash, prompt"), "{shown}");
    stage.say("stop --id api").success();
    assert_eq!(
        stage.json("status")["project"]["sessions"],
        serde_json::json!([])
    );
}

#[test]
fn a_follower_hears_of_a_task() {
    let stage = stage();
    stage.add("first");
    let follower = stage.start(["status", "--follow", "--json"]);
    assert!(follower.line().contains(r#""queued":1"#));
    stage.add("second");
    assert!(follower.line().contains(r#""queued":2"#));
}
