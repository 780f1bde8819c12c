//! What a holder knows of messages: those that wait, how far the first one is typed, and which turn runs.

use std::collections::VecDeque;
use std::io;
use std::path::Path;
use std::time::Duration;

use handoff_agents::Hint;
use handoff_core::MessageId;
use handoff_core::time::Nanos;

use crate::choosing::Choosing;
use crate::delivery::Delivery;
use crate::gain::Gain;
use crate::inbox::Inbox;
use crate::keyboard::Keyboard;
use crate::message::Message;
use crate::outcome::{Outcome, Rest};
use crate::prompt_line::PromptLine;
use crate::status_report::StatusReport;
use crate::turn::{TurnEnding, Turns};

/// Between two keys that are not to be taken for one.
const BREATH: Duration = Duration::from_millis(150);
/// How long a screen must stand still to be taken for painted.
const STILL: Duration = Duration::from_millis(150);
/// How long that may take, at most: some screens never stand still, and some turns never come on record.
const PAINTING_TAKES: Duration = Duration::from_secs(1);
/// How long a record may take to end a turn that has ended: some disks are slow.
const RECORD_TAKES: Duration = Duration::from_secs(3);
/// How much of the end of a text is looked for on the screen.
const TAIL: usize = 16;

/// Everything about messages.
pub(super) struct Post {
    pub(super) inbox: Inbox,
    pub(super) delivery: Delivery,
    pub(super) keyboard: Keyboard,
    /// How often a line editor had stopped reading when somebody sent a line off to it.
    pub(super) sent_off: Option<u64>,
    pub(super) prompt_line: PromptLine,
    pub(super) turns: Turns,
    pub(super) gain: Gain,
    /// The message that is being typed.
    pub(super) typed: Option<Typed>,
    /// A turn that is over, and whose answer is still being painted.
    pub(super) painting: Option<Unpainted>,
    /// The choice that is being made in a dialog.
    pub(super) choosing: Option<Choosing>,
    /// How often the agent has said that it works.
    pub(super) works: u64,
    /// What it said of its rest since it last said that it works.
    pub(super) rest: Rest,
    /// Keys to be pressed later.
    keys: VecDeque<(Nanos, String)>,
}

/// A message that is being typed.
#[derive(Debug, Clone)]
pub(super) struct Typed {
    pub(super) id: MessageId,
    pub(super) text: String,
    /// The end of the text.
    pub(super) tail: String,
}

/// An answer that is still being painted, or written down. Agents say that they are done before their screen shows it, and their
/// record has it.
#[derive(Debug, Clone)]
pub(super) struct Unpainted {
    pub(super) messages: Vec<MessageId>,
    pub(super) turn: u64,
    pub(super) ending: TurnEnding,
    /// How it ended, if that is told already.
    pub(super) outcome: Option<Outcome>,
    /// When the screen has stood still for long enough.
    still_at: Nanos,
    /// When nothing more is waited for.
    until: Nanos,
    /// The same, of a record in which the turn is open.
    on_record_until: Nanos,
}

impl Unpainted {
    pub(super) fn new(messages: Vec<MessageId>, turn: u64, ending: TurnEnding, now: Nanos) -> Self {
        Self {
            messages,
            turn,
            ending,
            outcome: None,
            still_at: now.after(STILL),
            until: now.after(PAINTING_TAKES),
            on_record_until: now.after(RECORD_TAKES),
        }
    }

    /// The same, to be looked at again; none if there is no more time for that.
    pub(super) fn later(&self, now: Nanos, is_open: bool) -> Option<Self> {
        let still_at = now.after(STILL);
        let until = if is_open {
            self.on_record_until
        } else {
            self.until
        };
        (now < until).then(|| Self {
            still_at,
            until,
            ..self.clone()
        })
    }

    fn due(&self) -> Nanos {
        self.still_at.min(self.until)
    }
}

impl Post {
    pub(super) fn open(session: &Path) -> io::Result<Self> {
        Ok(Self {
            inbox: Inbox::create(session)?,
            delivery: Delivery::default(),
            keyboard: Keyboard::default(),
            prompt_line: PromptLine::default(),
            turns: Turns::default(),
            gain: Gain::default(),
            typed: None,
            painting: None,
            choosing: None,
            works: 0,
            rest: Rest::Unsaid,
            sent_off: None,
            keys: VecDeque::new(),
        })
    }

    /// The message whose turn it is. One that is being typed stays it, whoever forces their way.
    pub(super) fn first(&self) -> Option<&Message> {
        let typed = self.typed.as_ref();
        typed
            .and_then(|typed| self.inbox.waiting(typed.id))
            .or_else(|| self.inbox.first())
    }

    pub(super) fn tail(&self) -> &str {
        self.typed.as_ref().map_or("", |typed| &typed.tail)
    }

    /// The agent has said what it does. A short turn begins and ends within one look.
    pub(super) const fn reported(&mut self, report: StatusReport) {
        if matches!(report, StatusReport::Is(Hint::Busy)) {
            self.works += 1;
        }
    }

    /// The program says what it does in what it prints.
    pub(super) const fn said(&mut self, report: StatusReport) {
        self.rest = match report {
            StatusReport::Done => Rest::Done,
            StatusReport::Is(Hint::Prompt) => Rest::Idle,
            StatusReport::Is(Hint::Busy | Hint::Blocked(_)) | StatusReport::Cleared => Rest::Unsaid,
        };
    }

    /// The agent has painted something.
    pub(super) fn painted(&mut self, now: Nanos) {
        if let Some(painting) = &mut self.painting {
            painting.still_at = now.after(STILL);
        }
    }

    /// The answer that is painted by now.
    pub(super) fn take_painted(&mut self, now: Nanos) -> Option<Unpainted> {
        self.painting.take_if(|painting| painting.due() <= now)
    }

    /// Presses keys one after the other, with a breath between them.
    pub(super) fn press(&mut self, keys: &[String], now: Nanos) {
        let mut at = now;
        for key in keys {
            self.keys.push_back((at, key.clone()));
            at = at.after(BREATH);
        }
    }

    /// The keys that are due.
    pub(super) fn due_keys(&mut self, now: Nanos) -> Vec<String> {
        let mut due = vec![];
        while let Some((_, key)) = self.keys.pop_front_if(|(at, _)| *at <= now) {
            due.push(key);
        }
        due
    }

    /// When something is due although nothing happens.
    pub(super) fn look_again(&self) -> Option<Nanos> {
        let keys = self.keys.front().map(|(at, _)| *at);
        let others = [
            self.delivery.look_again(),
            self.turns.look_again(),
            self.inbox.look_again(),
            self.choosing.as_ref().and_then(Choosing::look_again),
            self.painting.as_ref().map(Unpainted::due),
        ];
        others.into_iter().chain([keys]).flatten().min()
    }
}

/// The end of a text as it is looked for on the screen.
pub(super) fn tail_of(text: &str) -> String {
    let line = text.lines().next_back().unwrap_or_default().trim_end();
    let skipped = line.chars().count().saturating_sub(TAIL);
    line.chars().skip(skipped).collect()
}
