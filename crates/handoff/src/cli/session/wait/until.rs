//! What is waited for, decided from the journal and the inbox of a session.

use handoff_agents::Block;
use handoff_session::Phase;
use handoff_session::inbox::Letter;
use handoff_session::journal::{Entry, Event};
use handoff_session::message::Progress;
use handoff_session::outcome::Outcome;

/// What is waited for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub(super) enum Until {
    Exited,
    Prompt,
    Idle,
    Blocked,
    Turn,
    Reply,
}

/// Whether it is there.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Met {
    Yes,
    /// Not before a person does something.
    Never,
    /// Nothing is under way, and this turn has not brought it.
    Lost(u64, Outcome),
}

/// What the files of a session tell.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Seen {
    pub(super) state: Phase,
    pub(super) kind: Option<Block>,
    /// Whether something is under way: a turn, or a message.
    has_work: bool,
    /// Whether a turn runs.
    runs: bool,
    /// The first turn that ended after the anchor.
    pub(super) ended_turn: Option<(u64, Outcome)>,
    /// How the last turn ended that has.
    last_turn: Option<(u64, Outcome)>,
    /// The first reply after the anchor, and its number.
    pub(super) reply: Option<(u64, String)>,
    /// The last event.
    pub(super) seq: u64,
}

impl Seen {
    pub(super) fn of(entries: &[Entry], letters: &[Letter], after: u64) -> Self {
        let mut seen = Self {
            state: Phase::Starting,
            kind: None,
            has_work: letters.iter().any(|it| is_under_way(it.progress())),
            runs: false,
            ended_turn: None,
            last_turn: None,
            reply: None,
            seq: 0,
        };
        for entry in entries {
            seen.seq = entry.seq;
            if let Event::StateChanged { state, kind, .. } = entry.event {
                (seen.state, seen.kind) = (state, kind);
            } else if let Event::TurnStarted { .. } = entry.event {
                seen.runs = true;
            } else if let Event::TurnEnded { turn, outcome, .. } = &entry.event {
                seen.runs = false;
                let ended = (*turn, outcome.clone());
                if entry.seq > after {
                    seen.ended_turn.get_or_insert(ended.clone());
                }
                seen.last_turn = Some(ended);
            } else if let Event::Replied { msg } = &entry.event
                && entry.seq > after
            {
                seen.reply.get_or_insert_with(|| (entry.seq, msg.clone()));
            }
        }
        seen.has_work |= seen.runs;
        seen
    }

    fn is_limited(&self) -> bool {
        self.state == Phase::Blocked && self.kind == Some(Block::Limit)
    }

    fn is_dialog(&self) -> bool {
        self.state == Phase::Blocked && self.kind != Some(Block::Error)
    }
}

/// Whether it is still to be typed or answered.
const fn is_under_way(progress: &Progress) -> bool {
    match progress {
        Progress::Queued { .. }
        | Progress::Written { because: None }
        | Progress::Submitted { .. } => true,
        Progress::Written { because: Some(_) }
        | Progress::Answered { .. }
        | Progress::Failed { .. }
        | Progress::Expired => false,
    }
}

impl Until {
    /// Whether waiting is over.
    pub(super) fn is_met(self, seen: &Seen) -> Option<Met> {
        let is_there = match self {
            // Told by the record of the session.
            Self::Exited => return None,
            Self::Prompt => seen.state == Phase::Prompt,
            Self::Idle => {
                !seen.has_work
                    && matches!(seen.state, Phase::Prompt | Phase::Blocked)
                    && !seen.is_dialog()
            }
            Self::Blocked => seen.state == Phase::Blocked,
            Self::Turn => seen.ended_turn.is_some(),
            Self::Reply => seen.reply.is_some(),
        };
        let has_failed = |(_, outcome): &&(u64, Outcome)| *outcome != Outcome::Answered;
        let failed = seen.last_turn.as_ref().filter(has_failed);
        match (is_there, self) {
            (true, _) => Some(Met::Yes),
            (false, Self::Reply) if !seen.has_work && !seen.is_dialog() => {
                failed.map(|(turn, outcome)| Met::Lost(*turn, outcome.clone()))
            }
            // That ends the turn that runs.
            (false, Self::Turn | Self::Idle) if seen.is_limited() && seen.runs => None,
            (false, Self::Prompt | Self::Idle | Self::Turn | Self::Reply) if seen.is_dialog() => {
                Some(Met::Never)
            }
            (false, _) => None,
        }
    }

    pub(super) const fn word(self) -> &'static str {
        match self {
            Self::Exited => "exited",
            Self::Prompt => "prompt",
            Self::Idle => "idle",
            Self::Blocked => "blocked",
            Self::Turn => "turn",
            Self::Reply => "reply",
        }
    }

    /// What it is, in a sentence.
    pub(super) const fn meaning(self) -> &'static str {
        match self {
            Self::Exited => "its end",
            Self::Prompt => "its prompt",
            Self::Idle => "its rest",
            Self::Blocked => "a question to a person",
            Self::Turn => "the end of a turn",
            Self::Reply => "a reply",
        }
    }
}
