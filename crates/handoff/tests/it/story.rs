//! The queue from end to end, on both stores.

use handoff_testkit::postgres::fresh_database;

use crate::stage::Stage;

/// Makes a test of each story for SQLite and for PostgreSQL.
macro_rules! on_both_stores {
    ($($story:ident),* $(,)?) => {
        mod sqlite {
            $(#[test]
            fn $story() {
                super::$story(&crate::stage::Stage::new());
            })*
        }

        mod postgres {
            $(#[test]
            fn $story() {
                super::on_postgres(super::$story);
            })*
        }
    };
}

mod pain;

on_both_stores! {
    work_goes_from_hand_to_hand,
    repeating_with_the_same_key_does_nothing_new,
    a_repeated_claim_gets_its_task_when_nothing_else_is_ready,
    a_key_cannot_be_used_for_something_else,
    the_same_key_fifty_times_at_once_makes_one_task,
    tasks_that_overlap_are_not_handed_out_together,
    a_feature_that_was_killed_in_the_middle_goes_on_from_the_prompt_alone,
    an_agent_at_its_limit_makes_a_pause_and_no_failure,
    an_agent_that_ends_at_its_limit_makes_a_pause_and_no_failure,
}

fn on_postgres(story: fn(&Stage)) {
    let Some(database) = fresh_database() else {
        return;
    };
    let mut stage = Stage::new();
    stage.env.set("HANDOFF_STORE", database.url());
    story(&stage);
    let doctor = stage.json("doctor --audit");
    assert_eq!(doctor["store"]["engine"], "postgres");
    assert!(
        !stage.env.handoff_home().join("handoff.db").exists(),
        "nothing went to the embedded store"
    );
}

fn work_goes_from_hand_to_hand(stage: &Stage) {
    stage.add("first");
    stage
        .say("queue add second --brief Then. --after first")
        .success();
    assert_eq!(stage.state("second"), "waiting");

    let claim = stage.json("queue claim");
    assert_eq!(
        (&claim["task"]["name"], &claim["task"]["lease"]["fence"]),
        (&"first".into(), &1.into())
    );
    stage.say("queue claim").failure(11);
    stage.say("queue release first --fence 1").success();
    assert_eq!(stage.claim("first"), "2");

    let late = stage.say("queue complete first --fence 1").failure(6);
    assert!(
        late.stderr.contains("fence 1 is no longer valid"),
        "{}",
        late.stderr
    );
    assert_eq!(stage.state("first"), "leased");
    stage.say("queue complete first --fence 2").success();

    let next = stage.json("queue claim");
    assert_eq!(next["task"]["name"], "second");
    stage.say("queue complete second --fence 1").success();
    let events = stage.say("events --json").success().json_lines();
    let happened: Vec<_> = events
        .iter()
        .map(|it| it["event"]["type"].as_str().unwrap())
        .collect();
    assert_eq!(
        happened,
        [
            "added",
            "added",
            "claimed",
            "released",
            "claimed",
            "completed",
            "dependency_ended",
            "claimed",
            "completed"
        ]
    );
    stage.say("doctor --audit").success();
}

fn repeating_with_the_same_key_does_nothing_new(stage: &Stage) {
    let add = "queue add fix --brief It. --key k1";
    let (first, second) = (stage.json(add), stage.json(add));
    assert_eq!(first["task"], second["task"]);
    assert_eq!(
        (&first["is_repeat"], &second["is_repeat"]),
        (&false.into(), &true.into())
    );

    stage.add("other");
    let claim = "queue claim --key k2";
    let (first, second) = (stage.json(claim), stage.json(claim));
    assert_eq!(
        first["task"]["lease"]["fence"],
        second["task"]["lease"]["fence"]
    );
    assert_eq!(second["is_repeat"], true);

    let complete = "queue complete fix --fence 1 --key k3";
    stage.say(complete).success();
    let said = stage.say(complete).success();
    assert_eq!(said.stdout, "completed fix: done (it was so already)\n");
    assert_eq!(stage.say("events").stdout.lines().count(), 4);
}

fn a_repeated_claim_gets_its_task_when_nothing_else_is_ready(stage: &Stage) {
    stage.add("fix");
    let claim = "queue claim --key k1";
    let (first, second) = (stage.json(claim), stage.json(claim));
    assert_eq!(
        first["task"]["lease"]["fence"],
        second["task"]["lease"]["fence"]
    );
    assert_eq!(second["is_repeat"], true);
}

fn a_key_cannot_be_used_for_something_else(stage: &Stage) {
    stage.say("queue add fix --brief It. --key k1").success();
    for other in [
        "queue add fix --brief Else. --key k1",
        "queue add other --brief It. --key k1",
        "queue claim --key k1",
        "queue cancel fix --yes --key k1",
    ] {
        stage.say(other).failure(4);
    }
    assert_eq!(stage.say("events").stdout.lines().count(), 1);
}

fn the_same_key_fifty_times_at_once_makes_one_task(stage: &Stage) {
    let ids: Vec<_> = std::thread::scope(|scope| {
        let add = || stage.json("queue add fix --brief It. --key k1")["task"]["id"].to_string();
        let clients: Vec<_> = (0..50).map(|_| scope.spawn(add)).collect();
        clients.into_iter().map(|it| it.join().unwrap()).collect()
    });
    assert!(ids.iter().all(|id| *id == ids[0]), "{ids:?}");
    assert_eq!(stage.say("events").stdout.lines().count(), 1);
}

fn tasks_that_overlap_are_not_handed_out_together(stage: &Stage) {
    stage.say("queue add one --brief x --own src/").success();
    stage
        .say("queue add two --brief x --own src/not-there-yet.rs")
        .success();
    stage.say("queue claim one").success();
    let refused = stage.say("queue claim two").failure(4);
    assert!(
        refused.stderr.contains("src/not-there-yet.rs"),
        "{}",
        refused.stderr
    );
    stage.say("queue claim").failure(11);
    stage.say("queue complete one --fence 1").success();
    stage.say("queue claim").success();
}

fn a_feature_that_was_killed_in_the_middle_goes_on_from_the_prompt_alone(stage: &Stage) {
    stage.repo.write("boards", "rough").commit("first");
    stage.feature(
        "tables",
        "- [ ] saw the boards\n- [ ] glue them\n- [ ] sand it\n",
    );
    stage.checks("sawn = 'grep -q sawn boards'\n");
    begin_and_die(stage);

    let prompt = stage.say("continue --raw").success().stdout;
    assert!(prompt.contains("- not committed > glue.txt"), "{prompt}");
    assert!(
        prompt.contains("- verified by `grep -q sawn boards` at "),
        "{prompt}"
    );
    assert_eq!(
        told_next(stage, &prompt),
        "next: - step 2, STATE.md:8 > glue them\n"
    );
}

/// A session that finishes one step, begins another, and is killed over it.
fn begin_and_die(stage: &Stage) {
    let handoff = stage.env.binary().display().to_string();
    let script = format!(
        "[[step]]
        run = ['{handoff}', 'step', 'start', '1']
        [[step]]
        write = {{ path = 'boards', text = 'sawn' }}
        [[step]]
        run = ['{handoff}', 'verify', '--run']
        [[step]]
        run = ['{handoff}', 'step', 'done', '1']
        [[step]]
        write = {{ path = 'glue.txt', text = 'half' }}
        [[step]]
        print = \"half way\\n\"
        [[step]]
        hang = true"
    );
    let script = stage.script("begin.toml", &script);
    let mut session = stage.start(["scripted-agent".as_ref(), script.as_os_str()]);
    while session.line() != "half way" {}
    session.kill();
}

/// What a second session, in an empty place and with nothing but the prompt, takes for the next action.
fn told_next(stage: &Stage, prompt: &str) -> String {
    let script = "
        [[step]]
        expect = '## Next action'
        [[step]]
        expect = ' > '
        as = 'next'
        [[step]]
        print = \"next: {next}\\n\"
    ";
    let script = stage.script("second.toml", script);
    let mut command = stage.env.command(stage.env.binary());
    command
        .arg("scripted-agent")
        .arg(script)
        .current_dir(stage.env.work());
    stage
        .env
        .run_with_input(command, prompt.as_bytes())
        .success()
        .stdout
}

/// The first attempt runs into a limit that ends in a second; the next one works.
const LIMITED: &str = r#"
[[step]]
when = { env = "HANDOFF_FENCE", is = "1" }
print = "You have hit your usage limit. Try again in 1s.\n"
[[step]]
when = { env = "HANDOFF_FENCE", is = "1" }
osc = "7501;state=blocked:kind=limit"
[[step]]
when = { env = "HANDOFF_FENCE", is = "1" }
hang = true
[[step]]
write = { path = "new.txt", text = "new\n" }
"#;

/// The same of one that says so and ends with an error, before anybody sees what it does.
const TURNED_AWAY: &str = r#"
[[step]]
when = { env = "HANDOFF_FENCE", is = "1" }
print = "You have hit your usage limit. Try again in 1s.\n"
[[step]]
when = { env = "HANDOFF_FENCE", is = "1" }
exit = 1
[[step]]
write = { path = "new.txt", text = "new\n" }
"#;

fn an_agent_at_its_limit_makes_a_pause_and_no_failure(stage: &Stage) {
    makes_a_pause(stage, LIMITED);
}

fn an_agent_that_ends_at_its_limit_makes_a_pause_and_no_failure(stage: &Stage) {
    makes_a_pause(stage, TURNED_AWAY);
}

fn makes_a_pause(stage: &Stage, script: &str) {
    stage.add("fix");
    let script = stage.script("agent.toml", script);
    let words = ["worker", "--until-empty", "--script"].map(std::ffi::OsStr::new);
    let worked = stage
        .run(words.into_iter().chain([script.as_os_str()]))
        .success();
    let told = worked.stdout;
    assert!(told.contains("fix is resting until "), "{told}");
    assert!(told.contains("scripted is at its limit"), "{told}");
    assert!(told.ends_with("fix is done\n"), "{told}");
    let task = stage.json("queue show fix");
    assert_eq!(
        (&task["state"], &task["setbacks"], &task["rest"]),
        (&"done".into(), &1.into(), &serde_json::Value::Null)
    );
}
