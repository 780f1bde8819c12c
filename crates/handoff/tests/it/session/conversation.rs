//! Messages to an agent that has a box to type in, works, asks and fails, as full-screen agents do.

use insta::assert_snapshot;
use serde_json::Value;

use super::hall::{Guest, Hall};

/// Says what it does, takes messages, and asks whether it may go on if one says so.
const AGENT: &str = r#"
[[step]]
osc = "7501;state=idle:app=scripted"
[[step]]
repeat = 20
[[step.steps]]
message = "❯ "
as = "text"
[[step.steps]]
append = { path = "heard", text = "{text}\n--\n" }
[[step.steps]]
osc = "7501;state=working"
[[step.steps]]
print = "● heard {text}\n"
[[step.steps]]
when = { var = "text", is = "ask" }
osc = "7501;state=blocked:kind=permission"
[[step.steps]]
when = { var = "text", is = "ask" }
ask = "May I?"
choices = ["Yes", "Yes, and always", "No"]
answer = "pointer"
as = "chosen"
[[step.steps]]
when = { var = "text", is = "ask" }
append = { path = "chosen", text = "{chosen}\n" }
[[step.steps]]
when = { var = "text", is = "work" }
wait_for = "go"
[[step.steps]]
osc = "7501;state=idle"
"#;

fn agent(hall: &Hall, name: &str) -> Guest {
    let script = hall.stage.script("agent.toml", AGENT);
    let guest = hall.run(name, &["scripted", "--", script.to_str().unwrap()]);
    hall.stage
        .say(&format!("wait --id {name} --until prompt"))
        .success();
    guest
}

fn read(hall: &Hall, name: &str) -> String {
    std::fs::read_to_string(hall.stage.repo.path().join(name)).unwrap_or_default()
}

#[test]
fn each_message_is_one_paste_and_one_enter() {
    let hall = Hall::new();
    agent(&hall, "one");
    assert_eq!(hall.answer("one", "hello"), "● heard hello");
    let text = "first\nsecond \u{1b}[201~\n\nlast";
    hall.answer("one", text);
    let long = "word ".repeat(600);
    hall.answer("one", &long);
    let heard = read(&hall, "heard");
    let expected = format!("hello\n--\nfirst\nsecond [201~\n\nlast\n--\n{long}\n--\n");
    assert_eq!(heard, expected);
    let evidence: Vec<Value> = hall
        .messages("one")
        .iter()
        .map(|it| it["evidence"].clone())
        .collect();
    assert!(
        evidence
            .iter()
            .all(|it| it == "state" || it == "line" || it == "editor"),
        "{evidence:?}"
    );
}

#[test]
fn a_question_ends_the_wait_is_shown_and_answered() {
    let hall = Hall::new();
    agent(&hall, "asks");
    assert_snapshot!(hall.stage.say("send --id asks --wait-for-idle ask").snapshot(), @r"
    exit status: 13
    --- stderr ---
    error: `asks` waits for a person (permission); it has taken the message
    hint: see what it asks: `handoff answer --id asks --show`
    ");
    assert_snapshot!(hall.stage.say("answer --id asks --show").snapshot(), @r"
    exit status: 0
    --- stdout ---
    ❯ ask
    ● heard ask
    May I?
    > 1. Yes
      2. Yes, and always
      3. No
    ");
    hall.stage.say("wait --id asks --until blocked").success();
    hall.stage.say("wait --id asks --until idle").failure(13);
    hall.stage.say("interrupt --id asks").failure(4);
    let refused = hall.stage.say("send --id asks --force over it").failure(13);
    assert!(
        refused.stderr.contains("a dialog is open"),
        "{}",
        refused.stderr
    );
    let queued = hall.stage.json("send --id asks --no-wait later");
    assert_snapshot!(hall.stage.say("answer --id asks --choose maybe").snapshot(), @r#"
    exit status: 2
    --- stderr ---
    error: none of the choices is "maybe"
    hint: Yes: `handoff answer --id asks --choose 1`
    hint: Yes, and always: `handoff answer --id asks --choose 2`
    hint: No: `handoff answer --id asks --choose 3`
    "#);
    assert_eq!(
        hall.stage.json("answer --id asks --choose no")["choice"],
        "No"
    );
    hall.stage.say("wait --id asks --until idle").success();
    assert_eq!(
        (
            read(&hall, "chosen").as_str(),
            read(&hall, "heard").as_str()
        ),
        ("3\n", "ask\n--\nlater\n--\n")
    );
    let later = hall.stage.json(&format!(
        "messages show --id asks {}",
        queued["id"].as_str().unwrap()
    ));
    assert_eq!(later["state"], "answered");
    hall.stage.say("send --id asks ask").success();
    assert_eq!(
        hall.stage.json("answer --id asks --choose yes")["choice"],
        "Yes"
    );
    hall.stage.say("wait --id asks --until idle").success();
    assert_eq!(read(&hall, "chosen"), "3\n1\n");
    hall.stage.say("answer --id asks --choose yes").failure(4);
}

#[test]
fn force_goes_before_what_waits_and_success_is_never_guessed() {
    let hall = Hall::new();
    agent(&hall, "busy");
    hall.stage.say("send --id busy work").success();
    hall.stage.say("send --id busy --no-wait waits").success();
    let forced = hall.stage.start(["send", "--id", "busy", "--force", "now"]);
    hall.until("busy", "\"forced\":true");
    hall.stage.repo.write("go", "");
    hall.stage
        .say("wait --id busy --until idle --timeout 20")
        .success();
    drop(forced);
    let heard = read(&hall, "heard");
    assert!(heard.starts_with("work\n--\nnow\n--\n"), "{heard}");
}

#[test]
fn a_wait_is_anchored_to_what_comes_after_it() {
    let hall = Hall::new();
    agent(&hall, "turns");
    hall.answer("turns", "one");
    hall.stage
        .say("wait --id turns --until turn --timeout 50ms")
        .failure(124);
    let first = hall.stage.json("wait --id turns --until turn --after 0");
    assert_eq!(
        (&first["turn"], &first["state"]),
        (&1.into(), &"prompt".into())
    );
    let after = first["seq"].to_string();
    let words = [
        "wait", "--id", "turns", "--until", "turn", "--after", &after, "--json",
    ];
    let next = hall.stage.start(words);
    hall.answer("turns", "two");
    let next: Value = serde_json::from_str(&next.line()).unwrap();
    assert_eq!(next["turn"], 2);
}

/// Asks with choices beside each other, the middle one lit, and writes down which was taken.
const ASIDE: &str = r#"
stty raw -echo
names=('Allow once' 'Allow always' 'Reject'); at=1
paint() {
  printf '\033[2J\033[H  Permission required\r\n\r\n  $ touch x\r\n\r\n'
  for i in 0 1 2; do
    if [ $i = $at ]; then printf '  \033[7m %s \033[27m' "${names[$i]}"; else printf '   %s ' "${names[$i]}"; fi
  done
}
paint
printf '\033]7501;state=blocked:kind=permission\033\\'
while IFS= read -rN1 key; do
  case $key in
    $'\e') IFS= read -rN2 rest
      case $rest in '[C') at=$((at + 1)) ;; '[D') at=$((at - 1)) ;; *) at=9 ;; esac
      paint ;;
    *) break ;;
  esac
done
echo $at >> chosen
printf '\033]7501;state=idle\033\\\033[2J\033[H'
exec sleep 1000
"#;

#[test]
fn choices_beside_each_other_are_reached_to_both_sides() {
    let hall = Hall::new();
    let script = hall.stage.script("aside.sh", ASIDE);
    for (name, choice, label) in [("right", "no", "Reject"), ("left", "yes", "Allow once")] {
        hall.run(name, &["env", "--", "bash", script.to_str().unwrap()]);
        let words = format!("wait --id {name} --until blocked");
        hall.stage.say(&words).success();
        let answered = hall
            .stage
            .json(&format!("answer --id {name} --choose {choice}"));
        assert_eq!(answered["choice"], label);
        let words = format!("wait --id {name} --until prompt");
        hall.stage.say(&words).success();
    }
    assert_eq!(read(&hall, "chosen"), "2\n0\n");
}

#[test]
fn what_an_agent_says_with_its_last_words_is_told_before_its_end() {
    let hall = Hall::new();
    let last_words = r"printf '\033]7501;state=blocked:kind=error\033\\'; exit 3";
    hall.run("last", &["env", "--", "bash", "-c", last_words]);
    hall.stage.say("wait --id last --until exited").failure(3);
    let told = hall.stage.say("events --id last --no-follow").success();
    let states: Vec<_> = { told.stdout.lines() }
        .filter_map(|line| line.split_once(r#""state":""#)?.1.split('"').next())
        .collect();
    assert_eq!(states, ["blocked", "exited"], "{}", told.stdout);
}
