//! How a holder interrupts an agent at work.

use handoff_agents::Block;
use handoff_core::time::Nanos;

use super::Holder;
use crate::control::Interrupted;
use crate::control::message::{Refusal, refusal};
use crate::state::State;

impl Holder<'_> {
    /// Presses the agent's keys for it, but only where they mean that: elsewhere they would leave the agent, or answer a dialog.
    pub(super) fn interrupt(&mut self, now: Nanos) -> Result<Interrupted, Refusal> {
        self.look_closely(now);
        let is_resting = self.post.turns.is_resting();
        may_interrupt(self.judge.published().state, is_resting)?;
        may_interrupt(self.signs.newest(), is_resting)?;
        if self.signs.newest() == State::Blocked(Block::Panel) {
            return Ok(self.leave_panel(now));
        }
        let keys = self.signs.adapter().input.interrupt.clone();
        self.post.press(&keys, now);
        self.post.turns.stopped();
        if self.post.turns.is_of_message() && !self.post.keyboard.has_draft() {
            // Some agents put the message back into the box. That is no draft of a person; what a person said themselves is.
            self.post.delivery.soil();
        }
        Ok(Interrupted {
            turn: self.post.turns.number(),
            seq: self.journal.seq(),
            is_panel: false,
        })
    }
}

impl Holder<'_> {
    /// What is open over the place where one types is closed; the turn, if one runs, goes on.
    fn leave_panel(&mut self, now: Nanos) -> Interrupted {
        let keys = self.signs.adapter().input.close.clone();
        self.post.press(&[keys], now);
        Interrupted {
            turn: self.post.turns.number(),
            seq: self.journal.seq(),
            is_panel: true,
        }
    }
}

fn may_interrupt(state: State, is_resting: bool) -> Result<(), Refusal> {
    match state {
        State::Busy | State::Unknown | State::Blocked(Block::Panel) => Ok(()),
        State::Prompt if !is_resting => Ok(()),
        State::Prompt | State::Starting | State::Exited => {
            Err(refusal(409, "the agent is not at work"))
        }
        State::Blocked(block) => {
            let text = format!("the agent waits for a person ({})", block.word());
            Err(refusal(409, &text))
        }
    }
}
