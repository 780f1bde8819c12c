//! What is seen before a key is pressed, and what that means for pressing it.

use handoff_agents::Block;
use handoff_core::time::Nanos;

use crate::keyboard::Typist;
use crate::state::State;
use crate::turn::is_at_rest;

/// What is seen of the agent and its terminal now.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Sight {
    pub state: State,
    /// What the newest look says, which may not have held for long enough to be published.
    pub newest: State,
    /// Since when it does that.
    pub since: Nanos,
    /// Whether a turn runs.
    pub turn: Turn,
    pub field: Field,
    /// Whether somebody typed something that may stand there.
    pub typist: Typist,
    /// Whether the text is to be seen where it was typed.
    pub echo: Echo,
    /// How often a line editor has stopped reading.
    pub readings_ended: u64,
    /// How often the agent has said that it works.
    pub works: u64,
    /// Whether keys wait that the terminal has not taken yet.
    pub keys: Keys,
}

/// Whether a turn runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Turn {
    Resting,
    Running,
}

/// What stands in the box.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Field {
    Empty,
    /// Something.
    Filled,
    /// It cannot be read.
    Unread,
}

/// Whether the end of our text stands left of the cursor.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Echo {
    Stands,
    Gone,
}

/// Whether the terminal has taken everything.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Keys {
    Taken,
    Waiting,
}

/// Seen to do something else than to wait. Ignorance is no sign: a text at a prompt may hide the prompt.
pub(super) const fn is_away(state: State) -> bool {
    match state {
        State::Busy | State::Exited => true,
        State::Blocked(_) => is_dialog(state),
        State::Starting | State::Prompt | State::Unknown => false,
    }
}

/// Whether the agent still waits, with our text at its prompt.
pub(super) fn rests_with_text(sight: &Sight) -> bool {
    let rests =
        |state| is_at_rest(state) || (state == State::Unknown && sight.echo == Echo::Stands);
    rests(sight.state) && rests(sight.newest)
}

/// Whether a question is open, be it for a moment only.
pub(super) const fn shows_dialog(sight: &Sight) -> bool {
    is_dialog(sight.state) || is_dialog(sight.newest)
}

/// Whether the mark of the box is out of sight because of what we typed ourselves, which needs more rows than there are.
pub(super) fn is_hidden_by_text(sight: &Sight) -> bool {
    let is_panel = |state| matches!(state, State::Blocked(Block::Panel));
    let is_other = |state| is_dialog(state) && !is_panel(state);
    sight.echo == Echo::Stands && !is_other(sight.state) && !is_other(sight.newest)
}

/// Whether keys would answer a question instead of filling the box.
pub const fn is_dialog(state: State) -> bool {
    match state {
        State::Blocked(block) => !matches!(block, Block::Error),
        State::Starting | State::Prompt | State::Busy | State::Exited | State::Unknown => false,
    }
}
