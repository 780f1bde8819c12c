//! What reaches a terminal: text that reads the same to everybody, and colours of ours.

use std::process::{Command, Stdio};

use serde_json::Value;

use crate::stage::Stage;

/// Clipboard, title, clear screen in C0 and C1, reset, backspace, bell, carriage return, bidi, zero
/// width, tags.
const NASTY: &str = "start \u{1b}]52;c;aGk=\u{7}\u{1b}]0;t\u{1b}\\\u{1b}[2J\u{9b}2J\u{9d}0;t\u{9c}\u{1b}c\u{8}\u{7f}\r\
                     \u{202e}live\u{2066}\u{200b}\u{e0041}\u{feff} end";

/// Tasks whose every text is nasty, in every state that shows one.
fn nasty_stage() -> Stage {
    let stage = Stage::new();
    for name in [
        "brief",
        "done",
        "failed",
        "blocked",
        "cancelled",
        "held",
        "released",
    ] {
        stage
            .run(["queue", "add", name, "--brief", NASTY, "--verify", NASTY])
            .success();
    }
    stage
        .run(["queue", "complete", "done", "--summary", NASTY])
        .success();
    for (verb, name) in [
        ("fail", "failed"),
        ("block", "blocked"),
        ("cancel", "cancelled"),
    ] {
        stage
            .run(["queue", verb, name, "--reason", NASTY])
            .success();
    }
    stage.run(["hold", "held", "--reason", NASTY]).success();
    stage.claim("released");
    stage
        .run([
            "queue", "release", "released", "--fence", "1", "--reason", NASTY,
        ])
        .success();
    stage.run(["hold", "--reason", NASTY]).success();
    stage
}

/// Commands that show what somebody else wrote, or repeat what they were given.
fn telling() -> Vec<Vec<&'static str>> {
    vec![
        vec!["queue", "list", "--all"],
        vec!["queue", "show", "done"],
        vec!["queue", "show", "failed"],
        vec!["queue", "show", "held"],
        vec!["queue", "show", "released"],
        vec!["events"],
        vec!["queue", "show", NASTY],
        vec!["queue", "add", NASTY, "--brief", "x"],
        vec!["queue", "add", "x", "--brief", "x", "--own", NASTY],
        vec!["queue", "add", "x", "--brief", "x", "--priority", NASTY],
        vec!["queue", "add", "x", "--brief-file", NASTY],
        vec!["queue", "add", "x", "--brief", "x", "--after", NASTY],
        vec!["queue", "claim", "--ttl", NASTY],
        vec!["events", "--since", NASTY],
        vec!["worker", "--once", "--script", NASTY],
        vec!["help", NASTY],
        vec![NASTY],
    ]
}

/// The text without colours, and whether there were any. Only SGR counts as colour.
fn without_sgr(text: &str) -> (String, bool) {
    let mut rest = text;
    let mut plain = String::new();
    let mut has_colour = false;
    while let Some(start) = rest.find("\u{1b}[") {
        let parameters = &rest[start + 2..];
        let length = parameters
            .find(|c: char| !c.is_ascii_digit() && c != ';')
            .unwrap_or(0);
        if !parameters[length..].starts_with('m') {
            break;
        }
        plain += &rest[..start];
        rest = &parameters[length + 1..];
        has_colour = true;
    }
    (plain + rest, has_colour)
}

#[track_caller]
fn assert_harmless(text: &str, command: &[&str]) {
    let is_bad = |c: &char| {
        (c.is_control() && !matches!(c, '\n' | '\t'))
            || matches!(c, '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{206f}')
            || matches!(c, '\u{feff}' | '\u{fffd}' | '\u{e0000}'..='\u{e007f}')
    };
    let bad: Vec<_> = text.chars().filter(is_bad).collect();
    assert!(
        bad.is_empty(),
        "{bad:?} in the output of {command:?}: {text:?}"
    );
}

#[test]
fn text_from_outside_never_reaches_the_output_raw() {
    let stage = nasty_stage();
    for command in telling() {
        let printed = stage.run(&command);
        assert_harmless(&printed.stdout, &command);
        assert_harmless(&printed.stderr, &command);
    }
    stage.say("unhold").success();
    let claimed = stage.say("queue claim brief").success();
    assert_harmless(&claimed.stdout, &["queue", "claim"]);
    assert!(claimed.stdout.contains("\\u{1b}]52"), "{}", claimed.stdout);
}

/// The program on a terminal of its own.
fn on_terminal(stage: &Stage, command: &[&str]) -> Command {
    let words: Vec<_> = (0..command.len())
        .map(|number| format!("\"$WORD_{number}\""))
        .collect();
    let line = format!("exec \"$PROGRAM\" {}", words.join(" "));
    let mut script = stage.env.command("script");
    script.current_dir(stage.repo.path());
    script.env_remove("NO_COLOR").env_remove("COLUMNS");
    script.env("TERM", "xterm-256color").env("SHELL", "/bin/sh");
    script.env("PROGRAM", stage.env.binary());
    for (number, word) in command.iter().enumerate() {
        script.env(format!("WORD_{number}"), word);
    }
    script.args(["-qec", &line, "/dev/null"]);
    script
}

#[test]
fn on_a_terminal_there_are_colours_of_ours_and_nothing_else() {
    let stage = nasty_stage();
    let mut coloured = 0;
    for command in telling() {
        let printed = stage.env.run(on_terminal(&stage, &command));
        let (text, has_colour) = without_sgr(&printed.stdout.replace("\r\n", "\n"));
        assert_harmless(&text, &command);
        assert!(!text.is_empty(), "{command:?} said nothing");
        coloured += usize::from(has_colour);
    }
    assert!(coloured >= 5, "only {coloured} commands used colours");
}

#[test]
fn no_color_and_dumb_terminals_are_honoured() {
    let stage = nasty_stage();
    let listed = |name: &str, value: &str| {
        let mut script = on_terminal(&stage, &["queue", "list", "--all"]);
        script.env(name, value);
        stage.env.run(script).success().stdout
    };
    assert!(listed("TERM", "xterm").contains("\u{1b}[1m"));
    assert!(!listed("NO_COLOR", "1").contains('\u{1b}'));
    assert!(!listed("TERM", "dumb").contains('\u{1b}'));
}

#[test]
fn json_carries_nasty_text_unchanged_and_escaped() {
    let stage = nasty_stage();
    let shown = stage.say("queue show done --json").success();
    assert!(!shown.stdout.contains('\u{1b}'));
    let task: Value = serde_json::from_str(&shown.stdout).unwrap();
    assert_eq!(
        (&task["brief"], &task["said"]),
        (&NASTY.into(), &NASTY.into())
    );
    for words in ["queue list --all --json", "events --json"] {
        let printed = stage.say(words).success();
        assert!(!printed.json_lines().is_empty());
        assert_harmless(&printed.stdout, &[words]);
    }
}

#[test]
fn a_table_is_as_wide_as_it_is_told() {
    let mut stage = Stage::new();
    let brief = "word ".repeat(60);
    stage
        .run(["queue", "add", "fix", "--brief", &brief])
        .success();
    for columns in [50, 80, 200] {
        stage.env.set("COLUMNS", columns.to_string());
        let listed = stage.say("queue list").success().stdout;
        let widest = listed
            .lines()
            .map(|line| line.chars().count())
            .max()
            .unwrap();
        assert!(
            (columns - 5..=columns).contains(&widest),
            "{widest} of {columns}"
        );
    }
}

#[test]
fn a_closed_pipe_ends_the_program_quietly() {
    let stage = Stage::new();
    for number in 0..5 {
        stage.add(&format!("task-{number}"));
    }
    for command in [
        &["events"][..],
        &["events", "--json"],
        &["events", "--follow"],
        &["queue", "list"],
        &["queue", "show", "task-1"],
        &["queue", "claim"],
        &["queue", "add", "more", "--brief", "x"],
        &["help"],
        &["help", "exit-codes"],
        &["completion", "bash"],
        &["doctor"],
        &["version"],
        &["--help"],
    ] {
        // The reader is gone before the first byte.
        let (reader, writer) = std::io::pipe().unwrap();
        drop(reader);
        let mut child = stage
            .command(command)
            .stdin(Stdio::null())
            .stdout(writer)
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let mut said = String::new();
        std::io::Read::read_to_string(&mut child.stderr.take().unwrap(), &mut said).unwrap();
        assert_eq!(
            (child.wait().unwrap().code(), said.as_str()),
            (Some(0), ""),
            "{command:?}"
        );
    }
    assert_eq!(
        stage.state("task-0"),
        "leased",
        "the claim was recorded all the same"
    );
}
