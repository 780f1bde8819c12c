//! `handoff worker --once`, with the built-in agent. What the engine does is tested there.

use insta::assert_snapshot;

use crate::stage::Stage;

fn work(stage: &Stage, script: &str) -> handoff_testkit::Output {
    let script = stage.script("agent.toml", script);
    stage.run([
        "worker".as_ref(),
        "--once".as_ref(),
        "--script".as_ref(),
        script.as_os_str(),
    ])
}

const WRITE: &str = "[[step]]\nwrite = { path = \"new.txt\", text = \"new\\n\" }\n";

#[test]
fn accepted_work_is_done_and_on_its_branch() {
    let stage = Stage::new();
    stage
        .say("queue add fix --brief Write. --verify true")
        .success();
    assert_snapshot!(work(&stage, WRITE).snapshot(), @"
    exit status: 0
    --- stdout ---
    fix is done
    ");
    let task = stage.json("queue show fix");
    let proofs: Vec<_> = task["evidence"]
        .as_array()
        .unwrap()
        .iter()
        .map(|it| it["type"].clone())
        .collect();
    assert_eq!(proofs, ["verified", "committed", "sealed"]);
    let branch = task["evidence"][1]["branch"].as_str().unwrap();
    assert_eq!(stage.repo.changes_of(branch), ["new.txt"]);
}

#[test]
fn a_script_that_cannot_be_played_costs_no_attempt() {
    let stage = Stage::new();
    stage.add("fix");
    let missing = stage.say("worker --once --script nowhere.toml");
    assert_snapshot!(missing.snapshot(), @"
    exit status: 2
    --- stderr ---
    error: `--script` names nothing that can be played
      because cannot read the script `$TEMP/repo/nowhere.toml`
      because No such file or directory (os error 2)
    ");
    let wrong = work(&stage, "[[step]]\ndance = true\n").failure(2);
    assert!(wrong.stderr.contains("is wrong"), "{}", wrong.stderr);
    let task = stage.json("queue show fix");
    assert_eq!(
        (&task["state"], &task["attempts"]),
        (&"queued".into(), &0.into())
    );
}

#[test]
fn rejected_work_is_a_failed_check() {
    let stage = Stage::new();
    stage
        .run([
            "queue",
            "add",
            "fix",
            "--brief",
            "Write.",
            "--verify",
            "echo no good; exit 3",
        ])
        .success();
    assert_snapshot!(work(&stage, WRITE).snapshot(), @"
    exit status: 12
    --- stdout ---
    fix is failed: `echo no good; exit 3` exited with 3: no good
    ");
    assert_eq!(stage.state("fix"), "failed");
}

#[test]
fn work_outside_of_its_ownership_is_blocked() {
    let stage = Stage::new();
    stage
        .say("queue add fix --brief Write. --own src/")
        .success();
    assert_snapshot!(work(&stage, WRITE).snapshot(), @"
    exit status: 12
    --- stdout ---
    fix is blocked: the session changed what it does not own: `new.txt`
    ");
    assert_eq!(stage.state("fix"), "blocked");
}

/// An agent that writes a file, says something by this very program, and does not leave by itself.
fn saying(words: &[&str]) -> String {
    let program = env!("CARGO_BIN_EXE_handoff");
    let words: Vec<_> = [program]
        .iter()
        .chain(words)
        .map(|it| format!("{it:?}"))
        .collect();
    format!(
        "{WRITE}\n[[step]]\nrun = [{}]\n[[step]]\nhang = true\n",
        words.join(", ")
    )
}

#[test]
fn a_session_that_says_it_is_done_is_judged_and_its_words_are_kept() {
    let stage = Stage::new();
    stage
        .say("queue add fix --brief Write. --verify true")
        .success();
    let script = saying(&["done", "--summary", "I wrote it."]);
    assert_snapshot!(work(&stage, &script).snapshot(), @"
    exit status: 0
    --- stdout ---
    fix is done
    ");
    let task = stage.json("queue show fix");
    assert_eq!(task["said"], "I wrote it.");
    let branch = task["evidence"][1]["branch"].as_str().unwrap();
    assert_eq!(stage.repo.changes_of(branch), ["new.txt"]);
    let package = stage.json("package list")["packages"][0]["id"].clone();
    let shown = stage.say(&format!("package show {}", package.as_str().unwrap()));
    assert!(shown.stdout.contains("I wrote it."), "{}", shown.stdout);
}

#[test]
fn a_session_that_needs_a_person_says_what_for() {
    let stage = Stage::new();
    stage.add("fix");
    let script = saying(&["block", "--reason", "Which key?"]);
    assert_snapshot!(work(&stage, &script).snapshot(), @"
    exit status: 12
    --- stdout ---
    fix is blocked: Which key?
    ");
    assert_eq!(stage.state("fix"), "blocked");
}

#[test]
fn done_outside_of_a_session_says_what_a_person_can_do() {
    let stage = Stage::new();
    assert_snapshot!(stage.say("done").snapshot(), @"
    exit status: 2
    --- stderr ---
    error: this is no session with a task, so there is nothing to say about one
    hint: end a task as a person: `handoff queue complete NAME` or `handoff queue block NAME`
    ");
}

#[test]
fn several_tasks_are_worked_on_at_once() {
    let mut stage = Stage::new();
    // Each waits until all are there: with fewer hands this would never end.
    let meeting = stage.env.work().join("meeting");
    std::fs::create_dir(&meeting).unwrap();
    stage.env.set("MEETING", &meeting);
    stage.declare_scratch();
    for name in ["one", "two", "three"] {
        stage.add(name);
    }
    let meet = "touch \"$MEETING/$HANDOFF_TASK\"; \
                until [ $(ls \"$MEETING\" | wc -l) = 3 ]; do sleep 0.05; done; echo x > $HANDOFF_TASK.txt";
    let script = format!("[[step]]\nrun = [\"sh\", \"-c\", {meet:?}]\n");
    let script = stage.script("agent.toml", &script);
    let words = ["worker", "--until-empty", "--slots", "3", "--script"];
    let words = words.map(std::ffi::OsStr::new);
    stage
        .run(words.into_iter().chain([script.as_os_str()]))
        .success();
    for name in ["one", "two", "three"] {
        assert_eq!(stage.state(name), "done", "{name}");
    }
    assert_eq!(stage.repo.git(["worktree", "list"]).lines().count(), 1);
    stage.say("doctor --audit").success();
}

/// What happened to tasks, in order: that they were claimed, and what came of them.
fn kinds(stage: &Stage) -> Vec<String> {
    let events = stage.say("events --json").success().stdout;
    let kind = |line: &str| {
        let event: serde_json::Value = serde_json::from_str(line).unwrap();
        event["event"]["type"].as_str().unwrap().to_owned()
    };
    let told = ["claimed", "completed", "put_off"];
    let kinds = events.lines().map(kind);
    kinds.filter(|it| told.contains(&it.as_str())).collect()
}

fn work_in_one_slot(stage: &Stage, script: &str, shift: &str) {
    let script = stage.script("agent.toml", script);
    let script = script.to_str().unwrap();
    let words = ["worker", shift, "--slots", "1", "--script", script];
    stage.run(words).success();
}

#[test]
fn a_check_keeps_the_slot_of_its_task() {
    let stage = Stage::new();
    for name in ["one", "two"] {
        let add = format!("queue add {name} --brief Write. --verify true");
        stage.say(&add).success();
    }
    work_in_one_slot(&stage, WRITE, "--until-empty");
    let expected = ["claimed", "completed", "claimed", "completed"];
    assert_eq!(kinds(&stage), expected);
}

#[test]
fn the_next_agent_does_not_wait_for_what_only_the_tool_is_at() {
    let stage = Stage::new();
    for number in 1..=5 {
        stage.add(&format!("task-{number}"));
    }
    work_in_one_slot(&stage, WRITE, "--until-empty");
    let kinds = kinds(&stage);
    assert_eq!(kinds.iter().filter(|it| *it == "completed").count(), 5);
    let is_early = |pair: &[String]| pair == ["claimed", "claimed"];
    assert!(kinds.windows(2).any(is_early), "{kinds:?}");
    // Trees that were made ahead go with the work.
    let trees = stage.repo.git(["worktree", "list", "--porcelain"]);
    assert_eq!(trees.matches("worktree ").count(), 1, "{trees}");
}

#[test]
fn an_agent_that_is_turned_away_gets_no_other_task_before_that_is_known() {
    let stage = Stage::new();
    stage.add("one");
    stage.add("two");
    let first = "when = { env = \"HANDOFF_FENCE\", is = \"1\" }\n";
    let says = "print = \"You have hit your usage limit. Try again in 1s.\\n\"\n";
    let script = format!("[[step]]\n{first}{says}[[step]]\n{first}exit = 1\n{WRITE}");
    work_in_one_slot(&stage, &script, "--until-empty");
    let kinds = kinds(&stage);
    assert_eq!(kinds[..2], ["claimed", "put_off"], "{kinds:?}");
    assert_eq!(kinds.iter().filter(|it| *it == "completed").count(), 2);
}

#[test]
fn a_task_that_was_called_off_takes_its_session_along() {
    let stage = Stage::new();
    stage.add("fix");
    let script = stage.script("agent.toml", "[[step]]\nhang = true\n");
    let words = ["worker", "--once", "--script"].map(std::ffi::OsStr::new);
    let mut worker = stage.start(words.into_iter().chain([script.as_os_str()]));
    while stage.json("ps")["sessions"].as_array().unwrap().is_empty() {
        std::thread::yield_now();
    }
    stage.say("queue cancel fix --yes").success();
    assert_eq!(worker.line(), "fix is called off");
    assert_eq!(worker.code(), Some(12));
    assert!(stage.json("ps")["sessions"].as_array().unwrap().is_empty());
    assert_eq!(stage.repo.git(["worktree", "list"]).lines().count(), 1);
}

#[test]
fn a_watchdog_judges_what_a_dead_worker_left() {
    let mut stage = Stage::new();
    stage.say("watchdog").success();
    let ready = stage.env.work().join("ready");
    stage.env.set("READY", &ready);
    stage.declare_scratch();
    let verify = "[ -e \"$READY\" ] || { touch \"$READY\"; exec sleep 1000; }";
    stage
        .run(["queue", "add", "fix", "--brief", "x", "--verify", verify])
        .success();
    let script = stage.script("agent.toml", WRITE);
    let words = ["worker", "--once", "--script"].map(std::ffi::OsStr::new);
    let mut worker = stage.start(words.into_iter().chain([script.as_os_str()]));
    while !ready.exists() {
        std::thread::yield_now();
    }
    worker.kill();
    let seen = stage.json("watchdog");
    assert_eq!(seen["judged"], serde_json::json!(["fix"]));
    assert_eq!(stage.state("fix"), "done");
    assert_eq!(stage.json("watchdog")["judged"], serde_json::json!([]));
}

#[test]
fn what_was_lost_and_then_done_is_done() {
    let stage = Stage::new();
    stage.add("fix");
    // The first session takes its holder along: nobody knows how it ended. In a sandbox it could not reach it.
    stage.configure("[worker]\nsandbox = \"none\"\n");
    let first = "when = { env = \"HANDOFF_FENCE\", is = \"1\" }\n";
    let strike =
        "run = [\"sh\", \"-c\", \"kill -9 $(awk '/PPid/ {print $2}' /proc/$PPID/status)\"]\n";
    // Not before somebody attends to it: one that does not begin rests.
    let wait = "wait = \"1s\"\n";
    let script = format!(
        "[[step]]\n{first}{wait}[[step]]\n{first}{strike}[[step]]\n{first}hang = true\n{WRITE}"
    );
    let script = stage.script("agent.toml", &script);
    let words = ["worker", "--until-empty", "--script"].map(std::ffi::OsStr::new);
    let worked = stage.run(words.into_iter().chain([script.as_os_str()]));
    assert_snapshot!(worked.snapshot(), @"
    exit status: 0
    --- stdout ---
    fix is given back: its session was lost
    fix is done
    --- stderr ---
    Sessions of tasks are in no sandbox here: your settings say so. They can change whatever you can.
    fix begins, attempt 1
    fix begins, attempt 2
    ");
}

#[test]
fn a_task_is_told_to_be_done_before_what_waited_for_it_begins() {
    let stage = Stage::new();
    stage.add("task-0");
    for number in 1..6 {
        let (name, before) = (format!("task-{number}"), format!("task-{}", number - 1));
        let words = ["queue", "add", &name, "--brief", "x", "--after", &before];
        stage.run(words).success();
    }
    let script = stage.script("agent.toml", WRITE);
    let mut command = stage.command(["worker", "--until-empty", "--script"]);
    command.arg(script);
    let told = stage.env.work().join("told");
    let file = std::fs::File::create(&told).unwrap();
    command
        .stdout(file.try_clone().unwrap())
        .stderr(file.try_clone().unwrap());
    assert!(command.status().unwrap().success());
    let told = std::fs::read_to_string(&told).unwrap();
    let lines: Vec<_> = told.lines().collect();
    let at = |line: &str| {
        lines
            .iter()
            .position(|it| it.starts_with(line))
            .expect(&told)
    };
    for number in 1..6 {
        let done = at(&format!("task-{} is done", number - 1));
        assert!(done < at(&format!("task-{number} begins")), "{told}");
    }
}

#[test]
fn with_nothing_ready_a_worker_says_so() {
    let stage = Stage::new();
    assert_snapshot!(work(&stage, WRITE).snapshot(), @"
    exit status: 11
    --- stderr ---
    Nothing is ready to be claimed.
    ");
}

#[test]
fn how_it_ended_is_json_too() {
    let stage = Stage::new();
    stage.add("fix");
    let script = stage.script("agent.toml", "[[step]]\nexit = 7\n");
    let walked = stage.run([
        "worker".as_ref(),
        "--json".as_ref(),
        "--once".as_ref(),
        "--script".as_ref(),
        script.as_os_str(),
    ]);
    assert_snapshot!(walked.snapshot(), @r#"
    exit status: 12
    --- stdout ---
    {"schema":"handoff.walked/1","task":"fix","ending":"failed","reason":"the agent exited with 7"}
    "#);
}

#[test]
fn a_session_may_not_be_a_worker() {
    let mut stage = Stage::new();
    stage.add("fix");
    stage
        .env
        .set("HANDOFF_SESSION", "ses_0192f0c47d0a7c3e9f5b2a1c3d4e5f60")
        .set("HANDOFF_ROLE", "sub-task");
    work(&stage, WRITE).failure(9);
    assert_eq!(stage.state("fix"), "queued");
}

#[test]
fn a_person_can_have_something_opened_for_each_session() {
    let stage = Stage::new();
    let opened = stage.env.work().join("opened");
    let append = format!("echo \"$1\" >> {}", opened.display());
    stage.configure(&format!(
        "[worker]\nspawn = [\"sh\", \"-c\", {append:?}, \"sh\", \"{{task}} as {{name}}\"]\n"
    ));
    stage.add("fix");
    work(&stage, WRITE).success();
    assert_eq!(std::fs::read_to_string(&opened).unwrap(), "fix as fix-1\n");
    stage.configure("[worker]\nspawn = [\"false\"]\n");
    stage.add("other");
    let worked = work(&stage, WRITE).success();
    assert_eq!(
        worked.stderr,
        "no window was opened: the command exited with 1\n"
    );
    stage.configure("[worker]\nspawn = [\"no-such-program\"]\n");
    stage.add("third");
    work(&stage, WRITE).failure(3);
    assert_eq!(stage.json("queue show third")["attempts"], 0);
}

#[test]
fn a_window_that_does_not_open_holds_nobody_up() {
    let stage = Stage::new();
    // The session waits until its opener is at work, and ends before that does.
    let opens = stage.env.work().join("opens");
    let command = format!("touch {}; exec sleep 8", opens.display());
    stage.configure(&format!(
        "[worker]\nspawn = [\"sh\", \"-c\", {command:?}]\n"
    ));
    stage.add("fix");
    let script = format!("[[step]]\nwait_for = {opens:?}\n{WRITE}");
    let script = stage.script("agent.toml", &script);
    let words = ["worker", "--once", "--script"].map(std::ffi::OsStr::new);
    let worker = stage.start(words.into_iter().chain([script.as_os_str()]));
    let line = worker.try_line(std::time::Duration::from_secs(6));
    assert_eq!(line.as_deref(), Some("fix is done"));
}

#[test]
fn what_is_opened_tells_no_second_agent_to_work() {
    let stage = Stage::new();
    stage.configure("[worker]\nspawn = [\"true\", \"{prompt}\"]\n");
    stage.add("fix");
    let refused = work(&stage, WRITE).failure(2);
    assert!(
        refused.stderr.contains("a second agent work in the tree"),
        "{}",
        refused.stderr
    );
    assert_eq!(stage.json("queue show fix")["attempts"], 0);
}

#[test]
fn on_a_screen_a_worker_shows_what_is_at_work_and_leaves_only_what_came_of_it() {
    let stage = Stage::new();
    stage.add("fix");
    let script = "[[step]]\nwait = \"1200ms\"\n[[step]]\nprint = \"done\"\n";
    let script = stage.script("agent.toml", script);
    let mut command = stage.command(["worker", "--until-empty", "--script"]);
    command
        .arg(script)
        .env("TERM", "xterm")
        .env("NO_COLOR", "1");
    let seen = crate::pseudo_terminal::run(command, "");
    assert_eq!(seen.code, Some(0), "{}", seen.text);
    let (shown, left) = seen.text.rsplit_once("\x1b[2A\x1b[J").expect(&seen.text);
    // Once when it began, and again after a second.
    assert!(shown.matches("AT WORK").count() >= 2, "{shown:?}");
    assert!(shown.contains("fix      █░░░░░░░░░"), "{shown:?}");
    assert_eq!(left, "fix is done\n");
}
