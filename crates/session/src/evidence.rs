//! What is seen of an agent, and what follows from all of it: the strongest sign decides.

use std::time::Duration;

use handoff_agents::adapter::{Adapter, Prompting};
use handoff_agents::{Agent, Hint};
use handoff_core::time::Nanos;

use crate::state::{Source, State, Verdict};
use crate::status_report::StatusReport;

/// A program that has not printed for this long is not seen to work.
pub const QUIET_AFTER: Duration = Duration::from_secs(1);

/// What is seen of an agent.
#[derive(Debug, Clone)]
pub struct Evidence {
    adapter: Adapter,
    life: Life,
    status: Option<Hint>,
    terminal: Option<Terminal>,
    printed_at: Option<Nanos>,
    /// A line editor was seen to read, so its silence now means that a command runs.
    has_prompted: bool,
}

/// Whether the process lives.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Life {
    Running,
    Ended,
}

/// What the terminal shows of the program.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Terminal {
    pub foreground: Foreground,
    pub paste: Paste,
    /// What stands left of the cursor.
    pub cursor_line: String,
}

/// Who reads the keyboard.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Foreground {
    /// The program itself.
    Itself,
    /// Something that it started.
    Other,
    Unknown,
}

/// Whether the program asked for pastes to be marked.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Paste {
    Bracketed,
    Plain,
}

impl Evidence {
    pub const fn new(agent: Agent) -> Self {
        Self {
            adapter: agent.adapter(),
            life: Life::Running,
            status: None,
            terminal: None,
            printed_at: None,
            has_prompted: false,
        }
    }

    pub const fn adapter(&self) -> &Adapter {
        &self.adapter
    }

    /// The process has ended.
    pub const fn ended(&mut self) {
        self.life = Life::Ended;
    }

    /// The program said what it does.
    pub const fn reported(&mut self, report: StatusReport) {
        self.status = match report {
            StatusReport::Is(hint) => Some(hint),
            StatusReport::Cleared => None,
        };
    }

    /// The program printed, and this is how its terminal looks now.
    pub fn printed(&mut self, terminal: Terminal, now: Nanos) {
        self.has_prompted |= is_reading(&terminal);
        self.terminal = Some(terminal);
        self.printed_at = Some(now);
    }

    /// What follows from all of it.
    pub fn verdict(&self, now: Nanos) -> Verdict {
        if self.life == Life::Ended {
            return verdict(State::Exited, Source::Process);
        }
        let Some((terminal, printed_at)) = self.terminal.as_ref().zip(self.printed_at) else {
            return verdict(State::Starting, Source::Start);
        };
        let status = self.status.map(|hint| verdict(hint.into(), Source::Status));
        status
            .or_else(|| self.by_foreground(terminal))
            .or_else(|| self.by_screen(terminal))
            .unwrap_or_else(|| by_output(now.since(printed_at)))
    }

    /// When to look again although nothing is printed.
    pub fn look_again(&self, now: Nanos) -> Option<Nanos> {
        let quiet_at = self.printed_at?.after(QUIET_AFTER);
        (self.verdict(now).source == Source::Output).then_some(quiet_at)
    }

    fn by_foreground(&self, terminal: &Terminal) -> Option<Verdict> {
        let state = match (self.adapter.prompting, terminal.foreground) {
            (Prompting::Screen, _) | (_, Foreground::Unknown) => return None,
            (Prompting::Foreground | Prompting::LineEditor, Foreground::Other) => State::Busy,
            (Prompting::Foreground, Foreground::Itself) => return None,
            (Prompting::LineEditor, Foreground::Itself) if is_reading(terminal) => State::Prompt,
            (Prompting::LineEditor, Foreground::Itself) if self.has_prompted => State::Busy,
            (Prompting::LineEditor, Foreground::Itself) => State::Starting,
        };
        Some(verdict(state, Source::Foreground))
    }

    fn by_screen(&self, terminal: &Terminal) -> Option<Verdict> {
        let line = terminal.cursor_line.trim_end();
        let rule = self
            .adapter
            .cursor_lines
            .iter()
            .find(|rule| line.ends_with(rule.ends_with))?;
        Some(verdict(rule.means.into(), Source::Screen))
    }
}

fn is_reading(terminal: &Terminal) -> bool {
    terminal.paste == Paste::Bracketed && terminal.foreground == Foreground::Itself
}

fn by_output(silence: Duration) -> Verdict {
    if silence < QUIET_AFTER {
        verdict(State::Busy, Source::Output)
    } else {
        verdict(State::Unknown, Source::Silence)
    }
}

const fn verdict(state: State, source: Source) -> Verdict {
    Verdict { state, source }
}

#[cfg(test)]
mod tests {
    use handoff_agents::Block;

    use super::*;

    fn terminal(foreground: Foreground, paste: Paste, line: &str) -> Terminal {
        Terminal {
            foreground,
            paste,
            cursor_line: line.to_owned(),
        }
    }

    /// What follows from one look at the terminal, so many milliseconds after it.
    fn seen(agent: Agent, terminal: Terminal, millis: u64) -> Verdict {
        let mut evidence = Evidence::new(agent);
        evidence.printed(terminal, Nanos(0));
        evidence.verdict(Nanos(0).after(Duration::from_millis(millis)))
    }

    /// An agent, a look at its terminal and how long ago that was; and what follows.
    type Row = (
        Agent,
        (Foreground, Paste, &'static str),
        u64,
        (State, Source),
    );

    #[track_caller]
    fn assert_rows(rows: &[Row]) {
        for (agent, (foreground, paste, line), millis, (state, source)) in rows {
            let terminal = terminal(*foreground, *paste, line);
            let found = seen(*agent, terminal.clone(), *millis);
            assert_eq!(found, verdict(*state, *source), "{agent} {terminal:?}");
        }
    }

    #[test]
    fn a_shell_shows_exactly_when_it_reads() {
        use Foreground::{Itself, Other};
        use Paste::{Bracketed, Plain};
        let by_foreground = |state| (state, Source::Foreground);
        assert_rows(&[
            (
                Agent::Bash,
                (Itself, Bracketed, "$ "),
                0,
                by_foreground(State::Prompt),
            ),
            (
                Agent::Bash,
                (Itself, Plain, "$ "),
                0,
                by_foreground(State::Starting),
            ),
            (
                Agent::Bash,
                (Other, Plain, "$ "),
                9999,
                by_foreground(State::Busy),
            ),
            (
                Agent::Zsh,
                (Other, Bracketed, "> "),
                0,
                by_foreground(State::Busy),
            ),
            (
                Agent::Sh,
                (Other, Plain, "$ "),
                0,
                by_foreground(State::Busy),
            ),
        ]);
    }

    #[test]
    fn other_programs_are_read_by_the_line_with_the_cursor_and_by_what_they_print() {
        use Foreground::{Itself, Unknown};
        use Paste::{Bracketed, Plain};
        let prompt = (State::Prompt, Source::Screen);
        let busy = (State::Busy, Source::Output);
        let silent = (State::Unknown, Source::Silence);
        assert_rows(&[
            (Agent::Sh, (Itself, Plain, "# "), 0, prompt),
            (Agent::Sh, (Itself, Plain, ""), 0, busy),
            (Agent::Generic, (Itself, Plain, ">>> "), 0, prompt),
            (Agent::Generic, (Unknown, Plain, "› "), 0, prompt),
            (Agent::Generic, (Itself, Bracketed, ""), 999, busy),
            (Agent::Generic, (Itself, Plain, ""), 1000, silent),
        ]);
    }

    #[test]
    fn a_line_editor_that_has_prompted_and_reads_no_more_is_busy() {
        let mut evidence = Evidence::new(Agent::Bash);
        evidence.printed(
            terminal(Foreground::Itself, Paste::Bracketed, "$ "),
            Nanos(0),
        );
        evidence.printed(terminal(Foreground::Itself, Paste::Plain, "$ "), Nanos(1));
        assert_eq!(
            evidence.verdict(Nanos(2)),
            verdict(State::Busy, Source::Foreground)
        );
    }

    #[test]
    fn what_the_program_says_outweighs_what_it_shows_and_its_end_everything() {
        let mut evidence = Evidence::new(Agent::Generic);
        assert_eq!(
            evidence.verdict(Nanos(0)),
            verdict(State::Starting, Source::Start)
        );
        evidence.printed(terminal(Foreground::Itself, Paste::Plain, "> "), Nanos(0));
        evidence.reported(StatusReport::Is(Hint::Blocked(Block::Permission)));
        let blocked = verdict(State::Blocked(Block::Permission), Source::Status);
        assert_eq!(evidence.verdict(Nanos(0)), blocked);
        evidence.reported(StatusReport::Cleared);
        assert_eq!(
            evidence.verdict(Nanos(0)),
            verdict(State::Prompt, Source::Screen)
        );
        evidence.ended();
        assert_eq!(
            evidence.verdict(Nanos(0)),
            verdict(State::Exited, Source::Process)
        );
    }

    #[test]
    fn only_a_program_that_prints_is_looked_at_again() {
        let mut evidence = Evidence::new(Agent::Generic);
        assert_eq!(evidence.look_again(Nanos(0)), None);
        evidence.printed(terminal(Foreground::Itself, Paste::Plain, ""), Nanos(0));
        assert_eq!(
            evidence.look_again(Nanos(0)),
            Some(Nanos(0).after(QUIET_AFTER))
        );
        assert_eq!(evidence.look_again(Nanos(0).after(QUIET_AFTER)), None);
    }
}
