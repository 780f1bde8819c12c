//! `handoff dump`.

mod baton;

use insta::assert_snapshot;

use crate::stage::{Stage, tree};

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
    assert_snapshot!(stage.say("dump --task fix --next Done. --status done").snapshot(), @"
    exit status: 9
    --- stderr ---
    error: task `fix` is not changed: ses_1 may not say that a task is done; it is done when it is proved
    hint: a session speaks for its own task only: `handoff done --summary TEXT`, `handoff block --reason TEXT`
    ");
    stage
        .say("dump --task fix --next Stuck. --status blocked")
        .success();
    assert_eq!(stage.state("fix"), "blocked");
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
    let tree = stage.env.work().join("tree");
    stage
        .repo
        .git(["worktree", "add", "-q", "-d", tree.to_str().unwrap()]);
    let from_tree = |project: &str| {
        let words = format!("dump --task {project} --next x --project {project}");
        stage.env.handoff_in(&tree, words.split(' '))
    };
    from_tree("repo").success();
    from_tree("tree").failure(4);
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
    It begins after `fix`, and goes on from there.
    No worker lives here to take it: `handoff worker --agent NAME` starts one.
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

/// What an agent of a worker types, and what that answers.
fn typed(stage: &Stage, command: &str) -> String {
    let script =
        format!("[[step]]\nrun = ['sh', '-c', '{{ {command}; echo code=$?; }} > told 2>&1']\n");
    let script = stage.script("agent.toml", &script);
    let words = ["worker", "--once", "--script"].map(std::ffi::OsStr::new);
    stage.run(words.into_iter().chain([script.as_os_str()]));
    let branches = stage.repo.git([
        "for-each-ref",
        "--sort=-committerdate",
        "--format=%(refname)",
        "refs/heads/handoff",
        "refs/handoff/quarantine",
    ]);
    stage.repo.file_of(branches.lines().next().unwrap(), "told")
}

#[test]
fn a_session_says_its_last_word_with_a_dump_too() {
    let stage = Stage::new();
    stage.add("fix");
    typed(
        &stage,
        "handoff dump --task fix --status done --next Fixed.",
    );
    let fix = stage.json("queue show fix");
    assert_eq!(
        (&fix["state"], &fix["said"]),
        (&"done".into(), &"Fixed.".into())
    );
    stage.add("stuck");
    typed(
        &stage,
        "handoff dump --task stuck --status blocked --next Which?",
    );
    let stuck = stage.json("queue show stuck");
    assert_eq!(
        (&stuck["state"], &stuck["said"]),
        (&"blocked".into(), &"Which?".into())
    );
}

#[test]
fn a_session_speaks_of_no_other_task() {
    let stage = Stage::new();
    stage.add("other");
    stage.claim("other");
    stage.add("fix");
    let told = typed(
        &stage,
        "handoff dump --task other --status done --next Fixed.",
    );
    assert_snapshot!(told, @"
error: this session works on `fix`, and speaks of no other task
hint: say what you know of it with your last word: `handoff done --summary TEXT`, `handoff block --reason TEXT`
code=9
");
    assert_eq!(stage.state("other"), "leased");
}

#[test]
fn a_batch_that_a_session_opens_goes_on_from_its_own_task() {
    let stage = Stage::new();
    stage.add("split");
    let part =
        |id| format!("[[sub_tasks]]\nid = \"{id}\"\nbrief = \"x\"\nfile_ownership = [\"{id}/\"]\n");
    let head = "schema_version = 2\nbatch_id = \"b\"\nfan_in_task = \"merge\"\n";
    let text = format!("{head}{}{}", part("one"), part("two"));
    let manifest = stage.script("batch.toml", &text);
    let manifest = manifest.display();
    let told = typed(
        &stage,
        &format!("handoff dump --open-batch - < {manifest}; handoff queue list"),
    );
    let waits = "Its parts begin after `split`, and go on from there.";
    assert!(told.contains(waits), "{told}");
    assert_eq!(told.matches("waiting").count(), 3, "{told}");
    assert_eq!(stage.state("b.one"), "queued");
    let leaving = stage.say("transfer --batch b --to Ada --output b.hof");
    assert_snapshot!(leaving.failure(4).stderr, @"
    error: batch `b` goes on from `split`, which stays here
    hint: let it be done here: `handoff worker`; or call it off, land `split`, and open it again from there: `handoff batch cancel b`
    ");
    let paused = stage.json("pause --batch b");
    let paused = paused["id"].as_str().unwrap();
    let export = format!("package export {paused} --output b.hof --transfer-to Ada");
    let refused = stage.say(&export).failure(4).stderr;
    assert_snapshot!(refused.replace(paused, "PACKAGE"), @"
    error: batch `b` can go on only here: it goes on from another task, or a run waits for it
    hint: go on with it here: `handoff resume PACKAGE`
    ");
    assert_eq!(stage.json("batch show b")["state"], "open");
    stage.say(&format!("resume {paused}")).success();
    assert_eq!(stage.state("b.one"), "queued");
    let agent = "[[step]]\nrun = ['sh', '-c', 'd=${HANDOFF_TASK#b.}; mkdir $d && cp told $d/']\n";
    let agent = stage.script("agent.toml", agent);
    let words = ["worker", "--until-empty", "--script"].map(std::ffi::OsStr::new);
    stage
        .run(words.into_iter().chain([agent.as_os_str()]))
        .success();
    let branch = "refs/heads/handoff/b";
    for file in ["told", "one/told", "two/told"] {
        assert_eq!(stage.repo.file_of(branch, file), told);
    }
}

#[test]
fn what_says_nothing_where_it_stands_is_refused() {
    let stage = Stage::new();
    stage.say("dump --task there --next x").success();
    let before = stage.json("queue list");
    let refused = [
        "--task t --next x --batch-id nob",
        "--task t --next x --blocked-reason y",
        "--task t --next x --slots 2",
        "--task t --next x --at-once",
        "--task t --next x --fence 1",
        "--task there --next x --status done --tests y",
        "--task there --next x --status done --verify y",
        "--task there --next x --status done --blocked-reason y",
        "--task there --next x --status active --batch-id b --batch-done",
        "--task there --next x --status blocked --batch-id b --batch-blocked",
        "--open-batch batch.toml --slots 2",
        "--open-batch batch.toml --fence 2",
        "--open-batch batch.toml --blocked-reason y",
    ];
    let told = refused.map(|words| {
        let told = stage.say(&format!("dump {words}")).failure(2).stderr;
        told.lines().next().unwrap_or_default().to_owned()
    });
    assert_snapshot!(told.join("\n"), @"
    error: `--batch-id` goes with `--batch-done` or `--batch-blocked` only
    error: `--blocked-reason` goes with `--status blocked` or `--batch-blocked` only
    error: `--slots` goes with `--open-batch FILE --dry-run` only
    error: `--at-once` goes with what is dumped inside a session only
    error: `--fence` goes with `--status done` or `--status blocked` only
    error: `--tests` goes with `--status active` only
    error: `--verify` goes with `--status active` only
    error: `--blocked-reason` goes with `--status blocked` or `--batch-blocked` only
    error: the argument '--status <STATUS>' cannot be used with '--batch-done'
    error: the argument '--status <STATUS>' cannot be used with '--batch-blocked'
    error: `--slots` goes with `--open-batch FILE --dry-run` only
    error: the argument '--open-batch <FILE>' cannot be used with '--fence <NUMBER>'
    error: the argument '--open-batch <FILE>' cannot be used with '--blocked-reason <TEXT>'
    ");
    assert_eq!(stage.json("queue list"), before);
}

#[test]
fn a_reason_does_not_push_out_what_comes_next() {
    let stage = Stage::new();
    stage.add("fix");
    let dump = [
        "dump",
        "--task",
        "fix",
        "--status",
        "blocked",
        "--next",
        "Then go on.",
    ];
    stage
        .run(dump.into_iter().chain(["--blocked-reason", "Which bound?"]))
        .success();
    let said = stage.json("queue show fix")["said"].clone();
    assert_eq!(said, "Which bound?\n\nNext: Then go on.");
}

#[test]
fn a_dump_says_what_keeps_it_from_being_worked_on() {
    let stage = Stage::new();
    stage.say("hold").success();
    stage.say("hold --everything").success();
    let one = stage.say("dump --task one --next x --json").success();
    assert_snapshot!(one.stderr, @"
    Everything is held: `handoff unhold --everything` hands work out again.
    This project is held: `handoff unhold` hands work out again.
    No worker lives here to take it: `handoff worker --agent NAME` starts one.
    ");
    let two = stage.say("dump --task two --next x --after one").success();
    assert_snapshot!(two.stderr, @"
    It begins after `one`, and goes on from there.
    Everything is held: `handoff unhold --everything` hands work out again.
    This project is held: `handoff unhold` hands work out again.
    No worker lives here to take it: `handoff worker --agent NAME` starts one.
    ");
    stage.say("hold two").success();
    assert_snapshot!(stage.say("queue claim").snapshot(), @"
    exit status: 11
    --- stderr ---
    Nothing is ready to be claimed.
    Everything is held: `handoff unhold --everything` hands work out again.
    This project is held: `handoff unhold` hands work out again.
    `two` is held: `handoff unhold two` hands it out again.
    ");
    stage.say("unhold --everything").success();
    stage.say("unhold").success();
    assert_snapshot!(stage.say("dump --task three --next x").success().stderr, @"No worker lives here to take it: `handoff worker --agent NAME` starts one.");
}

/// The baton of a task.
fn baton(stage: &Stage, task: &str) -> String {
    let project = stage.json(&format!("queue show {task}"))["project"].clone();
    let home = stage.env.handoff_home().join("queue");
    let file = home
        .join(project.as_str().unwrap())
        .join(format!("{task}.md"));
    std::fs::read_to_string(file).unwrap()
}

#[track_caller]
fn assert_has(text: &str, parts: &[&str]) {
    for part in parts {
        assert!(text.contains(part), "{part:?} is not in {text}");
    }
}

#[test]
fn a_dry_run_decides_as_the_real_one_does_and_writes_nothing() {
    let stage = Stage::new();
    let batch = "schema_version = 2\nbatch_id = \"b\"\nfan_in_task = \"merge\"\n\
                 [[sub_tasks]]\nid = \"one\"\nbrief = \"x\"\nfile_ownership = [\"1/\"]\n";
    stage.repo.write("batch.toml", batch);
    let before = tree(stage.env.root());
    let runs = [
        ("--task fix --next x", Some(0)),
        ("--task fix --next x --after gone", Some(3)),
        ("--task fix --next x --status done", Some(3)),
        ("--open-batch batch.toml", Some(0)),
    ];
    for (words, code) in runs {
        let dry = stage.say(&format!("dump {words} --dry-run"));
        assert_eq!(dry.code(), code, "{words}");
    }
    assert_eq!(tree(stage.env.root()), before);
    stage.say("dump --task fix --next x").success();
    stage.say("dump --open-batch batch.toml").success();
    let before = (stage.json("queue list"), stage.say("events").stdout);
    for (words, code) in [
        ("--task fix --next again", 4),
        ("--task gone --next x --status done", 3),
        ("--task b.one --next x --after gone", 3),
        ("--open-batch batch.toml", 4),
    ] {
        stage.say(&format!("dump {words} --dry-run")).failure(code);
        stage.say(&format!("dump {words}")).failure(code);
    }
    let blocked = stage.say("dump --task fix --next Which? --status blocked --dry-run");
    assert_has(
        &blocked.success().stdout,
        &["status: blocked\n", "> Which?\n"],
    );
    assert_eq!(
        (stage.json("queue list"), stage.say("events").stdout),
        before
    );
    assert_has(&baton(&stage, "fix"), &["status: active\n"]);
}

#[test]
fn a_batch_for_an_agent_that_nobody_knows_is_not_opened() {
    let stage = Stage::new();
    let batch = "schema_version = 2\nbatch_id = \"b\"\nfan_in_task = \"merge\"\n\
                 [[sub_tasks]]\nid = \"one\"\nbrief = \"x\"\nfile_ownership = [\"1/\"]\nagent = \"hal\"\n";
    stage.repo.write("batch.toml", batch);
    assert_snapshot!(stage.say("dump --open-batch batch.toml").snapshot(), @"
    exit status: 1
    --- stderr ---
    error: the manifest has a mistake
      because sub_tasks[0] (one).agent: no agent is called `hal`; `handoff agents` lists those that there are
    hint: nothing was opened; when it is corrected, look again: `handoff batch plan batch.toml`
    ");
    let agents = stage.env.config_home().join("handoff/agents");
    std::fs::create_dir_all(&agents).unwrap();
    std::fs::write(agents.join("hal.toml"), "").unwrap();
    stage.say("dump --open-batch batch.toml").success();
}
