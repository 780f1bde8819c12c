//! What a holder sees before it types. What follows is decided in [`crate::delivery`].

use handoff_agents::TextBox;

use super::Holder;
use crate::delivery::{Echo, Field, Keys, Sight, Turn};
use crate::keyboard::Typist;
use crate::message::{Message, Urgency};
use crate::state::State;
use crate::turn::is_at_rest;

impl Holder<'_> {
    /// Whether a key may follow. A screen that is painted all the time is not read for a message that waits.
    pub(super) fn may_type(&self, message: &Message) -> bool {
        is_at_rest(self.judge.published().state)
            || self.post.delivery.is_under_way()
            || message.order.urgency == Urgency::Force
    }

    pub(super) fn delivery_sight(&self) -> Sight {
        let post = &self.post;
        Sight {
            state: self.judge.published().state,
            newest: self.signs.newest(),
            since: self.judge.since(),
            turn: if post.turns.is_resting() && post.painting.is_none() {
                Turn::Resting
            } else {
                Turn::Running
            },
            field: self.field(),
            typist: self.typist(),
            echo: echo(&self.screen.cursor_line(), post.tail()),
            readings_ended: self.screen.readings_ended(),
            works: post.works,
            keys: if self.input.is_empty() {
                Keys::Taken
            } else {
                Keys::Waiting
            },
        }
    }

    /// Who has typed something that stands there. A line that somebody sent off is theirs until the editor has taken it: what is
    /// typed before would go to the command in it.
    fn typist(&self) -> Typist {
        if self.post.sent_off == Some(self.screen.readings_ended()) {
            return Typist::Somebody;
        }
        self.post.keyboard.typist()
    }

    /// What stands where one types. To a line editor what it asks besides commands is as good as a draft; once we have typed, our
    /// own text stands there.
    fn field(&self) -> Field {
        match self.signs.adapter().text_box() {
            TextBox::Marked(mark) => self.screen.field(mark),
            TextBox::Editor if self.is_other_prompt() => Field::Filled,
            TextBox::CursorLine | TextBox::Editor => Field::Unread,
        }
    }

    fn is_other_prompt(&self) -> bool {
        let is_ours = self.post.delivery.is_under_way();
        let line = self.screen.cursor_line();
        !is_ours
            && self.judge.published().state == State::Prompt
            && self.post.prompt_line.is_other(&line)
    }

    /// Remembers how the first prompt for a command looks.
    pub(super) fn learn_prompt(&mut self) {
        let is_editor = self.signs.adapter().text_box() == TextBox::Editor;
        if !is_editor || self.post.prompt_line.is_learnt() {
            return;
        }
        let is_empty = self.typist() == Typist::Nobody && self.post.typed.is_none();
        if is_empty && self.judge.published().state == State::Prompt {
            let line = self.screen.cursor_line();
            self.post.prompt_line.learn(&line);
        }
    }
}

/// Whether the end of a text stands left of the cursor, perhaps broken at the edge of the terminal.
fn echo(line: &str, tail: &str) -> Echo {
    let line = line.trim_end();
    let is_whole = line.ends_with(tail);
    let is_broken = !line.is_empty() && line.len() < tail.len() && tail.ends_with(line);
    if !tail.is_empty() && (is_whole || is_broken) {
        Echo::Stands
    } else {
        Echo::Gone
    }
}
