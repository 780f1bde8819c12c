//! How a holder ends turns: when, how, and with which answer. What follows is decided in [`crate::turn`] and [`crate::outcome`];
//! here it is looked up and told.

use handoff_agents::conversation::Turn;
use handoff_agents::{Adapter, InputBox, TextBox, Usage};
use handoff_core::MessageId;
use handoff_core::time::Nanos;

use super::Holder;
use super::post::Unpainted;
use crate::gain::Manner;
use crate::journal::Event;
use crate::message::{Answer, AnswerSource, Because, LostTurn, Progress};
use crate::native::Native;
use crate::outcome::{Outcome, Patience, Recorded, TurnSigns, outcome};
use crate::screen::Screen;
use crate::turn::{Change, TurnEnding};

impl Holder<'_> {
    /// Looks whether a turn begins or ends by what is published.
    pub(super) fn hear_turns(&mut self, now: Nanos) {
        let state = self.judge.published().state;
        let turns = &mut self.post.turns;
        let is_on_record = turns.is_doubtful(state, now)
            && self.native.as_mut().is_some_and(Native::has_open_turn);
        if is_on_record && turns.linger(now) {
            return;
        }
        if let Some(change) = turns.hear(state, now) {
            self.tell_turn(change);
        }
    }

    pub(super) fn tell_turn(&mut self, change: Change) {
        match change {
            Change::Started { turn } => {
                // What is on record from now on belongs to the new one.
                if let Some(unpainted) = self.post.painting.take() {
                    self.conclude(unpainted);
                }
                self.post.keyboard.forget();
                if let Some(native) = &mut self.native {
                    native.begin_turn();
                }
                self.tell(Event::TurnStarted { turn });
            }
            Change::Ended {
                turn,
                messages,
                ending,
            } => self.end_turn(messages, turn, ending),
        }
    }

    /// What prints lines has printed them all; a screen is still being painted, and a record written.
    fn end_turn(&mut self, messages: Vec<MessageId>, turn: u64, ending: TurnEnding) {
        let now = self.now();
        let mut over = Unpainted::new(messages, turn, ending, now);
        over.outcome = self.outcome(ending, Patience::Left);
        if let Some(outcome) = over.outcome.clone() {
            // Before the answer: whoever has that finds the turn ended.
            self.tell_end(&over, outcome);
        }
        if let Some(native) = &mut self.native {
            native.end_turn();
        }
        let is_told = over.outcome.is_some() && over.messages.is_empty();
        match manner(self.signs.adapter(), &self.screen) {
            _ if is_told => {}
            Manner::Editor | Manner::Lines => self.conclude(over),
            Manner::Above(_) | Manner::Screen => self.post.painting = Some(over),
        }
    }

    fn tell_end(&mut self, over: &Unpainted, outcome: Outcome) {
        let usage = self.usage(over.turn);
        self.tell(Event::TurnEnded {
            turn: over.turn,
            message: over.messages.first().copied(),
            outcome,
            usage,
        });
    }

    /// What a turn took, if that is on record already; otherwise it is told later.
    fn usage(&mut self, number: u64) -> Option<Usage> {
        let native = self.native.as_mut()?;
        let turn = native.turn().filter(|turn| turn.end.is_some());
        if turn.is_none() {
            native.owe(number);
        }
        turn.map(|turn| turn.usage)
            .filter(|usage| !usage.is_nothing())
    }

    fn outcome(&mut self, ending: TurnEnding, patience: Patience) -> Option<Outcome> {
        let turn = self.recorded_turn();
        let signs = TurnSigns {
            state: ending.state,
            record: recorded(turn.as_ref()),
            rest: self.post.rest,
            stop: ending.stop,
            asked: ending.asked,
        };
        outcome(&signs, patience)
    }

    fn recorded_turn(&mut self) -> Option<Turn> {
        self.native.as_mut().and_then(Native::turn)
    }

    /// Ends the turn whose answer is painted and on record by now, or will not be.
    pub(super) fn conclude_painted(&mut self, now: Nanos) {
        let Some(painted) = self.post.take_painted(now) else {
            return;
        };
        let is_behind = self.native.as_mut().is_some_and(Native::is_behind);
        let turn = self.recorded_turn();
        let is_open = painted.outcome.is_none() && recorded(turn.as_ref()) == Recorded::Open;
        match painted.later(now, is_open).filter(|_| is_behind) {
            Some(later) => self.post.painting = Some(later),
            None => self.conclude(painted),
        }
    }

    fn conclude(&mut self, mut over: Unpainted) {
        let answer = self.words();
        let outcome = match over.outcome.take() {
            Some(outcome) => outcome,
            None => {
                let decided = self.outcome(over.ending, Patience::Over);
                let decided = decided.unwrap_or(Outcome::Unclear);
                let decided = decided.with_words(&answer.text);
                self.tell_end(&over, decided.clone());
                decided
            }
        };
        let wall = self.clock.now().wall;
        let progress = progress(over.turn, outcome, answer);
        for id in over.messages {
            self.post.inbox.note(id, progress.clone(), wall);
        }
    }

    /// What the agent said in the turn that has ended.
    fn words(&mut self) -> Answer {
        let manner = manner(self.signs.adapter(), &self.screen);
        let gained = self.post.gain.end(&self.screen, manner);
        match self.recorded_turn().and_then(|turn| turn.answer) {
            Some(text) => Answer {
                text,
                source: AnswerSource::Transcript,
                is_truncated: false,
            },
            None => Answer {
                text: gained.text,
                source: AnswerSource::Screen,
                is_truncated: gained.is_truncated,
            },
        }
    }

    /// Nobody will type them any more.
    pub(super) fn fail_waiting(&mut self) {
        if let Some(unpainted) = self.post.painting.take() {
            self.conclude(unpainted);
        }
        let wall = self.clock.now().wall;
        while let Some(id) = self.post.first().map(|message| message.id) {
            let failed = Progress::Failed {
                because: Because::Ended,
                lost: None,
            };
            self.post.inbox.note(id, failed, wall);
        }
    }
}

fn recorded(turn: Option<&Turn>) -> Recorded<'_> {
    turn.map_or(Recorded::Nothing, |turn| match &turn.end {
        Some(end) => Recorded::Ended(end),
        None => Recorded::Open,
    })
}

/// What a message comes to by the end of its turn.
fn progress(turn: u64, outcome: Outcome, answer: Answer) -> Progress {
    let Some(because) = outcome.because() else {
        return Progress::Answered { turn, answer };
    };
    let error = outcome.error().and_then(|error| error.said.as_deref());
    let is_empty = answer.text.trim().is_empty() || error == Some(answer.text.trim());
    let lost = LostTurn {
        turn,
        outcome,
        words: (!is_empty).then_some(answer),
    };
    Progress::Failed {
        because,
        lost: Some(lost),
    }
}

/// How the answer of an agent is read, by what it shows now.
fn manner<'a>(adapter: &'a Adapter, screen: &Screen) -> Manner<'a> {
    let shown = |input: &&InputBox| screen.sight().top_of_box(input).is_some();
    let input = adapter.input_box.as_ref().filter(shown);
    match (input, adapter.text_box()) {
        (_, TextBox::Editor) if !screen.is_alternate() => Manner::Editor,
        (Some(input), _) => Manner::Above(input),
        (None, TextBox::CursorLine) if !screen.is_alternate() => Manner::Lines,
        (None, TextBox::CursorLine | TextBox::Editor | TextBox::Marked(_)) => Manner::Screen,
    }
}
