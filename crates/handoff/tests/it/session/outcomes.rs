//! How turns end: each in its own way, told apart by everybody who waits for one.

use serde_json::Value;

use super::hall::Hall;

/// Says what it does, and ends its turns as it is told to.
const AGENT: &str = r#"
say() { printf '\033]7501;state=%s\033\\' "$1"; }
trap : INT
say idle
while printf '> '; do
  IFS= read -r line || continue
  say working
  case $line in
    fail) printf 'API Error: 400 the model says no\n'; say error ;;
    full) printf 'usage limit reached\n'; say blocked:kind=limit ;;
    work) printf 'half of it\n'; sleep 1000; say idle ;;
    die) printf 'half of it\n'; kill -9 $$ ;;
    *) printf 'heard %s\n' "$line"; say done ;;
  esac
done
"#;

fn agent(hall: &Hall, name: &str) {
    let script = hall.stage.script("turns.sh", AGENT);
    hall.run(name, &["env", "--", "bash", script.to_str().unwrap()]);
    hall.stage
        .say(&format!("wait --id {name} --until prompt"))
        .success();
}

fn last_outcome(hall: &Hall, name: &str) -> Value {
    let events = hall
        .stage
        .say(&format!("events --id {name} --no-follow"))
        .success();
    let ended = events
        .json_lines()
        .into_iter()
        .rfind(|it| it["type"] == "turn_ended");
    ended.unwrap()["outcome"].clone()
}

#[test]
fn a_turn_that_failed_is_no_answer() {
    let hall = Hall::new();
    agent(&hall, "fails");
    let failed = hall
        .stage
        .say("send --id fails --wait-for answer fail")
        .failure(16);
    assert_eq!(failed.stdout, "");
    let expected = "its turn 1 failed (request): API Error: 400 the model says no";
    assert!(failed.stderr.contains(expected), "{}", failed.stderr);
    assert_eq!(last_outcome(&hall, "fails"), "failed");
    let message = &hall.messages("fails")[0];
    let told = |key: &str| message[key].as_str().unwrap_or_default().to_owned();
    assert_eq!(
        [told("state"), told("because"), told("outcome")],
        ["failed", "turn_failed", "failed"]
    );
    assert_eq!(message["error"]["kind"], "request");
    // The agent listens to the next one.
    hall.stage
        .say("send --id fails --wait-for idle fail")
        .failure(16);
    assert_eq!(hall.answer("fails", "again"), "heard again");
    let turn = hall
        .stage
        .say("wait --id fails --until turn --after 0 --json")
        .failure(16);
    assert_eq!(turn.json()["outcome"], "failed");
    // It was taken, and that was all that was waited for.
    hall.stage.say("send --id fails fail").success();
}

#[test]
fn a_turn_that_was_interrupted_has_no_answer_and_keeps_what_was_said() {
    let hall = Hall::new();
    agent(&hall, "stops");
    let mut waits = hall
        .stage
        .start(["send", "--id", "stops", "--wait-for", "answer", "work"]);
    hall.until("stops", "\"type\":\"delivered\"");
    let interrupted = hall.stage.json("interrupt --id stops");
    assert_eq!(interrupted["outcome"], "interrupted");
    assert_eq!(waits.code(), Some(17));
    let message = &hall.messages("stops")[0];
    assert_eq!(message["because"], "interrupted");
    assert!(
        message["answer"]["text"]
            .as_str()
            .unwrap()
            .starts_with("half of it")
    );
    hall.stage
        .say("wait --id stops --until reply --timeout 20")
        .failure(17);
}

#[test]
fn an_agent_that_dies_in_the_middle_has_not_answered() {
    let hall = Hall::new();
    agent(&hall, "dies");
    hall.stage
        .say("send --id dies --wait-for answer die")
        .failure(20);
    assert_eq!(last_outcome(&hall, "dies"), "exited");
    let message = &hall.messages("dies")[0];
    assert_eq!(
        (&message["state"], &message["because"]),
        (&"failed".into(), &"died".into())
    );
}

#[test]
fn a_limit_is_told_from_an_error() {
    let hall = Hall::new();
    agent(&hall, "full");
    let limited = hall
        .stage
        .say("send --id full --wait-for answer full")
        .failure(19);
    assert!(
        limited.stderr.contains("has met a limit"),
        "{}",
        limited.stderr
    );
    assert_eq!(last_outcome(&hall, "full"), "limit");
    // Nothing is typed before a person has looked.
    hall.stage
        .say("send --id full --wait-for answer more")
        .failure(13);
}
