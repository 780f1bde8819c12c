//! Time as an agent program has it: the real one, waited for by sleeping.

use std::thread;
use std::time::{Duration, Instant};

use handoff_agents::scripted::Period;

/// A moment to give up at, or never.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Deadline(Option<Instant>);

impl Deadline {
    pub(crate) fn after(timeout: Option<Period>) -> Self {
        // A sum too large for the clock is as good as never.
        Self(timeout.and_then(|period| now().checked_add(period.as_duration())))
    }

    /// The time left; none if there is no end to it.
    pub(crate) fn remaining(self) -> Option<Duration> {
        self.0.map(|at| at.saturating_duration_since(now()))
    }

    pub(crate) fn has_passed(self) -> bool {
        self.remaining().is_some_and(|left| left.is_zero())
    }
}

#[expect(
    clippy::disallowed_methods,
    reason = "a program under handoff has no Clock to take"
)]
pub(crate) fn now() -> Instant {
    Instant::now()
}

#[expect(
    clippy::disallowed_methods,
    reason = "an agent that waits really waits; tests wait for its output"
)]
pub(crate) fn sleep(duration: Duration) {
    thread::sleep(duration);
}

pub(crate) fn sleep_until(moment: Instant) {
    sleep(moment.saturating_duration_since(now()));
}

/// Looks again and again until `is_there` says so or `deadline` passes; whether it came.
pub(crate) fn wait_until<E>(
    deadline: Deadline,
    mut is_there: impl FnMut() -> Result<bool, E>,
) -> Result<bool, E> {
    const LOOK_EVERY: Duration = Duration::from_millis(2);
    while !is_there()? {
        if deadline.has_passed() {
            return Ok(false);
        }
        sleep(LOOK_EVERY);
    }
    Ok(true)
}
