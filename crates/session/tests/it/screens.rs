//! Pictures of the terminals of real agents: nine in ten are recognised, and none for something else.
//!
//! A picture has no title and no process, so this is the screen alone.

use std::path::{Path, PathBuf};
use std::time::Duration;

use handoff_agents::Agent;
use handoff_process::Size;
use handoff_session::rehearsal::Recording;
use handoff_session::state::State;

/// What is on a picture. A name may begin with the size of the terminal: columns and rows.
const PICTURES: &str = "
aider/00-first-start        question
aider/10-prompt             prompt
aider/11-typed              prompt
aider/12-busy-streaming     busy
aider/13-idle-after-turn    prompt
aider/20-permission-create  permission
aider/41-error-400          error
aider/60-after-exit         -
claude/00-first-start-no-network -
claude/01-onboarding-trust  trust
claude/02-onboarding-apikey login
claude/03-prompt-first      prompt
claude/10-prompt            prompt
claude/11-typed             prompt
claude/12-busy-early        busy
claude/12-busy-streaming    busy
claude/13-idle-after-turn   prompt
claude/197-busy             busy
claude/197-idle             prompt
claude/197-permission       permission
claude/197-prompt           prompt
claude/20-permission-bash   permission
claude/22-permission-write  permission
claude/41-error-400         error
claude/42-error-401         busy
claude/45-queued-while-retrying busy
claude/50-big-paste         busy
claude/60-after-exit        -
claude/61-ctrl-c-once       prompt
claude/70-stop-hook-block   prompt
claude/80-ax-busy           busy
claude/81-ax-idle           prompt
claude/82-ax-permission     permission
codex/00-splash-not-ready-yet -
codex/01-trust-dialog       trust
codex/02-hooks-need-review  trust
codex/03-no-config-login    login
codex/10-prompt             prompt
codex/10-prompt-no-daemon   prompt
codex/11-typed              prompt
codex/12-busy-early         busy
codex/12-busy-streaming     busy
codex/13-idle-after-turn    prompt
codex/20-permission         permission
codex/41-error-400          error
codex/60-ctrl-c-once        -
codex/61-after-exit         -
codex/70-stop-hook-block    prompt
gemini/00-first-start       trust
gemini/10-prompt            prompt
gemini/11-typed             prompt
gemini/12-busy-streaming    busy
gemini/13-idle-after-turn   prompt
gemini/20-permission        permission
gemini/41-error-400         error
gemini/60-after-exit        -
opencode/10-prompt          prompt
opencode/11-typed           prompt
opencode/12-busy-streaming  busy
opencode/13-idle-after-turn prompt
opencode/20-permission      permission
opencode/41-error-400       prompt
opencode/60-after-exit      -
claude/200x50-20            permission
claude/200x50-31            busy
claude/60x20-197-12         busy
claude/60x20-197-14         prompt
claude/60x20-197-20         permission
claude/60x20-197-30         prompt
claude/80x24-11             prompt
claude/80x24-12             busy
claude/80x24-13             busy
claude/80x24-20             permission
claude/80x24-30             prompt
claude/80x24-41             error
codex/200x50-40            prompt
codex/60x20-14             prompt
codex/60x20-20             permission
codex/80x24-20             permission
codex/80x24-30             prompt
codex/80x24-41             error
copilot/200x50-21            prompt
copilot/60x20-14             trust
copilot/60x20-41             busy
copilot/80x24-20             busy
gemini/200x50-31            busy
gemini/60x20-41             error
gemini/80x24-30             permission
generic/80x24-pi-12          busy
opencode/60x20-40             busy
opencode/80x24-31             prompt
aider/200x50-10             prompt
aider/200x50-12             busy
aider/200x50-30             busy
aider/200x50-31             prompt
aider/200x50-20             permission
aider/200x50-21             prompt
aider/200x50-41             error
aider/200x50-42             busy
opencode/200x50-10          prompt
opencode/200x50-30          busy
opencode/200x50-31          prompt
opencode/200x50-22          busy
opencode/200x50-20          permission
opencode/200x50-42          busy
claude/60x20-streaming         busy
claude/60x20-idle              prompt
claude/60x20-error-400         error
claude/60x20-after-error       prompt
claude/60x20-retrying          busy
claude/60x20-after-limit       prompt
claude/60x20-busy              busy
claude/60x20-interrupted       prompt
claude/60x20-permission        permission
claude/60x20-refused           prompt
claude/60x20-trust             trust
claude/60x20-first-prompt      prompt
claude/60x20-permission-long   permission
claude/60x20-tool              busy
claude/60x20-after-tool        prompt
codex/60x20-streaming          busy
codex/60x20-idle               prompt
codex/60x20-error-400          error
codex/60x20-after-error        prompt
codex/60x20-retrying           busy
codex/60x20-after-limit        prompt
codex/60x20-busy               busy
codex/60x20-interrupted        prompt
codex/60x20-permission         permission
codex/60x20-refused            prompt
codex/60x20-trust              trust
codex/60x20-first-prompt       prompt
codex/60x20-permission-long    permission
codex/60x20-tool               busy
codex/60x20-after-tool         prompt
claude/80x24-streaming         busy
claude/80x24-idle              prompt
claude/80x24-error-400         error
claude/80x24-after-error       prompt
claude/80x24-retrying          busy
claude/80x24-after-limit       prompt
claude/80x24-busy              busy
claude/80x24-interrupted       prompt
claude/80x24-permission        permission
claude/80x24-refused           prompt
claude/80x24-trust             trust
claude/80x24-first-prompt      prompt
claude/80x24-permission-long   permission
claude/80x24-tool              busy
claude/80x24-after-tool        prompt
codex/80x24-streaming          busy
codex/80x24-idle               prompt
codex/80x24-error-400          error
codex/80x24-after-error        prompt
codex/80x24-retrying           busy
codex/80x24-after-limit        prompt
codex/80x24-busy               busy
codex/80x24-interrupted        prompt
codex/80x24-permission         permission
codex/80x24-refused            prompt
codex/80x24-trust              trust
codex/80x24-first-prompt       prompt
codex/80x24-permission-long    permission
codex/80x24-tool               busy
codex/80x24-after-tool         prompt
claude/60x20-light-streaming     busy
claude/60x20-light-idle          prompt
claude/60x20-light-error-400     error
claude/60x20-light-after-error   prompt
claude/60x20-light-retrying      busy
claude/60x20-light-after-limit   prompt
claude/60x20-light-busy          busy
claude/60x20-light-interrupted   prompt
claude/60x20-light-permission    permission
claude/60x20-light-refused       prompt
claude/60x20-light-trust         trust
claude/60x20-light-first-prompt  prompt
claude/60x20-light-permission-long permission
claude/60x20-light-tool          busy
claude/60x20-light-after-tool    prompt
claude/80x24-light-streaming     busy
claude/80x24-light-idle          prompt
claude/80x24-light-error-400     error
claude/80x24-light-after-error   prompt
claude/80x24-light-retrying      busy
claude/80x24-light-after-limit   prompt
claude/80x24-light-busy          busy
claude/80x24-light-interrupted   prompt
claude/80x24-light-permission    permission
claude/80x24-light-refused       prompt
claude/80x24-light-trust         trust
claude/80x24-light-first-prompt  prompt
claude/80x24-light-permission-long permission
claude/80x24-light-tool          busy
claude/80x24-light-finishing        busy
";

/// Nothing is to be concluded: the agent has not begun yet, or has ended.
const NOTHING: &str = "-";

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../testkit/screens")
}

/// A picture and what is on it.
fn pictures() -> impl Iterator<Item = (&'static str, &'static str)> {
    let lines = PICTURES.lines().filter(|line| !line.is_empty());
    lines
        .map(|line| line.split_once(' ').expect("a picture and a word"))
        .map(|(picture, word)| (picture, word.trim()))
}

fn size(picture: &str) -> Size {
    let (_, name) = picture.split_once('/').unwrap();
    let given = name
        .split_once('-')
        .and_then(|(size, _)| size.split_once('x'));
    let numbers =
        given.and_then(|(columns, rows)| Some((columns.parse().ok()?, rows.parse().ok()?)));
    let (columns, rows) = numbers.unwrap_or((120, 40));
    Size { rows, columns }
}

fn recognised(agent: &str, picture: &str) -> Option<String> {
    let text = std::fs::read(folder().join(format!("{picture}.ansi"))).unwrap();
    let recording = Recording::of_capture(&String::from_utf8_lossy(&text), size(picture));
    let adapter = Agent::built_in(agent).unwrap().adapter;
    word(recording.play(adapter, Duration::from_secs(1)).last.state)
}

fn word(state: State) -> Option<String> {
    match state {
        State::Blocked(block) => Some(block.word().to_owned()),
        State::Prompt | State::Busy => Some(state.phase().word().to_owned()),
        State::Starting | State::Exited | State::Unknown => None,
    }
}

/// `agent` stands for how each picture is looked at; gives how many were decided, and those that were decided wrongly.
fn assess(
    agent: impl Fn(&str) -> String,
    is_right: impl Fn(&str, &str) -> bool,
) -> (usize, usize, Vec<String>) {
    let (mut decided, mut all, mut wrong) = (0, 0, vec![]);
    for (picture, expected) in pictures() {
        let (owner, _) = picture.split_once('/').unwrap();
        let found = recognised(&agent(owner), picture);
        all += usize::from(expected != NOTHING);
        decided += usize::from(expected != NOTHING && found.is_some());
        if let Some(found) = found.filter(|found| !is_right(found, expected)) {
            wrong.push(format!("{picture}: {found} instead of {expected}"));
        }
    }
    (decided, all, wrong)
}

#[test]
fn nine_in_ten_pictures_are_recognised_and_none_wrongly() {
    let (decided, all, wrong) = assess(str::to_owned, |found, expected| found == expected);
    assert_eq!(wrong, [""; 0]);
    assert!(decided * 10 >= all * 9, "{decided} of {all}");
}

/// The adapter for any program knows less, and must not be wrong about whether somebody is asked, waits or works.
#[test]
fn an_agent_that_is_not_known_is_never_taken_for_something_else() {
    let group = |word: &str| match word {
        "busy" => "busy",
        NOTHING => NOTHING,
        // After an error one may type, so a prompt is no mistake there.
        "prompt" | "error" => "prompt",
        _ => "blocked",
    };
    let (_, _, wrong) = assess(
        |_| "generic".to_owned(),
        |found, expected| group(found) == group(expected),
    );
    assert_eq!(wrong, [""; 0]);
}

#[test]
fn every_picture_is_looked_at() {
    let mut there = vec![];
    for agent in std::fs::read_dir(folder()).unwrap() {
        let agent = agent.unwrap();
        for picture in std::fs::read_dir(agent.path()).unwrap() {
            let name = picture.unwrap().file_name().into_string().unwrap();
            let owner = agent.file_name().into_string().unwrap();
            there.push(format!("{owner}/{}", name.trim_end_matches(".ansi")));
        }
    }
    there.sort();
    let mut listed: Vec<&str> = pictures().map(|(picture, _)| picture).collect();
    listed.sort_unstable();
    assert_eq!(there, listed);
}
