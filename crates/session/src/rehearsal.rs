//! What would be concluded from a recorded terminal: for tests, and for whoever describes an agent.
//!
//! The bytes go through the same screen, signs and judge as those of an agent that runs. Only the process is missing.

use std::time::Duration;

use handoff_agents::Adapter;
use handoff_core::time::Nanos;
use handoff_process::Size;
use serde_json::Value;

use crate::screen::Screen;
use crate::signs::{Foreground, Signs, Terminal};
use crate::state::{Judge, Verdict};

/// A recorded terminal.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Recording {
    pub size: Size,
    pub moments: Vec<Moment>,
}

/// Something in a recording.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Moment {
    /// Since its beginning.
    pub at: Nanos,
    pub what: What,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum What {
    Printed(String),
    /// A remark of the one who recorded it.
    Marked(String),
}

/// Why a text is no recording.
#[derive(Debug, thiserror::Error)]
pub enum RecordingError {
    #[error("line {0} is not JSON")]
    Json(usize, #[source] serde_json::Error),
    #[error("the first line is not that of an asciicast of version 2 or 3")]
    Head,
    #[error("line {0} is not `[time, kind, text]`")]
    Event(usize),
}

/// What was published at which time.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Published {
    pub changes: Vec<(Nanos, Verdict)>,
    /// What was last seen, published or not.
    pub last: Verdict,
}

impl Recording {
    /// A picture of a terminal: text with colours, as `tmux capture-pane -e` makes it.
    pub fn of_capture(text: &str, size: Size) -> Self {
        let rows = text
            .trim_end()
            .split('\n')
            .map(|row| row.trim_end_matches('\r'));
        let rows: Vec<&str> = rows.collect();
        let printed = Moment {
            at: Nanos(0),
            what: What::Printed(rows.join("\r\n")),
        };
        Self {
            size,
            moments: vec![printed],
        }
    }

    /// An asciicast.
    pub fn of_cast(text: &str) -> Result<Self, RecordingError> {
        let mut lines = text.lines().enumerate();
        let read = |(at, line): (usize, &str)| {
            let value = serde_json::from_str::<Value>(line);
            value.map_err(|error| RecordingError::Json(at + 1, error))
        };
        let head = read(lines.next().ok_or(RecordingError::Head)?)?;
        let size = size_in(&head).ok_or(RecordingError::Head)?;
        let mut moments = vec![];
        for line in lines.filter(|(_, line)| !line.is_empty()) {
            let event = read(line)?;
            moments.extend(moment(&event).ok_or(RecordingError::Event(line.0 + 1))?);
        }
        Ok(Self { size, moments })
    }

    /// Plays it to the end, and some time longer.
    pub fn play(&self, adapter: Adapter, rest: Duration) -> Published {
        let mut stage = Stage {
            screen: Screen::new(self.size),
            signs: Signs::new(adapter),
            judge: Judge::new(Nanos(0)),
            changes: vec![],
        };
        let mut end = Nanos(0);
        for moment in &self.moments {
            end = moment.at;
            if let What::Printed(text) = &moment.what {
                stage.wait_until(moment.at);
                stage.print(text, moment.at);
            }
        }
        stage.wait_until(end.after(rest));
        Published {
            last: stage.signs.verdict(),
            changes: stage.changes,
        }
    }
}

impl Published {
    /// What was last published by then.
    pub fn at(&self, time: Nanos) -> Option<Verdict> {
        let before = self.changes.iter().rev().find(|(at, _)| *at <= time);
        before.map(|(_, verdict)| *verdict)
    }
}

fn size_in(head: &Value) -> Option<Size> {
    let terminal = head.get("term").unwrap_or(head);
    let number = |short: &str, long: &str| {
        let value = terminal.get(short).or_else(|| terminal.get(long))?;
        u16::try_from(value.as_u64()?).ok()
    };
    head.get("version")?.as_u64()?;
    Some(Size {
        rows: number("rows", "height")?,
        columns: number("cols", "width")?,
    })
}

/// Kinds that tell nothing here are left out.
fn moment(event: &Value) -> Option<Option<Moment>> {
    let at = Duration::try_from_secs_f64(event.get(0)?.as_f64()?).ok()?;
    let text = event.get(2)?.as_str()?.to_owned();
    let what = match event.get(1)?.as_str()? {
        "o" => What::Printed(text),
        "m" => What::Marked(text),
        _ => return Some(None),
    };
    let at = Nanos(0).after(at);
    Some(Some(Moment { at, what }))
}

/// The parts of a holder that conclude.
struct Stage {
    screen: Screen,
    signs: Signs,
    judge: Judge,
    changes: Vec<(Nanos, Verdict)>,
}

impl Stage {
    /// What becomes due while the agent prints nothing is published before it prints again.
    fn wait_until(&mut self, time: Nanos) {
        while let Some(due) = self.judge.look_again().filter(|due| *due < time) {
            self.publish(due);
        }
    }

    fn print(&mut self, text: &str, at: Nanos) {
        let aside = self.screen.print(text.as_bytes());
        let terminal = Terminal::of(&self.screen, Foreground::Unknown, self.screen.sight());
        self.signs.printed(terminal);
        for report in aside.reports {
            self.signs.reported(report);
        }
        self.publish(at);
    }

    fn publish(&mut self, at: Nanos) {
        let published = self.judge.hear(self.signs.verdict(), at);
        self.changes.extend(published.map(|verdict| (at, verdict)));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cast_of_either_version_is_read_and_anything_else_refused() {
        let second =
            "{\"version\":2,\"width\":80,\"height\":24}\n[0.5,\"o\",\"x\"]\n[1,\"i\",\"y\"]\n";
        let recording = Recording::of_cast(second).unwrap();
        assert_eq!((recording.size.rows, recording.moments.len()), (24, 1));
        let third = "{\"version\":3,\"term\":{\"cols\":80,\"rows\":24}}\n[0.5,\"m\",\"x\"]\n";
        assert_eq!(Recording::of_cast(third).unwrap().size.columns, 80);
        for wrong in [
            "",
            "x",
            "{}",
            "{\"version\":2,\"width\":80,\"height\":24}\n[1]",
        ] {
            assert!(Recording::of_cast(wrong).is_err(), "{wrong}");
        }
    }
}
