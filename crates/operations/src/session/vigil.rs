//! Waiting for something to happen to a session: one looks whenever one of its files changes, and stops when it is gone.

use std::time::Duration;

use handoff_files::{Watch, WatchError};
use handoff_session::{Known, catalogue, place};

use super::address::unreadable;
use crate::failure::Failure;
use crate::workplace::Workplace;

/// A waiter is told; this is for a holder that died in the moment of looking.
const LOOK_AGAIN: Duration = Duration::from_secs(1);

/// How waiting ended.
#[derive(Debug)]
pub enum Kept<T> {
    Found(T),
    /// The session lives no longer, and it is not there.
    Over,
    TimedOut,
}

/// Looks until there is something to be found.
pub fn keep<T>(
    known: &Known,
    patience: Option<Duration>,
    here: &Workplace,
    mut look: impl FnMut() -> Result<Option<T>, Failure>,
) -> Result<Kept<T>, Failure> {
    let clock = here.clock()?;
    let now = || clock.now().moment.awake;
    let deadline = patience.map(|patience| now().after(patience));
    let mut watch = watch(known)
        .map_err(|error| Failure::failed("cannot watch the session").because(&error))?;
    loop {
        // Looked at before the files: the last line is there when the holder is gone.
        let lives = catalogue::is_held(&known.directory).map_err(|error| unreadable(&error))?;
        if let Some(found) = look()? {
            return Ok(Kept::Found(found));
        }
        if !lives {
            return Ok(Kept::Over);
        }
        let left = deadline.map_or(LOOK_AGAIN, |deadline| deadline.since(now()).min(LOOK_AGAIN));
        if left.is_zero() {
            return Ok(Kept::TimedOut);
        }
        // Whatever wakes us, we look.
        drop(watch.wait(Some(left)));
    }
}

fn watch(known: &Known) -> Result<Watch, WatchError> {
    Watch::on(&place::journal(&known.directory))?
        .also_on(&place::inbox(&known.directory))?
        .also_on(&place::holder_lock(&known.directory))
}
