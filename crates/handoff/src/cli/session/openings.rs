//! Windows in the making: each is opened beside its session, which does not wait for it.

use std::sync::{Arc, Mutex, PoisonError};
use std::thread::{self, JoinHandle};

/// What is being opened. Copies are the same.
#[derive(Debug, Clone, Default)]
pub(crate) struct Openings(Arc<Mutex<Vec<JoinHandle<()>>>>);

impl Openings {
    pub(super) fn begin(&self, open: impl FnOnce() + Send + 'static) {
        let mut begun = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        begun.retain(|it| !it.is_finished());
        begun.push(thread::spawn(open));
    }

    /// Waits until each has been opened or given up, so that nobody who ends leaves one half-way. Each has a time of its own.
    pub(crate) fn wait(&self) {
        let begun = std::mem::take(&mut *self.0.lock().unwrap_or_else(PoisonError::into_inner));
        for opening in begun {
            // One that panicked has opened nothing.
            opening.join().ok();
        }
    }
}
