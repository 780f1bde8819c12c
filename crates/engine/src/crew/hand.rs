//! A hand: one task taken down the road in a thread of its own, and what the crew hears of it.

use std::convert::Infallible;
use std::sync::Arc;
use std::sync::mpsc::{Sender, channel};
use std::thread;
use std::time::Duration;

use handoff_core::{SessionId, TaskName};

use super::{Crew, Site};
use crate::road::{Milestone, Walk, Walked};

/// How long one whose agent is gone lets others go first whose agents are about to begin.
const COURTESY: Duration = Duration::from_millis(500);

/// What the crew hears.
pub(super) enum Knock<E> {
    /// The ledger may have changed.
    Ledger,
    /// Another worker came or died.
    Worker,
    /// The agent of a session has begun.
    Launched(SessionId),
    /// The agent of a session is gone; there is room for another. Its hand waits until this is dropped.
    Vacated(SessionId, Sender<Infallible>),
    /// The outcome of its task is recorded; there is room for another.
    Arrived(SessionId, Walked),
    /// Trees were made ahead, or could not be.
    Stocked,
    /// A hand is done with its task, and has tidied up after it.
    Hand(SessionId, TaskName, Result<(), E>),
}

impl<S: Site> Crew<S> {
    pub(super) fn start(&mut self, walk: Walk) {
        let (id, name) = (walk.session(), walk.task().spec.name.clone());
        let (site, bell) = (Arc::clone(&self.site), self.bell.clone());
        let presence = self.presence.clone();
        self.hands += 1;
        thread::spawn(move || {
            let _signed_in = presence;
            // Nobody at the door: the crew has gone home.
            let done = site.walk(walk, &mut |milestone| match milestone {
                Milestone::Launched => drop(bell.send(Knock::Launched(id))),
                Milestone::Vacated => give_way(id, &bell),
                Milestone::Arrived(walked) => {
                    bell.send(Knock::Arrived(id, walked)).ok();
                    // What is tidied up from here on is nobody's hurry; the agent that begins meanwhile is.
                    handoff_process::step_back();
                }
            });
            bell.send(Knock::Hand(id, name, done)).ok();
        });
    }
}

/// Makes room for another, and lets it go first: its agent has work to do, and whoever waits for this task waits for its outcome
/// anyway.
fn give_way<E>(id: SessionId, bell: &Sender<Knock<E>>) {
    let (waits, signal) = channel();
    if bell.send(Knock::Vacated(id, waits)).is_ok() {
        // Nothing is ever sent: it ends when nobody is left to wait for.
        signal.recv_timeout(COURTESY).ok();
    }
}
