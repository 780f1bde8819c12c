//! What is published while a recorded agent runs, against the marks that the one who recorded it set.

use std::time::Duration;

use handoff_agents::Agent;
use handoff_core::time::Nanos;
use handoff_process::Size;
use handoff_session::screen::Screen;
use handoff_session::signs::{Foreground, Signs, Terminal};
use handoff_session::state::Judge;
use serde_json::Value;

/// A verdict may come this much after the moment that it is about.
const LATEST: Duration = Duration::from_millis(500);

const CLAUDE: &str = include_str!("../../../testkit/recordings/claude-2.1.325-turn.cast");
const CODEX: &str = include_str!("../../../testkit/recordings/codex-0.166.0-turn.cast");

/// What was published, and when.
struct Published(Vec<(Nanos, &'static str)>);

impl Published {
    fn of(agent: &str, recording: &str) -> Self {
        let mut screen = Screen::new(Size {
            rows: 40,
            columns: 120,
        });
        let mut signs = Signs::new(Agent::built_in(agent).unwrap().adapter);
        let mut judge = Judge::new(Nanos(0));
        let mut published = vec![];
        for (at, text) in events(recording, "o") {
            // What becomes due while the agent prints nothing is published before it prints again.
            while let Some(due) = judge.look_again().filter(|due| *due < at) {
                let verdict = judge.hear(signs.verdict(), due);
                published.extend(verdict.map(|it| (due, it.state.phase().word())));
            }
            let aside = screen.print(text.as_bytes());
            signs.printed(Terminal::of(&screen, Foreground::Unknown));
            for report in aside.reports {
                signs.reported(report);
            }
            let verdict = judge.hear(signs.verdict(), at);
            published.extend(verdict.map(|it| (at, it.state.phase().word())));
        }
        Self(published)
    }

    /// What was last published by then.
    fn at(&self, time: Nanos) -> &'static str {
        let before = self.0.iter().rev().find(|(at, _)| *at <= time);
        before.map_or("starting", |(_, state)| *state)
    }

    /// The states at each mark, once they had time to be noticed and before the next one.
    fn at_marks(&self, recording: &str) -> Vec<(String, &'static str)> {
        let marks = events(recording, "m");
        let nexts = marks.iter().skip(1).map(|(at, _)| *at);
        marks
            .iter()
            .zip(nexts)
            .map(|((at, mark), next)| (mark.clone(), self.at(at.after(LATEST).min(next))))
            .collect()
    }
}

/// The events of one kind: when, and their text.
fn events(recording: &str, kind: &str) -> Vec<(Nanos, String)> {
    let lines = recording.lines().skip(1);
    lines
        .map(|line| serde_json::from_str::<Value>(line).unwrap())
        .filter(|event| event[1] == kind)
        .map(|event| {
            let at = Duration::from_secs_f64(event[0].as_f64().unwrap());
            (Nanos(0).after(at), event[2].as_str().unwrap().to_owned())
        })
        .collect()
}

#[track_caller]
fn assert_marks(agent: &str, recording: &str, expected: &[(&str, &str)]) {
    let marks = Published::of(agent, recording).at_marks(recording);
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
