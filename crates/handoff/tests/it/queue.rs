//! Each command of `handoff queue`, in text and in JSON.

use insta::assert_snapshot;

use crate::stage::Stage;

/// The schema and the fields of a document, without what differs from run to run.
fn pretty(stage: &Stage, words: &str) -> String {
    let document = stage.json(words);
    stage
        .env
        .normalize(&serde_json::to_string_pretty(&document).unwrap())
}

#[test]
fn add_puts_a_task_into_the_queue() {
    let stage = Stage::new();
    let text = stage.run(["queue", "add", "fix", "--brief", "Fix it."]);
    assert_snapshot!(text.snapshot(), @"
    exit status: 0
    --- stdout ---
    added fix: queued
    ");
    assert_snapshot!(pretty(&stage, "queue add next --brief Later. --priority -3 --own src/ --own docs/**/*.md --after fix --verify make --key k1"), @r#"
    {
      "is_repeat": false,
      "key": "k1",
      "schema": "handoff.receipt/1",
      "task": {
        "agent": null,
        "attempts": 0,
        "batch": null,
        "brief": "Later.",
        "created_at": "<time>",
        "ended_at": null,
        "evidence": [],
        "hold": null,
        "id": "task_1",
        "lease": null,
        "name": "next",
        "owns": [
          "src/",
          "docs/**/*.md"
        ],
        "priority": -3,
        "project": "proj_1",
        "rest": null,
        "said": null,
        "setbacks": 0,
        "state": "waiting",
        "verify": "make",
        "version": 1,
        "waiting_for": [
          "task_2"
        ]
      }
    }
    "#);
}

#[test]
fn add_takes_the_brief_from_stdin_and_from_a_file() {
    let stage = Stage::new();
    let from_stdin = stage.command(["queue", "add", "one", "--brief", "-"]);
    stage
        .env
        .run_with_input(from_stdin, b"First line.\nSecond line.\n")
        .success();
    let file = stage.script("brief.md", "From a file.\n");
    stage
        .run([
            "queue".as_ref(),
            "add".as_ref(),
            "two".as_ref(),
            "--brief-file".as_ref(),
            file.as_os_str(),
        ])
        .success();
    let brief = |name: &str| stage.json(&format!("queue show {name}"))["brief"].clone();
    assert_eq!(
        [brief("one"), brief("two")],
        ["First line.\nSecond line.\n", "From a file.\n"]
    );
}

#[test]
fn list_of_a_repository_without_tasks_says_how_to_begin() {
    let stage = Stage::new();
    assert_snapshot!(stage.say("queue list").snapshot(), @"
    exit status: 0
    --- stderr ---
    There is nothing to do. Add a task with `handoff queue add NAME --brief TEXT`.
    ");
    assert_snapshot!(stage.say("queue list --json").snapshot(), @r#"
    exit status: 0
    --- stdout ---
    {"schema":"handoff.queue/1","project":"","hold":null,"rests":[],"tasks":[],"has_more":false}
    "#);
    assert!(!stage.env.handoff_home().exists(), "looking makes no store");
}

#[test]
fn list_shows_open_tasks_in_the_order_of_claiming() {
    let stage = Stage::new();
    for (name, priority) in [("plain", "0"), ("urgent", "5"), ("gone", "9")] {
        let brief = format!("Do {name}.");
        let add = [
            "queue",
            "add",
            name,
            "--brief",
            &brief,
            "--priority",
            priority,
        ];
        stage.run(add).success();
    }
    stage.say("queue cancel gone --yes").success();
    assert_snapshot!(stage.say("queue list").snapshot(), @"
    exit status: 0
    --- stdout ---
    NAME    STATE   PRIO  TRY  BRIEF
    urgent  queued  5     0    Do urgent.
    plain   queued  0     0    Do plain.
    ");
    assert_snapshot!(stage.say("queue list --all").snapshot(), @"
    exit status: 0
    --- stdout ---
    NAME    STATE      PRIO  TRY  BRIEF
    gone    cancelled  9     0    Do gone.
    urgent  queued     5     0    Do urgent.
    plain   queued     0     0    Do plain.
    ");
    assert_snapshot!(stage.say("queue list --limit 1").snapshot(), @"
    exit status: 0
    --- stdout ---
    NAME    STATE   PRIO  TRY  BRIEF
    urgent  queued  5     0    Do urgent.
    --- stderr ---
    There are more: `handoff queue list --limit 4`.
    ");
    let page = stage.json("queue list --limit 1");
    assert_eq!(page["schema"], "handoff.queue/1");
    assert_eq!(page["has_more"], true);
    assert_eq!(page["tasks"][0]["name"], "urgent");
}

#[test]
fn show_tells_everything_about_a_task() {
    let stage = Stage::new();
    stage.add("first");
    stage
        .run([
            "queue",
            "add",
            "fix",
            "--brief",
            "Fix it.\nAll of it.",
            "--own",
            "src/",
            "--verify",
            "make test",
            "--after",
            "first",
        ])
        .success();
    assert_snapshot!(stage.say("queue show fix").snapshot(), @"
    exit status: 0
    --- stdout ---
    fix  waiting

      Fix it.
      All of it.

    id         task_1
    added      <time> UTC
    owns       src/
    verify     make test
    waits for  first (queued)

           2  <time>  fix #1 added: Fix it. All of it., by person
    ");
    assert_snapshot!(pretty(&stage, "queue show fix"), @r#"
    {
      "agent": null,
      "attempts": 0,
      "batch": null,
      "brief": "Fix it.\nAll of it.",
      "created_at": "<time>",
      "ended_at": null,
      "evidence": [],
      "hold": null,
      "id": "task_1",
      "lease": null,
      "name": "fix",
      "owns": [
        "src/"
      ],
      "priority": 0,
      "project": "proj_1",
      "rest": null,
      "said": null,
      "schema": "handoff.task/1",
      "setbacks": 0,
      "state": "waiting",
      "verify": "make test",
      "version": 1,
      "waiting_for": [
        "task_2"
      ]
    }
    "#);
}

#[test]
fn show_finds_a_task_by_its_id_too() {
    let stage = Stage::new();
    stage.add("fix");
    let id = stage.json("queue show fix")["id"].clone();
    assert_eq!(
        stage.json(&format!("queue show {}", id.as_str().unwrap()))["name"],
        "fix"
    );
}

#[test]
fn claim_gives_the_brief_and_the_fence() {
    let stage = Stage::new();
    stage.add("fix");
    assert_snapshot!(stage.say("queue claim").snapshot(), @"
    exit status: 0
    --- stdout ---
    claimed fix with fence 1

    Do fix.
    --- stderr ---

    When it is done: `handoff queue complete fix --fence 1`.
    ");
    stage.add("other");
    assert_snapshot!(pretty(&stage, "queue claim other --ttl 90s --key k1"), @r#"
    {
      "is_repeat": false,
      "key": "k1",
      "schema": "handoff.claim/1",
      "task": {
        "agent": null,
        "attempts": 1,
        "batch": null,
        "brief": "Do other.",
        "created_at": "<time>",
        "ended_at": null,
        "evidence": [],
        "hold": null,
        "id": "task_1",
        "lease": {
          "fence": 1,
          "left_seconds": <duration>,
          "owner": "person",
          "session": null,
          "ttl_seconds": <duration>
        },
        "name": "other",
        "owns": [],
        "priority": 0,
        "project": "proj_1",
        "rest": null,
        "said": null,
        "setbacks": 0,
        "state": "leased",
        "verify": null,
        "version": 2,
        "waiting_for": []
      }
    }
    "#);
}

#[test]
fn heartbeat_keeps_the_lease() {
    let stage = Stage::new();
    stage.add("fix");
    let fence = stage.claim("fix");
    let beat = stage.say(&format!("queue heartbeat fix --fence {fence}"));
    assert_snapshot!(beat.snapshot(), @"
    exit status: 0
    --- stdout ---
    renewed fix: leased
    ");
    let again = stage.json(&format!("queue heartbeat fix --fence {fence}"));
    assert_eq!(again["schema"], "handoff.receipt/1");
    assert_eq!(again["task"]["lease"]["fence"], 1);
    assert_snapshot!(stage.say("queue heartbeat fix").snapshot(), @"
    exit status: 2
    --- stderr ---
    error: `--fence` is needed: the number you got when you claimed the task
    ");
}

#[test]
fn complete_ends_a_task_with_what_was_said() {
    let stage = Stage::new();
    stage.add("fix");
    let fence = stage.claim("fix");
    let done = stage.run([
        "queue",
        "complete",
        "fix",
        "--fence",
        &fence,
        "--summary",
        "It was the loop.",
    ]);
    assert_snapshot!(done.snapshot(), @"
    exit status: 0
    --- stdout ---
    completed fix: done
    ");
    let task = stage.json("queue show fix");
    assert_eq!(
        (&task["state"], &task["said"]),
        (&"done".into(), &"It was the loop.".into())
    );
}

#[test]
fn fail_and_block_say_why_and_retry_opens_again() {
    let stage = Stage::new();
    stage.add("fix");
    let fence = stage.claim("fix");
    let failed = stage.run([
        "queue",
        "fail",
        "fix",
        "--fence",
        &fence,
        "--reason",
        "No compiler.",
    ]);
    assert_snapshot!(failed.snapshot(), @"
    exit status: 0
    --- stdout ---
    fix is failed
    ");
    assert_snapshot!(stage.say("queue retry fix").snapshot(), @"
    exit status: 0
    --- stdout ---
    reopened fix: queued
    ");
    let blocked = stage.run([
        "queue",
        "block",
        "fix",
        "--reason",
        "Which database?",
        "--json",
    ]);
    let receipt = blocked.success().json();
    assert_eq!(receipt["schema"], "handoff.receipt/1");
    assert_eq!(
        (&receipt["task"]["state"], &receipt["task"]["said"]),
        (&"blocked".into(), &"Which database?".into())
    );
}

#[test]
fn release_gives_a_task_back() {
    let stage = Stage::new();
    stage.add("fix");
    let fence = stage.claim("fix");
    let released = stage.run([
        "queue", "release", "fix", "--fence", &fence, "--reason", "Lunch.",
    ]);
    assert_snapshot!(released.snapshot(), @"
    exit status: 0
    --- stdout ---
    released fix: queued
    ");
    assert_eq!(stage.claim("fix"), "2");
}

#[test]
fn cancel_ends_a_task_that_somebody_works_on() {
    let stage = Stage::new();
    stage.add("fix");
    let fence = stage.claim("fix");
    let cancelled = stage.run(["queue", "cancel", "fix", "--yes", "--reason", "Not wanted."]);
    assert_snapshot!(cancelled.snapshot(), @"
    exit status: 0
    --- stdout ---
    fix is cancelled
    ");
    stage
        .say(&format!("queue complete fix --fence {fence}"))
        .failure(4);
}

#[test]
fn every_document_says_its_schema() {
    let stage = Stage::new();
    stage.add("a");
    stage.add("b");
    for (words, schema) in [
        ("queue add c --brief x", "handoff.receipt/1"),
        ("queue list", "handoff.queue/1"),
        ("queue show a", "handoff.task/1"),
        ("queue claim a", "handoff.claim/1"),
        ("queue heartbeat a --fence 1", "handoff.receipt/1"),
        ("queue release a --fence 1", "handoff.receipt/1"),
        ("queue cancel a", "handoff.receipt/1"),
        ("queue retry a", "handoff.receipt/1"),
        ("queue fail a --reason x", "handoff.receipt/1"),
        ("queue block b --reason x", "handoff.receipt/1"),
        ("queue complete c", "handoff.receipt/1"),
        ("dump --task d --next x", "handoff.receipt/1"),
        ("hold", "handoff.hold/1"),
        ("unhold", "handoff.hold/1"),
        ("hold d", "handoff.receipt/1"),
        ("doctor", "handoff.doctor/1"),
        ("version", "handoff.version/1"),
        ("help exit-codes", "handoff.exit-codes/1"),
    ] {
        assert_eq!(stage.json(words)["schema"], schema, "{words}");
    }
    let events = stage.say("events --json").success().json_lines();
    assert!(
        events
            .iter()
            .all(|event| event["schema"] == "handoff.event/1")
    );
    let error = stage.say("queue show nobody --json").failure(3).json();
    assert_eq!(error["schema"], "handoff.error/1");
}
