//! A session is paused from outside and goes on as a fresh one, or it is not paused and lives.

use super::hall::Hall;

fn paused(hall: &Hall, words: &str) -> String {
    let receipt = hall.stage.json(words);
    receipt["id"].as_str().unwrap().to_owned()
}

fn session_id(hall: &Hall, name: &str) -> String {
    hall.listed(name)["id"].as_str().unwrap().to_owned()
}

#[test]
fn a_paused_session_goes_on_as_a_fresh_one_with_its_context() {
    let hall = Hall::new();
    let cat = hall.run("one", &["cat"]);
    let id = session_id(&hall, "one");
    hall.stage
        .run(["context", "set", "half", "1", "--session", &id])
        .success();
    let agent = cat.agent();
    let package = paused(&hall, "pause --session one");
    assert!(agent.ends());
    hall.stage.say("pause --session one").failure(4);
    let shown = hall.stage.json(&format!("package show {package}"));
    assert_eq!(shown["payload"]["session"]["name"], "one");
    assert_eq!(shown["payload"]["checkpoint"]["phase"], "session");
    assert_eq!(shown["label"]["kind"], "pause");
    // What the program was is not run out of a package.
    let resume = format!("resume {package} --detach --id two");
    hall.stage.say(&resume).failure(2);
    hall.stage.say(&format!("{resume} --agent cat")).success();
    let events = hall.stage.say("events --id two --snapshot").stdout;
    assert!(events.contains("What was handed to you"), "{events}");
    let id = session_id(&hall, "two");
    let entry = hall.stage.json(&format!("context get half --session {id}"));
    assert_eq!(entry["value"], "1");
    hall.stage.say(&format!("{resume} --agent cat")).failure(4);
}

#[test]
fn a_session_with_a_task_is_paused_with_it() {
    let hall = Hall::new();
    hall.stage.add("fix");
    hall.run("one", &["cat", "--task", "fix"]);
    let package = paused(&hall, "pause --session one");
    assert_eq!(hall.stage.state("fix"), "held");
    hall.stage
        .say(&format!("resume {package} --agent cat --detach --id two"))
        .success();
    assert_eq!(hall.stage.state("fix"), "running");
    assert_eq!(hall.listed("two")["task"], "fix");
}

#[test]
fn a_resume_whose_session_does_not_begin_can_be_repeated() {
    let hall = Hall::new();
    hall.run("one", &["cat"]);
    let alone = paused(&hall, "pause --session one");
    // It is received when the session lives, and this one has ended by then.
    let failed = hall
        .stage
        .say(&format!("resume {alone} --agent false --detach"));
    assert_ne!(failed.code(), Some(0), "{}", failed.stdout);
    let resume = format!("resume {alone} --agent cat --detach --id two");
    hall.stage.say(&resume).success();
    hall.stage.say(&resume).failure(4);
    hall.stage.add("fix");
    hall.run("three", &["cat", "--task", "fix"]);
    let package = paused(&hall, "pause --session three");
    let nobody = format!("resume {package} --agent no-such-agent --detach");
    assert_ne!(hall.stage.say(&nobody).code(), Some(0));
    assert_eq!(hall.stage.state("fix"), "queued");
    let resume = format!("resume {package} --agent cat --detach --id four");
    hall.stage.say(&resume).success();
    assert_eq!(hall.stage.state("fix"), "running");
    hall.stage.say(&resume).failure(4);
    hall.stage.say("doctor --audit").success();
}

#[test]
fn what_cannot_be_sealed_is_not_paused_and_lives() {
    let hall = Hall::new();
    hall.stage.add("fix");
    hall.run("one", &["cat", "--task", "fix"]);
    let secret = format!("ghp_{}", "aB3dE5gH7jK9".repeat(3));
    let words = ["pause", "--session", "one", "--summary", &secret];
    hall.stage.run(words).failure(1);
    assert_eq!(hall.stage.state("fix"), "running");
    assert_eq!(
        hall.stage.json("package list")["packages"],
        serde_json::json!([])
    );
    hall.stage.say("pause --session nobody").failure(3);
    hall.stage.say("pause").failure(2);
    hall.stage.say("pause fix --session one").failure(2);
}

#[test]
fn one_that_works_is_interrupted_first() {
    let hall = Hall::new();
    hall.bash("one");
    hall.stage
        .run(["send", "--id", "one", "sleep 1000"])
        .success();
    hall.until("one", "\"state\":\"busy\"");
    let package = paused(&hall, "pause --session one");
    let shown = hall.stage.json(&format!("package show {package}"));
    assert_eq!(shown["payload"]["session"]["agent"], "bash");
    // A shell would run the prompt as commands.
    hall.stage
        .say(&format!("resume {package} --detach"))
        .failure(2);
    let answer = hall.stage.say(&format!("package verify {package} --json"));
    assert_eq!(answer.success().json()["resolution"], "resolved");
}

#[test]
fn a_transferred_session_is_offered_with_the_answer_of_the_protocol() {
    let hall = Hall::new();
    hall.run("one", &["cat"]);
    let answer = hall.stage.json("transfer --session one --to friend");
    assert_eq!(answer["targetProcess"], "friend");
    assert_eq!(answer["transferredAt"], serde_json::Value::Null);
    let id = answer["handoffId"].as_str().unwrap();
    hall.stage
        .say(&format!("resume {id} --agent cat --detach"))
        .success();
}

/// It writes down what it is told and works on it until it is interrupted.
const WORKER: &str = r#"
about = "An agent that works until it is stopped"

[launch]
command = ["bash", "-c", "trap : INT; while printf 'my turn: '; do read -r line || continue; echo \"$line\" >> heard; printf '\\n(3s) '; sleep 1000; echo; done"]

[[screen]]
means = "prompt"
cursor = ["my turn:"]

[[screen]]
means = "busy"
cursor = ["([0-9]*s)"]
"#;

/// What it was told, as soon as there are so many lines of it.
fn heard(hall: &Hall, lines: usize) -> String {
    hall.file_with("heard", |text| text.lines().count() >= lines)
}

#[test]
fn one_that_was_interrupted_for_nothing_is_told_to_go_on() {
    let mut hall = Hall::new();
    hall.describe("mine", WORKER);
    hall.run("one", &["mine"]);
    hall.until("one", "\"state\":\"prompt\"");
    let begin = ["send", "--id", "one", "--no-wait", "Begin."];
    hall.stage.run(begin).success();
    assert_eq!(heard(&hall, 1), "Begin.\n");
    hall.until("one", "\"state\":\"busy\"");
    let secret = format!("ghp_{}", "aB3dE5gH7jK9".repeat(3));
    let words = ["pause", "--session", "one", "--summary", &secret];
    hall.stage.run(words).failure(1);
    let told = heard(&hall, 2);
    assert!(told.contains("Go on with what you were doing."), "{told}");
    // Whoever pauses it is killed when it has stopped: the next one who comes by tells it.
    let program = hall.stage.git_that("kill -9 $PPID");
    assert_eq!(hall.stage.say("pause --session one").code(), None);
    std::fs::remove_file(program).unwrap();
    assert_eq!(heard(&hall, 2).lines().count(), 2);
    hall.stage.say("context set seen 1").success();
    assert_eq!(heard(&hall, 3).lines().count(), 3);
    let package = paused(&hall, "pause --session one");
    assert_eq!(heard(&hall, 3).lines().count(), 3, "it is paused");
    hall.stage
        .say(&format!("package verify {package}"))
        .success();
}
