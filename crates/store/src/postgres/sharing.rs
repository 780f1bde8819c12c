//! One connection for all who work in a process, however many they are.

use std::fmt;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};

use super::Session;

/// A connection that several stores of a process use in turn, one transaction at a time. Clones are the same one.
#[derive(Clone, Default)]
pub struct Connections(Arc<Shared>);

#[derive(Default)]
struct Shared {
    slot: Mutex<Slot>,
    is_free: Condvar,
}

#[derive(Default)]
struct Slot {
    session: Option<Session>,
    is_taken: bool,
    was_made: bool,
}

/// One's turn with the connection. It ends when this is dropped.
pub(super) struct Turn<'a> {
    shared: &'a Shared,
    /// Nothing if there is no connection, or the one there was is not to be used again.
    pub(super) session: Option<Session>,
}

impl fmt::Debug for Connections {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Connections(…)")
    }
}

impl Connections {
    /// Whether there ever was one.
    pub(super) fn were_made(&self) -> bool {
        self.0.lock().was_made
    }

    /// Waits until nobody else uses it.
    pub(super) fn turn(&self) -> Turn<'_> {
        let mut slot = self.0.lock();
        while slot.is_taken {
            slot = { self.0.is_free.wait(slot) }.unwrap_or_else(PoisonError::into_inner);
        }
        slot.is_taken = true;
        Turn {
            shared: &self.0,
            session: slot.session.take(),
        }
    }
}

impl Shared {
    /// Whoever panics with the slot locked has not changed half of it.
    fn lock(&self) -> MutexGuard<'_, Slot> {
        self.slot.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for Turn<'_> {
    fn drop(&mut self) {
        let mut slot = self.shared.lock();
        slot.was_made |= self.session.is_some();
        (slot.session, slot.is_taken) = (self.session.take(), false);
        drop(slot);
        self.shared.is_free.notify_one();
    }
}
