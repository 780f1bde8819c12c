//! What shows that a message was taken: how it is, against how it was before it was typed.

use handoff_agents::{Adapter, TextBox};

use super::sight::is_away;
use super::{Echo, Field, Sight};
use crate::keyboard::Typist;
use crate::message::Evidence;
use crate::turn::is_at_rest;

/// How it was before we typed, and whether our text was seen since.
#[derive(Debug, Clone, Copy)]
pub(super) struct Before {
    was_at_rest: bool,
    typist: Typist,
    readings_ended: u64,
    works: u64,
    has_stood: bool,
}

impl Before {
    pub(super) fn of(sight: &Sight) -> Self {
        Self {
            was_at_rest: is_at_rest(sight.state),
            typist: sight.typist,
            readings_ended: sight.readings_ended,
            works: sight.works,
            has_stood: false,
        }
    }

    pub(super) fn look(&mut self, sight: &Sight) {
        self.has_stood |= sight.echo == Echo::Stands || sight.field == Field::Filled;
    }

    /// Whether somebody typed after us: the text is theirs by now.
    pub(super) fn is_shared(&self, sight: &Sight) -> bool {
        sight.typist > self.typist
    }
}

/// What shows that Enter was taken. That a text is gone tells only if it was there; and a line editor tells better itself.
pub(super) fn evidence(before: Before, sight: &Sight, adapter: &Adapter) -> Option<Evidence> {
    let has_stopped = sight.readings_ended > before.readings_ended;
    if has_stopped && adapter.text_box() == TextBox::Editor {
        return Some(Evidence::Editor);
    }
    // What still stands in the box was not taken, whatever the program says: some say that they work while they start.
    let has_begun = sight.works > before.works || is_away(sight.state);
    if before.was_at_rest && has_begun && sight.field != Field::Filled {
        return Some(Evidence::State);
    }
    match (adapter.text_box(), sight.field, sight.echo) {
        (TextBox::Marked(_), Field::Empty, _) if before.has_stood => Some(Evidence::Box),
        (TextBox::CursorLine, _, Echo::Gone) if before.has_stood => Some(Evidence::Line),
        (TextBox::Marked(_) | TextBox::CursorLine | TextBox::Editor, _, _) => None,
    }
}
