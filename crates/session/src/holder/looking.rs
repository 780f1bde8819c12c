//! How a holder looks at its agent: its terminal, and what the agent tells besides. What follows is decided in [`crate::signs`].

use handoff_core::time::Nanos;

use super::{Draught, Holder};
use crate::journal::Event;
use crate::native::Native;
use crate::signs::{self, Foreground};
use crate::state::{Source, State};

impl Holder<'_> {
    /// Looks at what the terminal shows. Reading the whole screen costs more than printing on it, so that a program that paints
    /// all the time is read now and then; what is to be published at once is seen at once.
    pub(super) fn look_at_terminal(&mut self, now: Nanos) {
        if !self.glance.is_outdated() {
            return;
        }
        let foreground = self.foreground();
        if self.glance.is_due(now)
            || self.signs.is_exact()
            || self.signs.has_news(&self.screen, foreground)
        {
            self.signs.look(&self.screen, foreground);
            self.glance.taken(now);
        }
    }

    /// Takes the newest look there is, before keys are pressed: a question may have come up since the last one.
    pub(super) fn look_closely(&mut self, now: Nanos) {
        // What cannot be read is told by the next read, which ends the holder.
        self.read_mouthful(Draught::Whole, now).ok();
        if self.glance.is_outdated() {
            let foreground = self.foreground();
            self.signs.look(&self.screen, foreground);
            self.glance.taken(now);
            // What is seen now must not be older than what is published. Only the end must be on record, and that is not seen here.
            self.publish(now).ok();
        }
    }

    fn foreground(&self) -> Foreground {
        let own = self.terminal.identity().pid;
        match self.terminal.foreground() {
            Some(group) if group == own => Foreground::Itself,
            Some(_) => Foreground::Other,
            None => Foreground::Unknown,
        }
    }

    /// Hears what the agent has written down of itself.
    pub(super) fn inform(&mut self, now: Nanos) {
        let Some(native) = &mut self.native else {
            return;
        };
        for report in native.look(now) {
            if native.is_prompt() {
                self.post.reported(report);
            }
            self.signs.informed(report);
        }
        let owed = self.native.as_mut().and_then(Native::take_owed);
        if let Some((turn, usage)) = owed {
            self.tell(Event::Usage { turn, usage });
        }
    }

    /// When a picture of work counts no more, although nothing happens.
    pub(super) fn stands_still_at(&self) -> Option<Nanos> {
        let published = self.judge.published();
        let is_picture = published.state == State::Busy && published.source == Source::Screen;
        let at = self.printed_at?.after(signs::STANDS_STILL);
        (is_picture && at > self.now()).then_some(at)
    }
}
