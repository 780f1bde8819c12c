//! What an agent does, how that is known, and when it is said.
//!
//! What the kernel or the program itself says is published at once. A screen is read between two strokes of a painter, so what
//! follows from it, or that nothing does, must hold for [`HOLD`].

use std::time::Duration;

use handoff_agents::{Block, Hint};
use handoff_core::time::Nanos;
use serde::{Deserialize, Serialize};

/// How long a verdict from the screen must hold.
pub const HOLD: Duration = Duration::from_millis(200);

/// What an agent does.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum State {
    /// It has not shown anything yet.
    Starting,
    /// It waits for a message.
    Prompt,
    /// It works.
    Busy,
    /// It waits for a person.
    Blocked(Block),
    /// It has ended.
    Exited,
    /// Nothing that was seen decides it.
    Unknown,
}

/// A state without what it is about, as it is written down.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Phase {
    Starting,
    Prompt,
    Busy,
    Blocked,
    Exited,
    /// Also what a later version calls by another word.
    #[serde(other)]
    Unknown,
}

/// What says so, the strongest first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Source {
    /// The kernel: the process has ended.
    Process,
    /// The program itself: OSC 7501.
    Status,
    /// What the agent writes down for itself.
    Native,
    /// The title that the program gave its terminal.
    Title,
    /// Bracketed paste and the foreground process group.
    Foreground,
    /// What its terminal shows.
    Screen,
    /// That it has printed nothing for long.
    Silence,
    /// That it was started.
    Start,
    /// Nothing that is known.
    #[serde(other)]
    Nothing,
}

/// A state, and what says so.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Verdict {
    pub state: State,
    pub source: Source,
}

/// What is published: the newest verdict that has held long enough.
#[derive(Debug, Clone)]
pub struct Judge {
    published: Verdict,
    since: Nanos,
    waiting: Option<(Verdict, Nanos)>,
}

impl State {
    pub const fn phase(self) -> Phase {
        match self {
            Self::Starting => Phase::Starting,
            Self::Prompt => Phase::Prompt,
            Self::Busy => Phase::Busy,
            Self::Blocked(_) => Phase::Blocked,
            Self::Exited => Phase::Exited,
            Self::Unknown => Phase::Unknown,
        }
    }

    /// What it waits for a person about.
    pub const fn block(self) -> Option<Block> {
        match self {
            Self::Blocked(block) => Some(block),
            Self::Starting | Self::Prompt | Self::Busy | Self::Exited | Self::Unknown => None,
        }
    }
}

impl Phase {
    pub const fn word(self) -> &'static str {
        match self {
            Self::Starting => "starting",
            Self::Prompt => "prompt",
            Self::Busy => "busy",
            Self::Blocked => "blocked",
            Self::Exited => "exited",
            Self::Unknown => "unknown",
        }
    }
}

impl From<Hint> for State {
    fn from(hint: Hint) -> Self {
        match hint {
            Hint::Prompt => Self::Prompt,
            Hint::Busy => Self::Busy,
            Hint::Blocked(block) => Self::Blocked(block),
        }
    }
}

impl Source {
    pub const fn word(self) -> &'static str {
        match self {
            Self::Process => "process",
            Self::Status => "status",
            Self::Native => "native",
            Self::Title => "title",
            Self::Foreground => "foreground",
            Self::Screen => "screen",
            Self::Silence => "silence",
            Self::Start => "start",
            Self::Nothing => "nothing",
        }
    }

    const fn hold(self) -> Duration {
        match self {
            Self::Process
            | Self::Status
            | Self::Native
            | Self::Title
            | Self::Foreground
            | Self::Start => Duration::ZERO,
            Self::Screen | Self::Silence | Self::Nothing => HOLD,
        }
    }
}

impl Judge {
    pub const fn new(now: Nanos) -> Self {
        Self {
            published: Verdict {
                state: State::Starting,
                source: Source::Start,
            },
            since: now,
            waiting: None,
        }
    }

    pub const fn published(&self) -> Verdict {
        self.published
    }

    /// Since when that state is published.
    pub const fn since(&self) -> Nanos {
        self.since
    }

    /// Hears what is to be seen now, and says what is to be published newly: a change of the state, not of its source.
    pub fn hear(&mut self, verdict: Verdict, now: Nanos) -> Option<Verdict> {
        if verdict.state == self.published.state {
            self.published = verdict;
            self.waiting = None;
            return None;
        }
        let first_seen = match self.waiting {
            Some((waiting, at)) if waiting.state == verdict.state => at,
            Some(_) | None => now,
        };
        if now.since(first_seen) < verdict.source.hold() {
            self.waiting = Some((verdict, first_seen));
            return None;
        }
        self.waiting = None;
        self.published = verdict;
        self.since = now;
        Some(verdict)
    }

    /// When to look again although nothing happens.
    pub fn look_again(&self) -> Option<Nanos> {
        self.waiting
            .map(|(verdict, first_seen)| first_seen.after(verdict.source.hold()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const fn verdict(state: State, source: Source) -> Verdict {
        Verdict { state, source }
    }

    fn at(millis: u64) -> Nanos {
        Nanos(0).after(Duration::from_millis(millis))
    }

    #[test]
    fn what_the_program_says_is_published_at_once() {
        let mut judge = Judge::new(at(0));
        let busy = verdict(State::Busy, Source::Status);
        assert_eq!(judge.hear(busy, at(1)), Some(busy));
        assert_eq!(judge.hear(busy, at(2)), None);
        assert_eq!((judge.since(), judge.look_again()), (at(1), None));
    }

    #[test]
    fn what_the_screen_says_must_hold() {
        let mut judge = Judge::new(at(0));
        let prompt = verdict(State::Prompt, Source::Screen);
        let unknown = verdict(State::Unknown, Source::Nothing);
        assert_eq!(judge.hear(prompt, at(0)), None);
        assert_eq!(judge.look_again(), Some(at(200)));
        assert_eq!(judge.hear(unknown, at(150)), None);
        assert_eq!(judge.hear(prompt, at(160)), None);
        assert_eq!(judge.hear(prompt, at(359)), None);
        assert_eq!(judge.hear(prompt, at(360)), Some(prompt));
    }

    #[test]
    fn a_stronger_sign_of_the_same_state_changes_only_the_source() {
        let mut judge = Judge::new(at(0));
        judge.hear(verdict(State::Prompt, Source::Foreground), at(0));
        let stronger = verdict(State::Prompt, Source::Status);
        assert_eq!(judge.hear(stronger, at(5)), None);
        assert_eq!((judge.published(), judge.since()), (stronger, at(0)));
    }
}
