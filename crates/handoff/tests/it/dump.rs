//! `handoff dump`.

use insta::assert_snapshot;

use crate::stage::Stage;

#[test]
fn an_active_dump_is_a_task_for_the_next_session() {
    let stage = Stage::new();
    let dump = stage.run([
        "dump",
        "--task",
        "fix",
        "--next",
        "Fix the bound.",
        "--verify",
        "make test",
    ]);
    assert_snapshot!(dump.snapshot(), @"
    exit status: 0
    --- stdout ---
    dumped fix: queued
    --- stderr ---
    No worker lives here to take it: `handoff worker --agent NAME` starts one.
    ");
    let task = stage.json("queue claim")["task"].clone();
    assert_eq!(
        (&task["brief"], &task["verify"]),
        (&"Fix the bound.".into(), &"make test".into())
    );
}

#[test]
fn a_dump_that_is_done_completes_the_task() {
    let stage = Stage::new();
    stage.add("fix");
    let fence = stage.claim("fix");
    let dump = [
        "dump",
        "--task",
        "fix",
        "--next",
        "It was the bound.",
        "--status",
        "done",
        "--fence",
        &fence,
    ];
    assert_snapshot!(stage.run(dump).snapshot(), @"
    exit status: 0
    --- stdout ---
    completed fix: done
    ");
    assert_eq!(stage.json("queue show fix")["said"], "It was the bound.");
}

#[test]
fn a_dump_that_is_blocked_asks_for_a_person() {
    let stage = Stage::new();
    stage.add("fix");
    let dump = [
        "dump",
        "--task",
        "fix",
        "--next",
        "Which bound?",
        "--status",
        "blocked",
    ];
    assert_snapshot!(stage.run(dump).snapshot(), @"
    exit status: 0
    --- stdout ---
    fix is blocked
    ");
    assert_eq!(stage.state("fix"), "blocked");
}

#[test]
fn a_session_blocks_its_own_task_with_the_fence_it_was_started_with() {
    let mut stage = Stage::new();
    stage.add("fix");
    let claim = stage.json("queue claim fix");
    let id = claim["task"]["id"].as_str().unwrap().to_owned();
    stage
        .env
        .set("HANDOFF_SESSION", "ses_0192f0c47d0a7c3e9f5b2a1c3d4e5f60")
        .set("HANDOFF_TASK_ID", id)
        .set("HANDOFF_FENCE", "1");
    stage
        .say("dump --task fix --next Done. --status done")
        .failure(9);
    stage
        .say("dump --task fix --next Stuck. --status blocked")
        .success();
    assert_eq!(stage.state("fix"), "blocked");
}

#[test]
fn a_dump_leaves_a_baton_that_people_can_read() {
    let stage = Stage::new();
    let dump = [
        "dump",
        "--task",
        "fix",
        "--next",
        "Fix the bound.",
        "--tests",
        "tests/bound.rs",
        "--verify",
        "make test",
    ];
    let dry = stage.run(dump.into_iter().chain(["--dry-run"])).success();
    assert_eq!(stage.json("queue list")["tasks"].to_string(), "[]");
    stage.run(dump).success();
    let project = stage.json("queue show fix")["project"]
        .as_str()
        .unwrap()
        .to_owned();
    let baton = stage
        .env
        .handoff_home()
        .join("queue")
        .join(project)
        .join("fix.md");
    let baton = std::fs::read_to_string(baton).unwrap();
    assert_snapshot!(stage.env.normalize(&baton), @"
    ---
    task: fix
    id: task_1
    project: proj_1
    status: active
    branch: main
    head: hash_1
    ---

    # fix

    Fix the bound.

    The tests for this: tests/bound.rs

    ## Where the code stands

    `598080cc5392` is not verified: this branch has no baseline.

    ## Recent commits

    - 598080c first

    ## Tests

    - `make test`

    ## How to finish

    Inside a session: `handoff done`, or `handoff block --reason TEXT` if a person is needed. By hand: `handoff queue claim fix`, then `handoff queue complete fix --fence N`.
    ");
    let without_id = |text: &str| -> Vec<String> {
        let lines = text.lines().filter(|line| !line.starts_with("id: "));
        lines.map(str::to_owned).collect()
    };
    assert_eq!(
        without_id(dry.stdout.trim_end()),
        without_id(baton.trim_end())
    );
}

#[test]
fn a_dump_for_another_project_is_refused() {
    let stage = Stage::new();
    let dump = |more: &[&str]| {
        let dump = ["dump", "--task", "fix", "--next", "x"];
        stage.run(dump.into_iter().chain(more.iter().copied()))
    };
    assert_snapshot!(dump(&["--project", "other"]).snapshot(), @r#"
    exit status: 4
    --- stderr ---
    error: this repository is `repo`, not the project "other"
    hint: a project is the repository one stands in; `--workspace PATH` names another
    "#);
    dump(&["--workspace", "/"]).failure(3);
    dump(&["--project", "repo", "--workspace", "."]).success();
}

#[test]
fn what_a_session_dumps_goes_on_from_its_own_task() {
    let mut stage = Stage::new();
    stage.add("fix");
    let claim = stage.json("queue claim fix");
    let id = claim["task"]["id"].as_str().unwrap().to_owned();
    stage
        .env
        .set("HANDOFF_SESSION", "ses_0192f0c47d0a7c3e9f5b2a1c3d4e5f60")
        .set("HANDOFF_TASK_ID", id.clone())
        .set("HANDOFF_FENCE", "1");
    assert_snapshot!(stage.say("dump --task next --next Go.").snapshot(), @"
    exit status: 0
    --- stdout ---
    dumped next: waiting
    --- stderr ---
    It begins when `fix` is done, and goes on from there.
    ");
    assert_eq!(stage.json("queue show next")["waiting_for"][0], id);
    stage
        .say("dump --task aside --next Go. --at-once")
        .success();
    assert_eq!(stage.state("aside"), "queued");
    stage
        .say("dump --task fix --next Stuck. --status blocked --after next")
        .failure(2);
}

#[test]
fn a_baton_has_what_the_tasks_before_it_left() {
    let stage = Stage::new();
    stage.add("first");
    let script = "[[step]]\nwrite = { path = 'new', text = 'new' }\n[[step]]\n\
                  run = ['handoff', 'done', '--summary', 'The bound is exclusive.']\n";
    let script = stage.script("agent.toml", script);
    let words = ["worker", "--once", "--script"].map(std::ffi::OsStr::new);
    stage
        .run(words.into_iter().chain([script.as_os_str()]))
        .success();
    let dry = stage
        .say("dump --task second --next Go. --after first --dry-run")
        .success();
    for part in [
        "## Goes on from\n\n- `first`\n",
        "## What the session before you left (first)\n",
        "> The bound is exclusive.\n",
    ] {
        assert!(
            dry.stdout.contains(part),
            "{part:?} is not in {}",
            dry.stdout
        );
    }
}
