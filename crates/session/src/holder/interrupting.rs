//! How a holder interrupts an agent at work.

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
        let keys = self.signs.adapter().input.interrupt.clone();
        self.post.press(&keys, now);
        if !self.post.keyboard.has_draft() {
            // Some agents put the message back into the box. That is no draft of a person.
            self.post.delivery.soil();
        }
        Ok(Interrupted {
            turn: self.post.turns.number(),
            seq: self.journal.seq(),
        })
    }
}

fn may_interrupt(state: State, is_resting: bool) -> Result<(), Refusal> {
    match state {
        State::Busy | State::Unknown => Ok(()),
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
