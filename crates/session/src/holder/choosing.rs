//! How a holder answers a dialog for a person.

use handoff_core::time::Nanos;

use super::Holder;
use crate::choosing::{self, Asked, Move};
use crate::control::message::{Refusal, refusal};
use crate::control::{Asking, Choosing, Reply};
use crate::delivery::is_dialog;
use crate::dialog::Dialog;
use crate::journal::Event;

impl Holder<'_> {
    /// What the agent asks. Refused if it is not seen to ask anything: a list on the screen is no question.
    pub(super) fn asking(&self) -> Result<Asking, Refusal> {
        let state = self.judge.published().state;
        match state.block() {
            // One that is not to be seen at the moment may be half painted.
            Some(kind) if is_dialog(state) => Ok(Asking {
                kind,
                dialog: self.dialog().filter(|_| is_dialog(self.signs.newest())),
            }),
            Some(_) | None => Err(refusal(409, "the agent asks nothing")),
        }
    }

    fn dialog(&self) -> Option<Dialog> {
        let (rows, cursor_line) = (self.screen.rows(), self.screen.cursor_line());
        Dialog::read(&rows, &cursor_line, self.screen.menu())
    }

    /// Begins to choose, if that is what the agent still asks.
    pub(super) fn begin_choice(&mut self, reply: &Reply, now: Nanos) -> Result<Choosing, Refusal> {
        self.look_closely(now);
        let asked = self.asking()?.dialog;
        // Where nothing can be read yet, what was seen is waited for: no key is pressed before it is there again.
        let dialog = asked.unwrap_or_else(|| reply.dialog.clone());
        if !dialog.is_same(&reply.dialog) {
            return Err(refusal(409, "the agent asks something else by now"));
        }
        if reply.choice >= dialog.choices.len() {
            return Err(refusal(400, "there is no such choice"));
        }
        if self.post.choosing.is_some() {
            return Err(refusal(409, "somebody else is answering"));
        }
        self.post.choosing = Some(choosing::Choosing::new(dialog, reply.choice));
        Ok(Choosing {
            seq: self.journal.seq(),
        })
    }

    /// Goes on with the choice that is being made.
    pub(super) fn choose(&mut self, now: Nanos) {
        let Some(mut choosing) = self.post.choosing.take() else {
            return;
        };
        self.look_closely(now);
        let asking = self.asking();
        let asked = match &asking {
            Ok(asking) => asking.dialog.as_ref().map_or(Asked::Unread, Asked::This),
            Err(_) => Asked::Nothing,
        };
        let is_done = match choosing.step(asked, now) {
            Move::Wait => {
                self.post.choosing = Some(choosing);
                return;
            }
            Move::Press(keys) => {
                self.input.extend(keys.into_bytes());
                self.type_pending();
                self.post.choosing = Some(choosing);
                return;
            }
            Move::Done => true,
            Move::Gone | Move::GiveUp => false,
        };
        self.tell_choice(&choosing, is_done);
    }

    /// The agent has ended. Some choices mean just that.
    pub(super) fn end_choice(&mut self) {
        if let Some(choosing) = self.post.choosing.take() {
            self.tell_choice(&choosing, choosing.is_made());
        }
    }

    fn tell_choice(&mut self, choosing: &choosing::Choosing, is_taken: bool) {
        self.tell(Event::Answered {
            choice: choosing.label().to_owned(),
            is_taken,
        });
    }
}
