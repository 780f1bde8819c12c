//! The baton that a dump leaves for people.

use insta::assert_snapshot;

use super::{assert_has, baton, typed};
use crate::stage::Stage;

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
    version: 1
    branch: main
    head: hash_1
    base: hash_1
    baseline: none
    verified: false
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
        let lines = text
            .lines()
            .filter(|line| !line.starts_with("id: ") && !line.starts_with("project: "));
        lines.map(str::to_owned).collect()
    };
    assert_eq!(
        without_id(dry.stdout.trim_end()),
        without_id(baton.trim_end())
    );
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
        "## Goes on from\n\n- `first`, which left `",
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

#[test]
fn a_baton_follows_what_comes_of_its_task() {
    let stage = Stage::new();
    stage.say("dump --task one --next Go.").success();
    stage
        .say("dump --task two --next On. --after one")
        .success();
    typed(&stage, "handoff done --summary Exclusive.");
    assert_has(&baton(&stage, "one"), &["status: done\n"]);
    assert_has(
        &baton(&stage, "two"),
        &[
            "status: active\n",
            "> Exclusive.\n",
            "- `one`, which left `",
        ],
    );
    typed(&stage, "handoff block --reason Which?");
    let blocked = baton(&stage, "two");
    let asks = "## What a person is needed for\n\n> Which?\n";
    assert_has(
        &blocked,
        &[
            "status: blocked\n",
            asks,
            "> Exclusive.\n",
            "Attempt 1 needed a person",
        ],
    );
    stage.say("queue retry two").success();
    let again = baton(&stage, "two");
    assert_has(
        &again,
        &[
            "status: active\n",
            "Attempt 1 needed a person:\n\n> Which?\n",
        ],
    );
    assert!(!again.contains(asks), "{again}");
    stage.say("queue fail two --reason Broken.").success();
    assert_has(
        &baton(&stage, "two"),
        &["status: failed\n", "## Why it failed\n\n> Broken.\n"],
    );
}

#[test]
fn a_baton_that_missed_something_is_built_anew_by_the_next_who_puts_things_right() {
    let stage = Stage::new();
    stage.say("dump --task fix --next Go.").success();
    let old = baton(&stage, "fix");
    stage.say("queue block fix --reason Which?").success();
    let file = stage.env.handoff_home().join("queue");
    let project = std::fs::read_dir(file).unwrap().next().unwrap().unwrap();
    std::fs::write(project.path().join("fix.md"), old).unwrap();
    stage.say("watchdog").success();
    assert_has(&baton(&stage, "fix"), &["status: blocked\n", "> Which?\n"]);
}

#[test]
fn a_baton_says_where_a_session_will_begin_whoever_dumps_it() {
    let stage = Stage::new();
    let tree = stage.env.work().join("tree");
    let tree = tree.to_str().unwrap();
    stage
        .repo
        .git(["worktree", "add", "-q", "-b", "other", tree]);
    let commit = [
        "-C",
        tree,
        "commit",
        "-q",
        "--allow-empty",
        "-m",
        "elsewhere",
    ];
    stage.repo.git(commit);
    let evil = "Red \u{1b}[31mtext\u{7}.\nAnd\u{202e} more.";
    let dump = ["dump", "--task", "fix", "--next", evil];
    stage
        .env
        .handoff_in(std::path::Path::new(tree), dump)
        .success();
    let dumped = baton(&stage, "fix");
    let head = stage.repo.head();
    let expected =
        format!("branch: main\nhead: {head}\nbase: {head}\nbaseline: none\nverified: false\n");
    assert_has(&dumped, &[&expected, "Red [31mtext.\nAnd more.\n"]);
    assert!(!dumped.contains("elsewhere"), "{dumped}");
    stage.say("baseline verify -- true").success();
    stage.say("dump --task next --next Go.").success();
    let expected = format!("baseline: {head}\nverified: true\n");
    assert_has(&baton(&stage, "next"), &[&expected]);
}
