//! What is published while a recorded agent runs, against the marks that the one who recorded it set.

use std::time::Duration;

use handoff_agents::Agent;
use handoff_core::time::Nanos;
use handoff_session::rehearsal::{Recording, What};

/// A verdict may come this much after the moment that it is about.
const LATEST: Duration = Duration::from_millis(500);

const CLAUDE: &str = include_str!("../../../testkit/recordings/claude-2.1.325-turn.cast");
const CODEX: &str = include_str!("../../../testkit/recordings/codex-0.166.0-turn.cast");

const GEMINI: &str = include_str!("../../../testkit/recordings/gemini-0.61.0-input.cast");
const OPENCODE: &str = include_str!("../../../testkit/recordings/opencode-1.18.33-input.cast");

/// The states at each mark but the last, once they had time to be noticed and before the next one.
fn at_marks(agent: &str, recording: &str) -> Vec<(String, &'static str)> {
    let recording = Recording::of_cast(recording).unwrap();
    let adapter = Agent::built_in(agent).unwrap().adapter;
    let published = recording.play(adapter, Duration::ZERO);
    let marks = recording
        .moments
        .iter()
        .filter_map(|moment| match &moment.what {
            What::Marked(mark) => Some((moment.at, mark)),
            What::Printed(_) => None,
        });
    let marks: Vec<_> = marks.collect();
    let nexts = marks.iter().skip(1).map(|(at, _)| *at);
    marks
        .iter()
        .zip(nexts)
        .map(|((at, mark), next)| {
            let verdict = published.at(at.after(LATEST).min(next));
            let word = verdict.map_or("starting", |verdict| verdict.state.phase().word());
            ((*mark).clone(), word)
        })
        .collect()
}

#[track_caller]
fn assert_marks(agent: &str, recording: &str, expected: &[(&str, &str)]) {
    let marks = at_marks(agent, recording);
    let marks: Vec<_> = marks
        .iter()
        .map(|(mark, state)| (mark.as_str(), *state))
        .collect();
    assert_eq!(marks, expected);
}

/// Recorded without an answer to its question, so by title and screen alone. The tool that was permitted ends within half a
/// second; at the last mark `/exit` is typed and not sent.
#[test]
fn claude_is_read_right_through_a_turn_and_a_permission() {
    assert_marks(
        "claude",
        CLAUDE,
        &[
            ("prompt-ready", "prompt"),
            ("submitted-slow", "busy"),
            ("idle", "prompt"),
            ("submitted-tool", "busy"),
            ("permission-shown", "blocked"),
            ("permission-answered", "prompt"),
            ("idle", "prompt"),
        ],
    );
}

/// By what it says of itself. It asks for the permission before the mark; at the last mark it leaves and takes back what it said.
#[test]
fn codex_is_read_right_through_a_turn_and_a_permission() {
    assert_marks(
        "codex",
        CODEX,
        &[
            ("prompt-ready", "prompt"),
            ("submitted-slow", "busy"),
            ("idle", "prompt"),
            ("submitted-tool", "blocked"),
            ("permission-shown", "blocked"),
            ("permission-answered", "prompt"),
            ("idle", "prompt"),
            ("submitted-hang", "busy"),
            ("idle", "unknown"),
        ],
    );
}

/// What is published at these times, in tenths of a second.
fn at_times(agent: &str, recording: &str, times: &[u64]) -> Vec<&'static str> {
    let recording = Recording::of_cast(recording).unwrap();
    let adapter = Agent::built_in(agent).unwrap().adapter;
    let published = recording.play(adapter, Duration::ZERO);
    let word = |time: &u64| {
        let at = Nanos(0).after(Duration::from_millis(time * 100));
        let verdict = published.at(at);
        verdict.map_or("starting", |verdict| verdict.state.phase().word())
    };
    times.iter().map(word).collect()
}

/// A draft stands in the box at 90 and at 645. Between 628 and 680 the model answers slowly, with another
/// message in the queue.
#[test]
fn gemini_is_read_right_while_it_is_typed_to() {
    let times = [30, 50, 90, 130, 135, 640, 645, 660, 690];
    let words = at_times("gemini", GEMINI, &times);
    let (busy, prompt) = ("busy", "prompt");
    let expected = [
        "starting", prompt, prompt, prompt, prompt, busy, busy, busy, prompt,
    ];
    assert_eq!(words, expected);
}

/// It works on the first message from 130 to 193, and leaves at 303.
#[test]
fn opencode_is_read_right_while_it_is_typed_to() {
    let times = [20, 120, 140, 170, 190, 208, 226, 240, 300, 305];
    let words = at_times("opencode", OPENCODE, &times);
    let (busy, prompt) = ("busy", "prompt");
    let expected = [
        "starting", prompt, busy, busy, busy, prompt, prompt, prompt, prompt, "unknown",
    ];
    assert_eq!(words, expected);
}
