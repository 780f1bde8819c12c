//! Delivering a message: what to press next, decided from what is seen.
//!
//! | seen | done |
//! |---|---|
//! | the agent does not wait for a message | nothing; with force it is typed all the same, but never into a dialog |
//! | a text in the box that is not ours | nothing: it is somebody's |
//! | no box yet, though the program has one | nothing for a while: what comes too early is swallowed |
//! | our own leftovers in the box | the box is emptied, row by row where its key takes one; also while no message waits |
//! | interrupted, and nothing in the box | nothing for a while: the message may come back |
//! | the agent waits and the box is empty | the text is pasted |
//! | pasted, and somebody types into it | nothing more: it is theirs |
//! | pasted, and the program's pause is over | Enter |
//! | a sign that it was taken | submitted |
//! | no sign, and the text still stands in the box | Enter once more; then the box is emptied and the message has failed |
//! | no sign, and nothing to be seen of the text | it stays written: nobody knows |
//!
//! Before every key the state is looked at again, also what has not held long enough to be published: in a dialog Enter would mean
//! yes. Holding may delay a permission, never a prohibition.

mod evidence;
mod obstacle;
mod sight;

use std::time::Duration;

use handoff_agents::Adapter;
use handoff_core::time::Nanos;

use crate::keyboard::Typist;
use crate::message::{Because, Evidence, Finish, Urgency};

use evidence::{Before, evidence};
use obstacle::{box_due, obstacle};
pub use sight::{Echo, Field, Keys, Sight, Turn, is_dialog};
use sight::{is_hidden_by_text, rests_with_text, shows_dialog};

/// How long a sign is waited for before Enter is pressed again.
const SIGN_TAKES: Duration = Duration::from_secs(2);
/// How long after that.
const LAST_SIGN_TAKES: Duration = Duration::from_secs(3);
/// How long a pasted text may take to show in a box that can be read.
const ECHO_TAKES: Duration = Duration::from_secs(1);
/// How long after it waits again an agent may put an interrupted message back into its box. What is pasted before that is glued to it.
const RETURN_TAKES: Duration = Duration::from_millis(750);
/// What emptying the box takes to be seen.
const CLEARING_TAKES: Duration = Duration::from_millis(100);

/// How often the box is emptied, at most: a text may have many rows.
const MOST_CLEARINGS: u8 = 20;

/// What is to be done now.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Act {
    /// Nothing, and the message waits for this.
    Wait(Because),
    /// Nothing, because something is under way.
    Linger,
    Clear,
    Paste,
    Enter,
    Settle(Settled),
}

/// What became of a message.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Settled {
    Submitted(Evidence),
    /// Typed, and nothing more is known.
    Written(Because),
    Failed(Because),
}

/// How far the first message of the queue is.
#[derive(Debug, Clone, Default)]
pub struct Delivery {
    step: Step,
    /// The box may hold something of ours.
    is_soiled: bool,
    look_again: Option<Nanos>,
}

#[derive(Debug, Clone, Default)]
enum Step {
    #[default]
    Waiting,
    Clearing {
        until: Nanos,
        tries: u8,
    },
    Pasted {
        at: Nanos,
        before: Before,
    },
    Entered {
        at: Nanos,
        before: Before,
        tries: u8,
    },
}

impl Delivery {
    /// The box may hold something of ours, to be removed before the next message.
    pub const fn soil(&mut self) {
        self.is_soiled = true;
    }

    pub const fn is_soiled(&self) -> bool {
        self.is_soiled
    }

    /// Whether the first message is being typed.
    pub const fn is_under_way(&self) -> bool {
        matches!(self.step, Step::Pasted { .. } | Step::Entered { .. })
    }

    /// What to do while no message waits: what we left in the box is not left for others to find.
    pub fn tidy(&mut self, sight: &Sight, adapter: &Adapter, now: Nanos) -> Act {
        self.look_again = None;
        let may_press = obstacle(Urgency::Wait, sight).is_none()
            && sight.field == Field::Filled
            && sight.typist == Typist::Nobody
            && sight.keys == Keys::Taken
            && !adapter.input.clear.is_empty();
        match std::mem::take(&mut self.step) {
            Step::Clearing { until, tries } if now < until => {
                self.linger(Step::Clearing { until, tries }, until)
            }
            Step::Clearing { tries, .. } if may_press && is_left(tries, sight) => {
                self.clear(tries + 1, now)
            }
            Step::Clearing { .. } => {
                self.is_soiled = false;
                Act::Linger
            }
            Step::Waiting | Step::Pasted { .. } | Step::Entered { .. }
                if may_press && self.is_soiled && !self.may_return(sight, now) =>
            {
                self.clear(1, now)
            }
            Step::Waiting | Step::Pasted { .. } | Step::Entered { .. } => Act::Linger,
        }
    }

    /// When to look again although nothing happens.
    pub const fn look_again(&self) -> Option<Nanos> {
        self.look_again
    }

    /// What to do for a message now.
    pub fn step(
        &mut self,
        (finish, urgency): (Finish, Urgency),
        sight: &Sight,
        adapter: &Adapter,
        now: Nanos,
    ) -> Act {
        self.look_again = None;
        match std::mem::take(&mut self.step) {
            Step::Waiting => self.begin(urgency, sight, adapter, now),
            Step::Clearing { until, tries } if now < until => {
                self.linger(Step::Clearing { until, tries }, until)
            }
            Step::Clearing { tries, .. } if is_left(tries, sight) => self.clear(tries + 1, now),
            Step::Clearing { .. } => self.after_clearing(urgency, sight, adapter, now),
            Step::Pasted { at, mut before } => {
                before.look(sight);
                self.pasted((at, before), finish, sight, adapter, now)
            }
            Step::Entered {
                at,
                mut before,
                tries,
            } => {
                before.look(sight);
                self.entered((at, tries), before, sight, adapter, now)
            }
        }
    }

    fn linger(&mut self, step: Step, until: Nanos) -> Act {
        self.step = step;
        self.look_again = Some(until);
        Act::Linger
    }

    fn begin(&mut self, urgency: Urgency, sight: &Sight, adapter: &Adapter, now: Nanos) -> Act {
        if let Some(act) = obstacle(urgency, sight) {
            return act;
        }
        if let Some(until) = box_due(sight, adapter).filter(|until| now < *until) {
            self.look_again = Some(until);
            return Act::Wait(Because::Starting);
        }
        match (sight.field, sight.typist) {
            (_, Typist::Somebody) | (Field::Filled | Field::Unread, Typist::Perhaps) => {
                Act::Wait(Because::Draft)
            }
            (Field::Empty, Typist::Nobody | Typist::Perhaps) if self.may_return(sight, now) => {
                self.look_again = Some(sight.since.after(RETURN_TAKES));
                Act::Wait(Because::Turn)
            }
            // Keys that left nothing in a box that can be read have fetched nothing.
            (Field::Empty, Typist::Nobody | Typist::Perhaps) => self.paste(sight, adapter, now),
            (Field::Filled | Field::Unread, Typist::Nobody)
                if self.is_soiled && !adapter.input.clear.is_empty() =>
            {
                self.clear(1, now)
            }
            (Field::Filled, Typist::Nobody) => Act::Wait(Because::Draft),
            (Field::Unread, Typist::Nobody) => self.paste(sight, adapter, now),
        }
    }

    fn may_return(&self, sight: &Sight, now: Nanos) -> bool {
        self.is_soiled && now < sight.since.after(RETURN_TAKES)
    }

    fn clear(&mut self, tries: u8, now: Nanos) -> Act {
        let until = now.after(CLEARING_TAKES);
        self.step = Step::Clearing { until, tries };
        self.look_again = Some(until);
        Act::Clear
    }

    /// What stands in the box after it was emptied is not what we left there.
    fn after_clearing(
        &mut self,
        urgency: Urgency,
        sight: &Sight,
        adapter: &Adapter,
        now: Nanos,
    ) -> Act {
        self.is_soiled = false;
        self.begin(urgency, sight, adapter, now)
    }

    fn paste(&mut self, sight: &Sight, adapter: &Adapter, now: Nanos) -> Act {
        self.is_soiled = true;
        self.look_again = Some(now.after(adapter.input.pause));
        self.step = Step::Pasted {
            at: now,
            before: Before::of(sight),
        };
        Act::Paste
    }

    fn pasted(
        &mut self,
        (at, before): (Nanos, Before),
        finish: Finish,
        sight: &Sight,
        adapter: &Adapter,
        now: Nanos,
    ) -> Act {
        let due = at.after(adapter.input.pause);
        let shows_late = sight.field == Field::Empty && now < at.after(ECHO_TAKES);
        if sight.keys == Keys::Waiting {
            // The pause begins when all of it is typed, and of that we are told.
            self.step = Step::Pasted { at: now, before };
            return Act::Linger;
        }
        if now < due {
            return self.linger(Step::Pasted { at, before }, due);
        }
        if finish == Finish::Leave {
            self.is_soiled = false;
            return Act::Settle(Settled::Written(Because::Left));
        }
        if shows_dialog(sight) && !is_hidden_by_text(sight) {
            return Act::Settle(Settled::Failed(Because::Dialog));
        }
        if before.is_shared(sight) {
            return self.hand_over();
        }
        if shows_late {
            return self.linger(Step::Pasted { at, before }, at.after(ECHO_TAKES));
        }
        self.enter(before, 1, now)
    }

    /// Somebody goes on with the text: they send it off, or remove it.
    const fn hand_over(&mut self) -> Act {
        self.is_soiled = false;
        Act::Settle(Settled::Written(Because::Draft))
    }

    fn enter(&mut self, before: Before, tries: u8, now: Nanos) -> Act {
        self.look_again = Some(now.after(SIGN_TAKES));
        self.step = Step::Entered {
            at: now,
            before,
            tries,
        };
        Act::Enter
    }

    fn entered(
        &mut self,
        (at, tries): (Nanos, u8),
        before: Before,
        sight: &Sight,
        adapter: &Adapter,
        now: Nanos,
    ) -> Act {
        if let Some(evidence) = evidence(before, sight, adapter) {
            self.is_soiled = false;
            return Act::Settle(Settled::Submitted(evidence));
        }
        let until = at.after(if tries == 1 {
            SIGN_TAKES
        } else {
            LAST_SIGN_TAKES
        });
        let step = Step::Entered { at, before, tries };
        if sight.keys == Keys::Waiting {
            self.step = step;
            return Act::Linger;
        }
        if now < until {
            return self.linger(step, until);
        }
        if before.is_shared(sight) {
            return self.hand_over();
        }
        let stands = sight.field == Field::Filled || sight.echo == Echo::Stands;
        match (stands, rests_with_text(sight)) {
            (true, true) if tries == 1 => self.enter(before, 2, now),
            (true, true) if !adapter.input.clear.is_empty() => {
                Act::Settle(Settled::Failed(Because::NotTaken))
            }
            (true | false, _) => Act::Settle(Settled::Written(Because::Unseen)),
        }
    }
}

/// Whether what we left is still there: some keys take a row at a time.
fn is_left(tries: u8, sight: &Sight) -> bool {
    tries < MOST_CLEARINGS && sight.field == Field::Filled && sight.typist == Typist::Nobody
}

#[cfg(test)]
mod tests;
