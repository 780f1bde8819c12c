//! What keeps a message from being typed.

use std::time::Duration;

use handoff_agents::{Adapter, TextBox};
use handoff_core::time::Nanos;

use super::sight::shows_dialog;
use super::{Act, Field, Settled, Sight, Turn};
use crate::keyboard::Typist;
use crate::message::{Because, Urgency};
use crate::state::State;
use crate::turn::is_at_rest;

/// How long a program may rest without showing its box.
const BOX_TAKES: Duration = Duration::from_secs(3);

/// A program with a box that shows none may still be starting, whatever it says of itself. Until when that is believed: it may
/// also have a box that we do not know.
pub(super) fn box_due(sight: &Sight, adapter: &Adapter) -> Option<Nanos> {
    let is_missing = sight.field == Field::Unread && is_at_rest(sight.state);
    match adapter.text_box() {
        TextBox::Marked(_) if is_missing => Some(sight.since.after(BOX_TAKES)),
        TextBox::Marked(_) | TextBox::CursorLine | TextBox::Editor => None,
    }
}

/// What keeps a message from being typed.
pub(super) fn obstacle(urgency: Urgency, sight: &Sight) -> Option<Act> {
    // What was published counts, unless it permits what the newest look does not.
    let state = if is_at_rest(sight.state) {
        sight.newest
    } else {
        sight.state
    };
    let because = match state {
        State::Exited => return Some(Act::Settle(Settled::Failed(Because::Ended))),
        state if is_at_rest(state) && sight.turn == Turn::Resting => return None,
        state if is_at_rest(state) => Because::Turn,
        State::Prompt => Because::Turn,
        State::Starting => Because::Starting,
        State::Busy => Because::Busy,
        State::Blocked(_) => Because::Blocked,
        State::Unknown if sight.typist == Typist::Somebody => Because::Draft,
        State::Unknown => Because::Unknown,
    };
    match urgency {
        Urgency::Wait => Some(Act::Wait(because)),
        Urgency::Force if shows_dialog(sight) => {
            Some(Act::Settle(Settled::Failed(Because::Dialog)))
        }
        Urgency::Force => None,
    }
}
